"""Judge prompts as assets: load, hash, render in a sandbox."""

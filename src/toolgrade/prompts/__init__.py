"""Judge prompts as assets: load, hash, render in a sandbox."""

from toolgrade.prompts.prompt import Prompt, available, load
from toolgrade.prompts.rubric import Clause, Example, Input, Rubric

__all__ = ["Clause", "Example", "Input", "Prompt", "Rubric", "available", "load"]

"""What people read of a run: console, HTML, JUnit, Markdown."""

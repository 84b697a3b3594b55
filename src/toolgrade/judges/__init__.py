"""From a question and a prompt to a verdict with verified evidence."""

"""`python -m toolgrade`."""

from toolgrade.cli import main

main()

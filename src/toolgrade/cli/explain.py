"""`toolgrade explain`: what a finding means and what to edit."""

from __future__ import annotations

import click

from toolgrade.core.finding import ADVICE, CHECKS
from toolgrade.errors import ConfigError, suggestion


@click.command()
@click.argument("finding", required=False)
def explain(finding: str | None) -> None:
    """Say what FINDING means and what to edit; without FINDING, list them all by check.

    \b
    Example:
      toolgrade explain hallucinated_parameter
    """
    if finding is None:
        for check in CHECKS:
            click.echo(check)
            for name, advice in ADVICE.items():
                if advice.check == check:
                    click.echo(f"  {name:<24} {advice.meaning}")
        return
    found = {str(name): advice for name, advice in ADVICE.items()}.get(finding)
    if found is None:
        raise ConfigError(f"no finding {finding!r}.{suggestion(finding, ADVICE)} `toolgrade explain` lists them all.")
    click.echo(f"{finding} (check: {found.check})\n  {found.meaning}\n  What to edit: {found.edit}")

"""`toolgrade labels`: what people say of items, append-only."""

from __future__ import annotations

import json
from pathlib import Path

import click
import numpy as np
from rich.table import Table

from toolgrade.calibration.label import Label, LabelWord, Role, by_item, in_force
from toolgrade.calibration.label_set import LabelSet, append_items, append_labels
from toolgrade.calibration.mend import mend
from toolgrade.calibration.queue import queue
from toolgrade.calibration.recorded import read_verdicts
from toolgrade.calibration.status import Plan, SetStatus, plan, set_status
from toolgrade.calibration.store import Store
from toolgrade.calibration.transfer import Mapped, read_drafts, read_labels
from toolgrade.cli.calibrate import now, pairs_of
from toolgrade.cli.options import terminal
from toolgrade.core.identity import canonical_json, content_hash
from toolgrade.errors import ConfigError, suggestion

_set = click.option("--set", "set_", required=True, metavar="SET", help="Label set.")
_folder = click.option(
    "--folder", type=click.Path(path_type=Path), help="Calibration folder.  [default: ./calibration]"
)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, on stdout.")
_role = click.option(
    "--role",
    type=click.Choice(["expert", "skilled", "crowd", "adjudicator", "derived"]),
    default="expert",
    show_default=True,
    help="Who labels; derived marks labels that a rule made.",
)


@click.group()
def labels() -> None:
    """Add, import, export and resolve human labels.

    A label set is a folder calibration/DIMENSION/SET with a card.toml; docs/calibration.md shows one.

    \b
    Examples:
      toolgrade labels import result_utilization --set mine items.jsonl --items
      toolgrade labels export result_utilization --set mine --out to-label.jsonl
      toolgrade labels import result_utilization --set mine labelled.csv --annotator ana --map good=pass --map bad=fail
      toolgrade labels status result_utilization --set mine
    """


@labels.command()
@click.argument("dimension")
@_set
@click.option("--item", required=True, metavar="ID", help="Item that is labelled.")
@click.option("--label", "word", type=click.Choice(["pass", "fail", "unknown", "na"]), help="What the item is.")
@click.option("--level", help="Where it lies on the card's levels, instead of pass or fail.")
@click.option("--annotator", required=True, metavar="NAME", help="Who labels.")
@_role
@click.option("--critique", default="", help="Why; required for fail and unknown.")
@click.option("--quote", "quotes", multiple=True, help="Words of the item that show it (repeatable).")
@click.option("--supersedes", metavar="LABEL", help="Label that this one corrects.")
@click.option("--repeat-of", metavar="LABEL", help="Own label that this one repeats blindly.")
@click.option("--saw-judge", is_flag=True, help="The judge's verdict was visible: kept out of agreement.")
@_folder
def add(
    dimension: str,
    set_: str,
    item: str,
    word: LabelWord | None,
    level: str | None,
    annotator: str,
    role: Role,
    critique: str,
    quotes: tuple[str, ...],
    supersedes: str | None,
    repeat_of: str | None,
    saw_judge: bool,
    folder: Path | None,
) -> None:
    """Add one label to a set.

    \b
    Example:
      toolgrade labels add result_utilization --set mine --item t17 --label fail \\
        --annotator ana --critique "the refund is 45, not 54"
    """
    store = Store.standard(folder)
    place, known = store.own_folder(dimension, set_), store.label_set(dimension, set_)
    if item not in known.items:
        raise ConfigError(
            f"{place}: no item {item!r}.{suggestion(item, known.items)} Add it with labels import --items"
        )
    if word is None:
        word = _word_of(known, level)
    stamp = now().isoformat(timespec="seconds")
    made = Label(
        label_id=content_hash([item, annotator, word, stamp, supersedes, repeat_of])[7:23],
        item_id=item,
        content_hash=known.items[item].content_hash,
        dimension=dimension,
        rubric_version=known.card.rubric_version,
        annotator_id=annotator,
        annotator_role=role,
        label=word,
        level=level,
        critique=critique,
        evidence_quotes=quotes,
        saw_judge_verdict=saw_judge,
        supersedes=supersedes,
        blind_repeat_of=repeat_of,
        ts=stamp,
    )
    append_labels(place, known.add_labels([made]))
    click.echo(f"{set_}: label {made.label_id} of {item}, now {known.resolved[item].label or 'unresolved'}")


def _word_of(known: LabelSet, level: str | None) -> LabelWord:
    if level is None:
        raise ConfigError("expected --label pass|fail|unknown|na, or --level where the card declares levels")
    if known.card.scale is None:
        raise ConfigError(f"{known.place}: --level {level}: the card declares no levels; expected --label")
    return known.card.scale.word(level, "--level")


@labels.command(name="import")
@click.argument("dimension")
@click.argument("file", type=click.Path(path_type=Path))
@_set
@click.option("--items", "are_items", is_flag=True, help="FILE holds items, not labels.")
@click.option("--column", "columns", multiple=True, metavar="FIELD=COLUMN", help="Where a field lies (repeatable).")
@click.option("--map", "words", multiple=True, metavar="WORD=LABEL", help="What a word means (repeatable).")
@click.option("--constant", "constants", multiple=True, metavar="FIELD=VALUE", help="The same for every row.")
@click.option("--annotator", metavar="NAME", help="Who labelled, where no column says.")
@_role
@_folder
def import_(
    dimension: str,
    file: Path,
    set_: str,
    are_items: bool,
    columns: tuple[str, ...],
    words: tuple[str, ...],
    constants: tuple[str, ...],
    annotator: str | None,
    role: Role,
    folder: Path | None,
) -> None:
    """Import items, or labels from CSV or JSONL with a column map; all of FILE or, at an error, nothing.

    \b
    Example:
      toolgrade labels import result_utilization labelled.csv --set mine \\
        --column item_id=id --column label=verdict --map ok=pass --map wrong=fail --annotator ana
    """
    store = Store.standard(folder)
    place, known = store.own_folder(dimension, set_), store.label_set(dimension, set_)
    fixed = pairs_of(constants, "--constant")
    if are_items:
        drafts = read_drafts(file, {"sampling_design": known.card.sampling_design, **fixed})
        made = known.add_items(drafts)
        append_items(place, made)
        splits = {split: sum(item.split == split for item in made) for split in ("fewshot", "dev", "test")}
        there = f" ({len(drafts) - len(made)} were there already)" if len(made) < len(drafts) else ""
        told = ", ".join(f"{count} {split}" for split, count in splits.items())
        click.echo(f"{set_}: {len(made)} items, {told}{there}")
        return
    who = {"annotator_role": role, **({"annotator_id": annotator} if annotator else {}), **fixed}
    mapped = Mapped(columns=pairs_of(columns, "--column"), words=pairs_of(words, "--map"), constants=who)
    found = read_labels(file, known, mapped, now().isoformat(timespec="seconds"))
    append_labels(place, known.add_labels(found))
    status = set_status(known)
    click.echo(f"{set_}: {len(found)} labels; {status.unresolved} items unresolved, {status.unlabelled} unlabelled")


@labels.command()
@click.argument("dimension")
@_set
@click.option("--out", type=click.Path(path_type=Path), help="JSONL to write.  [default: stdout]")
@click.option("--most", type=click.IntRange(1), help="At most this many, the most urgent first.")
@click.option("--verdicts", type=click.Path(path_type=Path), help="Verdicts that set the order; they are not shown.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random share and order.")
@_folder
def export(
    dimension: str,
    set_: str,
    out: Path | None,
    most: int | None,
    verdicts: Path | None,
    seed: int,
    folder: Path | None,
) -> None:
    """Write the items that need a label, the most urgent first, each with its chance of being picked.

    First what people disagree on, then where a judge's repeats flip, then where it answered unknown, then what it was
    too unsure of, then a random 5 % of the rest. The verdicts themselves are left out: who sees them agrees with them.

    \b
    Example:
      toolgrade labels export result_utilization --set mine --verdicts runs/x.jsonl --most 50 --out to-label.jsonl
    """
    known = Store.standard(folder).label_set(dimension, set_)
    said = read_verdicts(verdicts) if verdicts else []
    rows = queue(known, said, np.random.default_rng(seed))[:most]
    text = "".join(canonical_json(row.model_dump(mode="json")) + "\n" for row in rows)
    if out is None:
        click.echo(text, nl=False)
        return
    out.write_text(text, encoding="utf-8")
    click.echo(f"{out}: {len(rows)} items to label", err=True)


@labels.command()
@click.argument("dimension")
@_set
@_folder
@_json
def resolve(dimension: str, set_: str, folder: Path | None, as_json: bool) -> None:
    """Print the items on which people did not settle, with every label and its critique, for an adjudicator.

    \b
    Example:
      toolgrade labels resolve result_utilization --set mine
    """
    known = Store.standard(folder).label_set(dimension, set_)
    groups = by_item(in_force(known.labels, known.card.rubric_version))
    open_ = {item: groups[item] for item, one in known.resolved.items() if one.label is None and item in groups}
    if as_json:
        told = {item: [label.model_dump(mode="json") for label in given] for item, given in open_.items()}
        click.echo(json.dumps(told, ensure_ascii=False))
        return
    for item, given in open_.items():
        click.echo(item)
        for label in given:
            click.echo(f"  {label.annotator_id} ({label.annotator_role}): {label.label}  {label.critique}")
    settled = sum(one.label is not None for one in known.resolved.values())
    click.echo(f"{settled} items resolved, {len(open_)} not: settle them with labels add --role adjudicator")


@labels.command()
@click.argument("dimension")
@click.option("--set", "set_", metavar="SET", help="Only this label set.")
@click.option(
    "--fail-recall", type=click.FloatRange(0, 1), default=0.9, show_default=True, help="Assumed of the judge."
)
@click.option(
    "--pass-recall", type=click.FloatRange(0, 1), default=0.95, show_default=True, help="Assumed of the judge."
)
@_folder
@_json
def status(
    dimension: str, set_: str | None, fail_recall: float, pass_recall: float, folder: Path | None, as_json: bool
) -> None:
    """Say how far the label sets are, and how many test labels a judge needs to be trusted.

    \b
    Example:
      toolgrade labels status result_utilization --fail-recall 0.85
    """
    store = Store.standard(folder)
    found = [set_status(store.label_set(dimension, name)) for name in ([set_] if set_ else store.sets(dimension))]
    if not found:
        raise ConfigError(f"no label set for {dimension!r}; docs/calibration.md shows how to make one")
    rng = np.random.default_rng(0)
    plans = [plan(pass_recall, fail_recall, _fail_share(one), rng) for one in found]
    if as_json:
        told = [
            {**one.model_dump(mode="json"), "plan": {**need.model_dump(mode="json"), "labels": need.labels}}
            for one, need in zip(found, plans, strict=True)
        ]
        click.echo(json.dumps(told, ensure_ascii=False))
        return
    for one, need in zip(found, plans, strict=True):
        _print_status(one, need)


def _fail_share(one: SetStatus) -> float:
    fails, passes = one.test.get("fail", 0), one.test.get("pass", 0)
    return fails / (fails + passes) if fails and passes else 0.5


def _print_status(one: SetStatus, need: Plan) -> None:
    console = terminal()
    console.print(f"{one.dimension} {one.name}", markup=False, style="bold")
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_row("items", f"{one.items} ({', '.join(f'{count} {split}' for split, count in one.splits.items())})")
    table.add_row("labels", f"{one.labels} by {one.annotators} annotators, {one.blind_repeats} blind repeats")
    table.add_row("open", f"{one.unresolved} unresolved, {one.unlabelled} unlabelled")
    table.add_row("test split", ", ".join(f"{count} {word}" for word, count in one.test.items()) or "empty")
    table.add_row("missing for trusted", str(one.need) or "nothing")
    for reason in one.bars:
        table.add_row(
            "at most advisory", f"{reason}: {mend(reason, None, one.dimension, np.random.default_rng(0)).meaning}"
        )
    if need.labels is None:
        outlook = "no number of labels makes a judge of these recalls trusted"
    else:
        outlook = f"about {need.labels} test labels"
    table.add_row(
        "planned",
        f"{outlook} (FAIL recall {need.fail_recall}, PASS recall {need.pass_recall}, "
        f"FAIL share {need.fail_share:.2f}, independent items, 80 % power)",
    )
    console.print(table)

"""Where label sets and histories lie: the project's `calibration/` folder first, then what ships with toolgrade."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from toolgrade.assets import root as shipped_root
from toolgrade.calibration.anchors import AnchorCheck
from toolgrade.calibration.chain import append_link, next_link, read_chain
from toolgrade.calibration.jsonl import append_jsonl, read_jsonl
from toolgrade.calibration.label_set import CARD, LABELS, LabelSet
from toolgrade.calibration.recorded import ItemVerdict, verdicts_hash
from toolgrade.calibration.run import CalibrationRun
from toolgrade.errors import BrokenHistory, ConfigError, UnreadableError, suggestion
from toolgrade.locking import held

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

MakeRun = Callable[[Sequence[CalibrationRun]], CalibrationRun]
"""Makes the record of a run from the runs before it."""

FOLDER = "calibration"
HISTORY = "history.jsonl"
RUNS = "runs"
ANCHORS = "anchors.jsonl"
VERDICTS = "verdicts"


class Store:
    """Finds label sets and histories by dimension, and appends to those of the project.

    `folder` is the project's own; sets that are not there are looked up among the shipped ones.
    """

    def __init__(self, folder: Path, shipped: Traversable | Path | None = None) -> None:
        self.folder = folder
        self._shipped = shipped

    @classmethod
    def standard(cls, folder: Path | None = None) -> Store:
        """Return the store of `folder`, by default `calibration/` here, with the shipped sets behind it."""
        try:
            shipped: Traversable | None = shipped_root("calibration")
        except UnreadableError:
            shipped = None
        return cls(folder or Path(FOLDER), shipped)

    @property
    def _places(self) -> list[Traversable | Path]:
        return [self.folder, *([self._shipped] if self._shipped is not None else [])]

    def dimensions(self) -> list[str]:
        """Return the dimensions that have a set or a history."""
        found = {entry.name for place in self._places if place.is_dir() for entry in place.iterdir() if entry.is_dir()}
        return sorted(name for name in found if self.sets(name) or self.history_path(name).is_file())

    def sets(self, dimension: str) -> list[str]:
        """Return the names of a dimension's label sets."""
        folders = [place / dimension for place in self._places]
        entries = {entry.name: entry for folder in folders if folder.is_dir() for entry in folder.iterdir()}
        return sorted(name for name, entry in entries.items() if (entry / CARD).is_file())

    def has_labels(self, dimension: str) -> bool:
        """Return whether any label set of a dimension holds a label."""
        paths = [self.set_folder(dimension, name) / LABELS for name in self.sets(dimension)]
        return any(path.is_file() and path.read_bytes().strip() for path in paths)

    def recorded(self, dimension: str, name: str) -> dict[str, Traversable | Path]:
        """Return the files of recorded verdicts that come with a label set, by the name of the judge."""
        folder = self.set_folder(dimension, name) / VERDICTS
        files = folder.iterdir() if folder.is_dir() else ()
        return {file.name.removesuffix(".jsonl"): file for file in files if file.name.endswith(".jsonl")}

    def own_sets(self, dimension: str) -> list[str]:
        """Return the names of the label sets in the project's own folder."""
        folder = self.folder / dimension
        return sorted(path.parent.name for path in folder.glob(f"*/{CARD}"))

    def set_folder(self, dimension: str, name: str) -> Traversable | Path:
        """Return the folder of a label set, the project's before the shipped one.

        Raises:
            ConfigError: there is none of that name.
        """
        for place in self._places:
            if (place / dimension / name / CARD).is_file():
                return place / dimension / name
        known, every = self.sets(dimension), self.dimensions()
        if not known:
            told = f"there are {', '.join(every)}.{suggestion(dimension, every)}" if every else "there is none"
            raise ConfigError(
                f"no label set of a dimension {dimension!r} in {self.folder} or among the shipped ones; {told}"
            )
        raise ConfigError(
            f"no label set {name!r} for {dimension!r} in {self.folder} or among the shipped ones; "
            f"there is {', '.join(known) or 'none'}.{suggestion(name, known)}"
        )

    def label_set(self, dimension: str, name: str) -> LabelSet:
        """Return a label set; errors as in `LabelSet.read`, and where the card is that of another set."""
        place = self.set_folder(dimension, name)
        found = LabelSet.read(place)
        if (found.card.dimension, found.card.name) != (dimension, name):
            said = f"{found.card.dimension}/{found.card.name}"
            raise ConfigError(
                f"{place / CARD}: the card says {said}; its folder is {dimension}/{name}. Make them equal"
            )
        return found

    def own_folder(self, dimension: str, name: str) -> Path:
        """Return the project's folder of a set, to append to.

        Raises:
            ConfigError: the set is a shipped one, which is not written to.
        """
        own = self.folder / dimension / name
        if not (own / CARD).is_file():
            where = self.set_folder(dimension, name)
            raise ConfigError(f"{where} is shipped and stays as it is; copy it to {own} and add to the copy")
        return own

    def history_path(self, dimension: str) -> Path:
        """Return where a dimension's history lies."""
        return self.folder / dimension / HISTORY

    def runs_folder(self, dimension: str) -> Path:
        """Return where the verdicts of a dimension's runs lie."""
        return self.folder / dimension / RUNS

    def history(self, dimension: str) -> list[CalibrationRun]:
        """Return the runs of a dimension; errors as in `read_chain`."""
        return read_chain(self.history_path(dimension), CalibrationRun)

    def record(self, dimension: str, make: MakeRun, verdicts: Sequence[ItemVerdict]) -> CalibrationRun:
        """Write a run's verdicts beside the history, then append the run, chained; return it as written.

        `make` is given the history as it is: until the run is appended, no other process appends one.

        Raises:
            ConfigError: what `make` raises, or a run of that id is there.
            BrokenHistory: the history is not what was appended before.
            ClockError: the run lies before the last one.
        """
        with self._held(dimension):
            history = self.history(dimension)
            run = make(history)
            path = self.runs_folder(run.dimension) / f"{run.run_id}.jsonl"
            if path.exists():
                raise ConfigError(f"{path} is there already; expected a new run")
            sealed = next_link(self.history_path(run.dimension), run)
            append_jsonl(path, verdicts)
            append_jsonl(self.history_path(run.dimension), [sealed])
        return sealed

    @contextmanager
    def _held(self, dimension: str) -> Iterator[None]:
        folder = self.folder / dimension
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UnreadableError(f"{folder}: cannot be made: {error.strerror}") from error
        with held(folder, wait=True):
            yield

    def verdicts(self, run: CalibrationRun) -> list[ItemVerdict]:
        """Return the verdicts of a run.

        Raises:
            UnreadableError: they were not kept.
            BrokenHistory: they are not those that the run was made from.
        """
        path = self.runs_folder(run.dimension) / f"{run.run_id}.jsonl"
        found = [verdict for _, verdict in read_jsonl(path, ItemVerdict)]
        if verdicts_hash(found) != run.verdict_ids_hash:
            raise BrokenHistory(f"{path}: not the verdicts that {run.run_id} was made from; restore the file")
        return found

    def anchors(self, dimension: str) -> list[AnchorCheck]:
        """Return the checks on a dimension's frozen anchors; errors as in `read_chain`."""
        return read_chain(self.folder / dimension / ANCHORS, AnchorCheck)

    def append_anchors(self, check: AnchorCheck) -> AnchorCheck:
        """Append a check on the anchors, chained; return it as written."""
        with self._held(check.dimension):
            return append_link(self.folder / check.dimension / ANCHORS, check)

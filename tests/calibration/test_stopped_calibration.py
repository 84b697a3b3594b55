"""Real processes that calibrate against a real server and die, are interrupted, or meet each other."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.calibration import made_up
from tests.calibration.made_up import DIMENSION
from tests.llm.server import ChatServer, hold, say
from toolgrade.calibration.journal import Begun, Journal
from toolgrade.calibration.store import Store
from toolgrade.core.verdict import Verdict
from toolgrade.errors import UnreadableError
from toolgrade.llm.port import ChatMessage, ModelRequest

WORKERS = 16
"""Questions that are asked at a time."""
ANSWERED = 10


class Judge:
    """Answers `budget` requests; `stuck` is set when every worker of the client waits for another answer."""

    def __init__(self, budget: int | None = None) -> None:
        self.left = budget
        self.stuck = threading.Event()
        self.held = 0
        self.answered: list[str] = []
        self._answer = made_up.answers()

    async def __call__(self, request: Request) -> Response:
        if self.left == 0:
            self.held += 1
            if self.held == WORKERS:
                self.stuck.set()
            return await hold(request)
        self.left = None if self.left is None else self.left - 1
        body = await request.json()
        messages = tuple(ChatMessage(**message) for message in body["messages"])
        self.answered.append(messages[-1].content)
        return await say(self._answer(ModelRequest(model=body["model"], messages=messages)))(request)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ChatServer]:
    made_up.write(tmp_path / "calibration", items=100)
    with ChatServer() as running:
        yield running


CALIBRATE, DRIFT = ["calibrate"], ["calibration", "drift", "--replicates", "5"]


def start(
    folder: Path, server: ChatServer, model: str = "openai/m-1", command: Sequence[str] = CALIBRATE
) -> subprocess.Popen[str]:
    words = [*command, DIMENSION, "--set", "made_up", "--judge", model, "--api-base", server.url, "--json"]
    code = f"import sys; sys.argv = ['toolgrade', *{words!r}]; from toolgrade.cli import main; main()"
    environment = {**os.environ, "OPENAI_API_KEY": "none", "TOOLGRADE_CACHE": str(folder / "cache")}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=pipe,
        stderr=pipe,
        text=True,
    )


def ended(process: subprocess.Popen[str], code: int = 0) -> tuple[str, str]:
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert "Traceback" not in err, err
    return out, err


def stop_midway(folder: Path, server: ChatServer, how: signal.Signals, command: Sequence[str] = CALIBRATE) -> str:
    """Kill a calibration when ANSWERED answers have arrived and nothing else can; return what it said."""
    judge = Judge(ANSWERED)
    server.replies = [judge]
    process = start(folder, server, command=command)
    assert judge.stuck.wait(60)
    process.send_signal(how)
    return ended(process, -how if how is signal.SIGKILL else 130)[1]


def journal(folder: Path) -> Path:
    (found,) = (folder / "calibration" / DIMENSION / "runs").glob("*.unfinished/verdicts.jsonl")
    return found


def go_on(
    folder: Path, server: ChatServer, model: str = "openai/m-1", command: Sequence[str] = CALIBRATE
) -> tuple[dict[str, object], int]:
    """Calibrate to the end; return the record and how many questions were asked for it."""
    judge = Judge()
    server.replies = [judge]
    out, _ = ended(start(folder, server, model, command))
    return json.loads(out), len(judge.answered)


def test_a_killed_calibration_pays_for_no_answer_twice(tmp_path: Path, server: ChatServer) -> None:
    items = len(Store(tmp_path / "calibration").label_set(DIMENSION, "made_up").in_split("test"))
    stop_midway(tmp_path, server, signal.SIGKILL)
    assert len(journal(tmp_path).read_text().splitlines()) == 1 + ANSWERED
    record, asked = go_on(tmp_path, server)
    assert asked == items - ANSWERED
    assert not list((tmp_path / "calibration" / DIMENSION / "runs").glob("*.unfinished"))
    store = Store(tmp_path / "calibration")
    (run,) = store.history(DIMENSION)
    verdicts = store.verdicts(run)
    assert (len(verdicts), any(verdict.cached for verdict in verdicts)) == (items, False)
    again, asked = go_on(tmp_path, server)
    assert asked == items, "a finished calibration leaves nothing to another one"
    assert again["measurement"]["counts"] == record["measurement"]["counts"]  # type: ignore[index]


def test_a_torn_last_line_is_asked_again_and_another_judge_gets_nothing(tmp_path: Path, server: ChatServer) -> None:
    items = len(Store(tmp_path / "calibration").label_set(DIMENSION, "made_up").in_split("test"))
    stop_midway(tmp_path, server, signal.SIGKILL)
    path = journal(tmp_path)
    path.write_bytes(path.read_bytes()[:-20])
    record, asked = go_on(tmp_path, server, model="openai/m-2")
    assert asked == items
    assert record["events"] == ["first"]
    _, asked = go_on(tmp_path, server)
    assert asked == items - (ANSWERED - 1)


def test_a_look_at_the_anchors_that_stopped_goes_on_too(tmp_path: Path, server: ChatServer) -> None:
    items = len(Store(tmp_path / "calibration").label_set(DIMENSION, "made_up").in_split("test"))
    stop_midway(tmp_path, server, signal.SIGKILL, DRIFT)
    _, asked = go_on(tmp_path, server)
    assert asked == items, "what was said of the anchors is no calibration"
    report, asked = go_on(tmp_path, server, command=DRIFT)
    assert (asked, report["anchors"]) == (5 * items - ANSWERED, items)
    assert not list((tmp_path / "calibration" / DIMENSION / "runs").glob("*.unfinished"))


def test_an_interrupted_calibration_says_where_it_goes_on(tmp_path: Path, server: ChatServer) -> None:
    said = stop_midway(tmp_path, server, signal.SIGINT)
    assert f"{ANSWERED} answers are kept; the same calibration goes on there within a day" in said
    assert said.splitlines()[-1] == "interrupted"


def test_two_calibrations_of_one_judge_at_once_are_one_too_many(tmp_path: Path, server: ChatServer) -> None:
    judge = Judge(ANSWERED)
    server.replies = [judge]
    first = start(tmp_path, server)
    assert judge.stuck.wait(60)
    _, told = ended(start(tmp_path, server), 2)
    assert "another process is at the same calibration; wait until it ends" in told
    first.kill()
    first.communicate()


APPEND = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from toolgrade.calibration.calibrate import calibrate, recorded_judge
from toolgrade.calibration.recorded import ItemVerdict
from toolgrade.calibration.store import Store

store = Store(Path("calibration"))
labels = store.label_set("recovery_quality", "made_up")
verdicts = [ItemVerdict(item_id=item.item_id, verdict="pass") for item in labels.in_split("test")]
judge = recorded_judge(sys.argv[1], "1.0")
print("ready", flush=True)
sys.stdin.readline()
for _ in range(4):
    store.record("recovery_quality", lambda runs: calibrate(labels, verdicts, judge, runs, datetime.now(UTC)), verdicts)
"""


def test_two_processes_that_append_at_once_keep_the_chain_whole(tmp_path: Path) -> None:
    made_up.write(tmp_path / "calibration", items=100)
    pipe = subprocess.PIPE
    both = [
        subprocess.Popen([sys.executable, "-c", APPEND, name], cwd=tmp_path, stdin=pipe, stdout=pipe, text=True)
        for name in ("judge-a", "judge-b")
    ]
    for process in both:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in both:
        process.communicate(timeout=60)
        assert process.returncode == 0
    runs = Store(tmp_path / "calibration").history(DIMENSION)  # reading checks the chain
    assert len(runs) == len({run.run_id for run in runs}) == 8
    assert [run.exposures for run in runs][-1] == 2


NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
THIS = Begun(judge_id="sha256:aa", set="s", rubric_version="1.0", label_set_hash="sha256:bb", begun=NOW)
KEY = "sha256:" + "0" * 64
SAID = Verdict(dimension=DIMENSION, question_id="q", verdict="fail", judge_id="sha256:aa")


def keep(folder: Path, this: Begun = THIS, recorded: datetime | None = None) -> int:
    """Keep one answer; return how many were there before."""
    with Journal(folder, this, recorded) as kept:
        before = len(kept)
        kept.put(KEY, SAID)
    return before


@pytest.mark.parametrize(
    ("later", "recorded", "found"),
    [
        (timedelta(hours=23), None, 1),
        (timedelta(hours=25), None, 0),
        (-timedelta(hours=1), None, 0),
        (timedelta(1), NOW, 0),
    ],
)
def test_what_is_old_or_recorded_is_kept_aside_and_not_gone_on_with(
    tmp_path: Path, later: timedelta, recorded: datetime | None, found: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert keep(tmp_path) == 0
    this = THIS.model_copy(update={"begun": NOW + later})
    assert keep(tmp_path, this, recorded) == found
    aside = [path.read_text().splitlines()[0] for path in tmp_path.glob("*.20261130T120000.jsonl")]
    assert aside == ([] if found else [THIS.model_dump_json()])


def test_an_answer_cut_short_by_money_is_not_kept_and_a_broken_line_is_named(tmp_path: Path) -> None:
    with Journal(tmp_path, THIS) as kept:
        kept.put(KEY, SAID.model_copy(update={"verdict": "error", "error": "half asked: no money left"}))
        assert len(kept) == 0
        kept.put(KEY, SAID.model_copy(update={"verdict": "error", "error": "no JSON"}))
    kept.path.write_text(kept.path.read_text() + "{}\n")
    with pytest.raises(UnreadableError, match="line 3: no entry of a calibration; delete the file to ask anew"), kept:
        pass

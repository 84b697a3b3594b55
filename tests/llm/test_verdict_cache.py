"""The cache of verdicts: what is asked once, what is kept, what counts as missing."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from toolgrade.core.identity import content_hash
from toolgrade.core.verdict import Evidence, Verdict
from toolgrade.errors import ConfigError, JudgeError, UnreadableError
from toolgrade.llm.cache import VerdictCache, default_directory
from toolgrade.llm.recording import export_verdicts, import_verdicts

KEY = content_hash("a question")


def verdict(**changes: object) -> Verdict:
    values = {
        "dimension": "route_choice",
        "question_id": "q1",
        "verdict": "fail",
        "reason": "Zürich ≠ 東京 \u2028",
        "evidence": (Evidence(quote="41 °F", field="payload", verified=True),),
        "model": "openai/x",
        "latency_ms": 12.5,
        "input_tokens": 100,
        "output_tokens": 7,
        "cost": 0.000123,
        "attempts": 2,
    }
    return Verdict.model_validate(values | changes)


def asking(answer: Verdict | Exception, calls: list[int]):
    async def ask() -> Verdict:
        calls.append(1)
        await asyncio.sleep(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return ask


def test_a_second_process_gets_the_verdict_as_it_was_marked_cached(tmp_path: Path) -> None:
    with VerdictCache(tmp_path / "c") as cache:
        cache.put(KEY, verdict())
    with VerdictCache(tmp_path / "c", "replay") as again:
        assert again.get_many([KEY, content_hash("another")]) == {KEY: verdict(cached=True)}
        assert again.warnings == ()


def test_the_directory_is_closed_to_others(tmp_path: Path) -> None:
    with VerdictCache(tmp_path / "c") as cache:
        cache.put(KEY, verdict())
    assert (tmp_path / "c").stat().st_mode & 0o777 == 0o700
    open_one = tmp_path / "open"
    open_one.mkdir(mode=0o755)
    with VerdictCache(open_one) as cache:
        cache.put(KEY, verdict())
    assert open_one.stat().st_mode & 0o777 == 0o700


def test_a_folder_full_of_other_things_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(ConfigError, match="holds other files"), VerdictCache(tmp_path) as cache:
        cache.put(KEY, verdict())
    with pytest.raises(ConfigError, match="is a file"):
        VerdictCache(tmp_path / "thesis.tex")


async def _same_question(cache: VerdictCache, answer: Verdict | Exception, calls: list[int]) -> list[object]:
    asks = [cache.ask(KEY, "q", asking(answer, calls)) for _ in range(64)]
    return await asyncio.gather(*asks, return_exceptions=True)


def test_64_identical_questions_in_flight_make_one_call_and_are_paid_once(tmp_path: Path) -> None:
    for mode in ("auto", "refresh", "off"):
        calls: list[int] = []
        with VerdictCache(tmp_path / mode, mode) as cache:
            answers = asyncio.run(_same_question(cache, verdict(), calls))
        assert len(calls) == 1
        assert answers.count(verdict()) == 1
        assert answers.count(verdict(cached=True)) == 63


def test_everyone_who_waits_gets_the_error_and_nothing_is_stored(tmp_path: Path) -> None:
    with VerdictCache(tmp_path / "c") as cache:
        calls: list[int] = []
        answers = asyncio.run(_same_question(cache, JudgeError("no answer"), calls))
        assert len(calls) == 1
        assert {str(answer) for answer in answers} == {"no answer"}
        asyncio.run(_same_question(cache, verdict(verdict="error", error="no JSON"), calls))
        assert len(calls) == 2
        cache.flush()
        assert cache.get_many([KEY]) == {}
        assert cache.warnings == ()


def test_a_cancelled_call_is_made_by_the_next_who_waits(tmp_path: Path) -> None:
    async def scene() -> tuple[Verdict, int]:
        calls: list[int] = []
        never = asyncio.Event()

        async def stuck() -> Verdict:
            await never.wait()
            raise AssertionError

        first = asyncio.create_task(cache.ask(KEY, "q", stuck))
        await asyncio.sleep(0)
        third = asyncio.create_task(cache.ask(KEY, "q", asking(verdict(), calls)))
        second = asyncio.create_task(cache.ask(KEY, "q", asking(verdict(), calls)))
        await asyncio.sleep(0)
        first.cancel()
        third.cancel()
        with pytest.raises(asyncio.CancelledError):
            await third
        return await second, len(calls)

    with VerdictCache(tmp_path / "c") as cache:
        assert asyncio.run(scene()) == (verdict(), 1)


def test_modes(tmp_path: Path) -> None:
    def run(mode: str, answer: Verdict) -> tuple[Verdict, int]:
        calls: list[int] = []
        with VerdictCache(tmp_path / "c", mode) as cache:
            return asyncio.run(cache.ask(KEY, "case a, call 2", asking(answer, calls))), len(calls)

    first, other = verdict(), verdict(verdict="pass")
    with pytest.raises(ConfigError, match="case a, call 2: no recorded verdict"):
        run("replay", first)
    assert run("off", first) == (first, 1)
    assert run("auto", first) == (first, 1)
    assert run("auto", other) == (verdict(cached=True), 0)
    assert run("replay", other) == (verdict(cached=True), 0)
    assert run("refresh", other) == (other, 1)
    assert run("auto", first) == (verdict(verdict="pass", cached=True), 0)


def test_refresh_asks_once_in_a_run(tmp_path: Path) -> None:
    calls: list[int] = []
    with VerdictCache(tmp_path / "c") as cache:
        cache.put(KEY, verdict())
    with VerdictCache(tmp_path / "c", "refresh") as cache:
        assert cache.get_many([KEY]) == {}
        for _ in range(2):
            asyncio.run(cache.ask(KEY, "q", asking(verdict(), calls)))
            cache.flush()
    assert len(calls) == 1


WRITER = """
import sys
from pathlib import Path
from toolgrade.core.identity import content_hash
from toolgrade.core.verdict import Verdict
from toolgrade.llm.cache import VerdictCache
with VerdictCache(Path(sys.argv[1])) as cache:
    for number in range(300):
        answer = Verdict(dimension="route_choice", question_id=f"{sys.argv[2]}-{number}", verdict="pass")
        cache.put(content_hash([sys.argv[2], number]), answer)
        if number % 10 == 0:
            cache.flush()
assert not cache.warnings, cache.warnings
"""


def test_two_processes_begin_and_share_one_file(tmp_path: Path) -> None:
    names = ("a", "b", "c")
    workers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "c"), name]) for name in names]
    assert [worker.wait(60) for worker in workers] == [0, 0, 0]
    keys = [content_hash([name, number]) for name in names for number in range(300)]
    with VerdictCache(tmp_path / "c") as cache:
        assert set(cache.get_many(keys)) == set(keys)
        assert cache.warnings == ()
    assert not list((tmp_path / "c").glob("*damaged*"))


def test_an_export_replays_elsewhere_byte_for_byte(tmp_path: Path) -> None:
    keys = [content_hash(number) for number in range(5)]
    with VerdictCache(tmp_path / "a") as cache:
        for number, key in enumerate(keys):
            cache.put(key, verdict(question_id=str(number), dimension=["route_choice", "recovery_quality"][number % 2]))
        assert export_verdicts(cache, tmp_path / "a.jsonl") == 5
        info = cache.info()
    assert (info.entries, info.dimensions) == (5, {"recovery_quality": 2, "route_choice": 3})
    assert info.models == {"openai/x": 5}
    lines = (tmp_path / "a.jsonl").read_text().split("\n")[:-1]
    assert [line[8:79] for line in lines] == sorted(keys)
    with VerdictCache(tmp_path / "b") as cache:
        assert import_verdicts(cache, tmp_path / "a.jsonl") == 5
        assert export_verdicts(cache, tmp_path / "b.jsonl") == 5
        assert cache.get_many(keys)[keys[1]].reason == verdict().reason
        assert cache.clear() == 5
        assert cache.get_many(keys) == {}
        assert cache.info().entries == 0
    assert (tmp_path / "b.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "f.jsonl:2: line: invalid json"),
        ("[]", "f.jsonl:2: line: "),
        ('{"key": "sha256:00", "verdict": {}}', "f.jsonl:2: key: "),
        (f'{{"key": "{KEY}"}}', "f.jsonl:2: verdict: field required"),
        (
            f'{{"key": "{KEY}", "verdict": {{"dimension": "d", "question_id": "q", "verdict": "maybe"}}}}',
            "input should",
        ),
        (f'{{"key": "{KEY}", "verdict": {{"dimension": "d", "question_id": "q", "verdict": "error"}}}}', "`error`"),
    ],
)
def test_a_bad_line_names_itself_and_nothing_is_added(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "f.jsonl"
    with VerdictCache(tmp_path / "a") as cache:
        cache.put(KEY, verdict())
        export_verdicts(cache, path)
    path.write_text(path.read_text() + line + "\n")
    with VerdictCache(tmp_path / "b") as cache:
        with pytest.raises(UnreadableError, match=says):
            import_verdicts(cache, path)
        assert cache.info().entries == 0
        with pytest.raises(UnreadableError, match="cannot be read"):
            import_verdicts(cache, tmp_path / "missing.jsonl")


def test_the_default_directory_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOOLGRADE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/xdg")
    assert default_directory() == Path("/var/xdg/toolgrade")
    monkeypatch.setenv("TOOLGRADE_CACHE", "/somewhere")
    assert default_directory() == Path("/somewhere")

"""A cache file that someone else wrote to: it never runs code, never crashes a run, and says what it is."""

from __future__ import annotations

import pickle
import sqlite3
import subprocess
import sys
import zlib
from pathlib import Path

import diskcache
import pytest

from toolgrade.core.identity import content_hash
from toolgrade.core.verdict import Verdict
from toolgrade.llm.cache import VerdictCache, encode

KEYS = [content_hash(number) for number in range(3)]


def verdict(number: int) -> Verdict:
    return Verdict(dimension="route_choice", question_id=str(number), verdict="pass", cached=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with VerdictCache(tmp_path / "c") as cache:
        for number, key in enumerate(KEYS):
            cache.put(key, verdict(number))
    return tmp_path / "c"


def tamper(folder: Path, *statements: tuple[str, tuple[object, ...]]) -> None:
    connection = sqlite3.connect(folder / "cache.db")
    for sql, values in statements:
        connection.execute(sql, values)
    connection.commit()
    connection.close()


class Bomb:
    """Unpickling it makes a file: the proof that code ran."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.mark,)


def everything(folder: Path) -> tuple[dict[str, Verdict], tuple[str, ...]]:
    """Use every door of the cache, and return what it still knows and what it warned of."""
    with VerdictCache(folder, "replay") as cache:
        known = cache.get_many(KEYS)
        list(cache.entries())
        cache.info()
        warned = cache.warnings
    with VerdictCache(folder) as cache:
        cache.put(content_hash("new"), verdict(9))
        cache.flush()
        assert cache.get_many([content_hash("new")]) == {content_hash("new"): verdict(9)}
        cache.clear()
    return known, warned


@pytest.mark.parametrize("mode", [4, 2, 3, 1, 0, None])
def test_a_pickled_value_never_runs(folder: Path, tmp_path: Path, mode: int | None) -> None:
    mark = tmp_path / "ran"
    payload = pickle.dumps(Bomb(mark))
    tamper(folder, ("UPDATE Cache SET mode = ?, value = ? WHERE key = ?", (mode, payload, KEYS[1])))
    known, warned = everything(folder)
    assert not mark.exists()
    assert known == {KEYS[0]: verdict(0), KEYS[2]: verdict(2)}
    assert len(warned) == 1 and KEYS[1] in warned[0] and "counts as missing" in warned[0]


def test_the_attack_is_real_where_diskcache_reads_the_file(tmp_path: Path) -> None:
    """The usual advice, `JSONDisk`, runs the payload that the tests here defuse (CVE-2025-69872)."""
    mark = tmp_path / "ran"
    with diskcache.Cache(str(tmp_path / "plain"), disk=diskcache.JSONDisk) as cache:
        cache["k"] = 1
    tamper(tmp_path / "plain", ("UPDATE Cache SET mode = 4, value = ?", (pickle.dumps(Bomb(mark)),)))
    with (
        diskcache.Cache(str(tmp_path / "plain"), disk=diskcache.JSONDisk) as cache,
        pytest.raises((TypeError, zlib.error)),
    ):
        cache["k"]
    assert mark.exists()


def test_a_pickled_key_never_runs(folder: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    tamper(folder, ("UPDATE Cache SET raw = 0, key = ? WHERE key = ?", (pickle.dumps(Bomb(mark)), KEYS[1])))
    known, _ = everything(folder)
    assert not mark.exists()
    assert set(known) == {KEYS[0], KEYS[2]}


def test_a_row_cannot_name_a_file_to_read_or_delete(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text(encode(KEYS[1], verdict(1)))
    tamper(folder, ("UPDATE Cache SET mode = 3, filename = ?, value = NULL WHERE key = ?", (str(victim), KEYS[1])))
    with VerdictCache(folder) as cache:
        assert KEYS[1] not in cache.get_many(KEYS)
        cache.put(KEYS[1], verdict(1))
        cache.flush()
        assert KEYS[1] in cache.get_many(KEYS)
    tamper(folder, ("UPDATE Cache SET filename = ?", (str(victim),)))
    everything(folder)
    assert victim.exists()


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("{", "invalid json"),
        ("[1]", "entry: "),
        (encode(KEYS[1], verdict(1)).replace("pass", "trust me"), "verdict.verdict"),
        (encode(KEYS[1], verdict(1)).replace('"verdict":{', '"verdict":{"trust":"trusted",'), "verdict.trust"),
        (encode(KEYS[2], verdict(2)), "another entry"),
        (encode(KEYS[1], verdict(1).model_copy(update={"verdict": "error"})), "an error"),
        ("[" * 100_000, "invalid json"),
        ("\x00", "invalid json"),
    ],
)
def test_a_value_is_validated_when_it_is_read(folder: Path, value: str, says: str) -> None:
    tamper(folder, ("UPDATE Cache SET value = ? WHERE key = ?", (value, KEYS[1])))
    known, warned = everything(folder)
    assert set(known) == {KEYS[0], KEYS[2]}
    assert len(warned) == 1 and says in warned[0]


def test_text_that_is_no_utf8_is_a_miss(folder: Path) -> None:
    tamper(folder, ("UPDATE Cache SET value = CAST(x'ff00fe' AS TEXT) WHERE key = ?", (KEYS[1],)))
    tamper(folder, ("UPDATE Cache SET key = CAST(x'fffe' AS TEXT) WHERE key = ?", (KEYS[2],)))
    known, warned = everything(folder)
    assert set(known) == {KEYS[0]}
    assert warned


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("INSERT INTO Settings VALUES ('_directory', '/etc')", "setting '_directory'"),
        ("INSERT INTO Settings VALUES ('sqlite_writable_schema', 1)", "setting 'sqlite_writable_schema'"),
        (
            "UPDATE Settings SET value = 'wal; DROP TABLE Cache' WHERE key = 'sqlite_journal_mode'",
            "sqlite_journal_mode",
        ),
        ("UPDATE Settings SET value = 'nonsense' WHERE key = 'eviction_policy'", "eviction_policy"),
        ("CREATE TRIGGER t AFTER INSERT ON Cache BEGIN DELETE FROM Cache; END", "holds a trigger"),
        ("CREATE VIEW v AS SELECT 1", "holds a view"),
        ("ALTER TABLE Cache RENAME COLUMN value TO worth", "no such column"),
    ],
)
def test_a_file_that_holds_more_than_was_written_is_set_aside(folder: Path, sql: str, says: str) -> None:
    tamper(folder, (sql, ()))
    known, warned = everything(folder)
    assert known == {}
    assert len(warned) == 1 and says in warned[0]


def damaged(raw: bytes, how: str) -> bytes:
    return {
        "no database": b"not a database, but long enough to hold a header " * 40,
        "cut in the header": raw[:50],
        "cut in half": raw[: len(raw) // 2],
        "last page lost": raw[:-4096],
        "zeros in the middle": raw[:4096] + bytes(len(raw) - 4096),
    }[how]


@pytest.mark.parametrize(
    "how", ["no database", "cut in the header", "cut in half", "last page lost", "zeros in the middle"]
)
def test_a_truncated_file_is_a_miss_with_a_warning(folder: Path, how: str) -> None:
    path = folder / "cache.db"
    broken = damaged(path.read_bytes(), how)
    path.write_bytes(broken)
    with VerdictCache(folder, "replay") as cache:
        assert cache.get_many(KEYS) == {}
        assert len(cache.warnings) == 1
    assert path.read_bytes() == broken
    with VerdictCache(folder) as cache:
        cache.put(KEYS[0], verdict(0))
        cache.flush()
        assert "set aside as cache.db.damaged-1" in cache.warnings[0]
        assert cache.get_many(KEYS) == {KEYS[0]: verdict(0)}
    assert (folder / "cache.db.damaged-1").read_bytes() == broken


def test_an_empty_file_is_a_beginning(folder: Path) -> None:
    (folder / "cache.db").write_bytes(b"")
    known, warned = everything(folder)
    assert (known, warned) == ({}, ())


def test_clear_removes_what_was_set_aside(folder: Path) -> None:
    (folder / "cache.db").write_bytes(b"not a database" * 500)
    with VerdictCache(folder) as cache:
        assert cache.clear() == 0
    assert list(folder.iterdir()) == []


def test_a_hole_in_a_large_file_is_found_before_it_is_written_to(folder: Path) -> None:
    keys = [content_hash(number) for number in range(2000)]
    with VerdictCache(folder) as cache:
        for number, key in enumerate(keys):
            cache.put(key, verdict(number))
    raw = bytearray((folder / "cache.db").read_bytes())
    middle = len(raw) // 8192 * 4096
    raw[middle : middle + 4096] = bytes(4096)
    (folder / "cache.db").write_bytes(raw)
    with VerdictCache(folder) as cache:
        assert len(cache.get_many(keys)) < 2000
        cache.put(KEYS[0], verdict(0))
        cache.flush()
        assert "set aside" in cache.warnings[-1]
        assert cache.get_many(keys) == {KEYS[0]: verdict(0)}


def test_a_file_that_others_hold_is_not_taken_for_damaged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolgrade.llm.store.BUSY_SECONDS", 0.01)
    holder = sqlite3.connect(folder / "cache.db", isolation_level=None)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    with VerdictCache(folder) as cache:
        assert cache.get_many(KEYS) == {}
        cache.put(KEYS[0], verdict(7))
        cache.flush()
        assert [warning.split(": ", 1)[1] for warning in cache.warnings] == [
            "database is locked; its verdicts count as missing",
            "verdicts could not be stored: database is locked",
        ]
        holder.close()
        assert set(cache.get_many(KEYS)) == set(KEYS)
    assert [path.name for path in folder.iterdir()] == ["cache.db"]


def test_reading_imports_neither_diskcache_nor_litellm(folder: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from toolgrade.llm.cache import VerdictCache\n"
        "with VerdictCache(Path(sys.argv[1]), 'replay') as cache:\n"
        "    assert len(cache.get_many(sys.argv[2:])) == 3\n"
        "print([name for name in ('diskcache', 'litellm', 'pickle', 'jinja2', 'tenacity') if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code, str(folder), *KEYS], capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"

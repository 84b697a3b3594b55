"""Label sets: what is refused, what is left out of agreement, and how an item gets its label."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.calibration import made_up
from toolgrade.calibration.item import Draft, assign_splits, near_dup_key, split_of
from toolgrade.calibration.label import Label, in_force, resolve
from toolgrade.calibration.label_set import LabelSet, append_items, append_labels
from toolgrade.calibration.queue import queue
from toolgrade.calibration.recorded import ItemVerdict
from toolgrade.calibration.status import plan, set_status
from toolgrade.calibration.store import Store
from toolgrade.calibration.transfer import Mapped, read_drafts, read_labels
from toolgrade.errors import ConfigError, UnreadableError


def label(annotator: str, word: str, role: str = "expert", **changes: Any) -> Label:
    base = {
        "label_id": f"{annotator}-{word}-{len(changes)}",
        "item_id": "i",
        "content_hash": "h",
        "dimension": "d",
        "rubric_version": "1.0",
        "annotator_id": annotator,
        "annotator_role": role,
        "label": word,
        "critique": "because",
        "ts": "2026-01-01T00:00:00+00:00",
    }
    return Label.model_validate({**base, **changes})


@pytest.mark.parametrize(
    ("given", "word", "how"),
    [
        ([], None, "unresolved"),
        ([("a", "fail", "expert")], "fail", "single"),
        ([("a", "fail", "crowd")], None, "unresolved"),
        ([("a", "fail", "crowd"), ("b", "fail", "crowd")], "fail", "unanimous"),
        ([("a", "fail", "expert"), ("b", "pass", "expert")], None, "unresolved"),
        ([("a", "fail", "crowd"), ("b", "pass", "crowd"), ("c", "fail", "crowd")], "fail", "majority"),
        ([("a", "fail", "crowd"), ("b", "pass", "crowd"), ("c", "unknown", "crowd")], None, "unresolved"),
        ([("a", "fail", "expert"), ("b", "fail", "expert"), ("z", "pass", "adjudicator")], "pass", "adjudicator"),
    ],
)
def test_resolution_in_the_order_of_the_policy(given: list[Any], word: str | None, how: str) -> None:
    """Adjudicator, unanimity, strict majority of three, one expert; else unresolved."""
    for order in itertools.permutations(given):
        found = resolve("i", [label(*one) for one in order])
        assert (found.label, found.how) == (word, how)


def test_labels_that_stay_out_of_agreement() -> None:
    kept = label("a", "pass", label_id="1")
    out = [
        label("b", "pass", label_id="2", saw_judge_verdict=True),
        label("c", "pass", label_id="3", rubric_version="2.0"),
        label("a", "pass", label_id="4", blind_repeat_of="1"),
        label("d", "fail", label_id="5"),
        label("d", "pass", label_id="6", supersedes="5"),
    ]
    assert [one.label_id for one in in_force([kept, *out], "1.3")] == ["1", "6"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return made_up.write(tmp_path, items=40)


def test_what_was_appended_is_what_is_read(place: Path) -> None:
    made = LabelSet.read(place)
    assert (len(made.items), len(made.labels)) == (40, 120)
    assert made.resolved["item-0007"].how == "majority"
    assert made.hash() == LabelSet.read(place).hash()
    assert {item.split for item in made.items.values()} <= {"fewshot", "dev", "test"}


def test_changed_content_is_refused_and_the_same_content_is_no_change(place: Path) -> None:
    made = LabelSet.read(place)
    assert made.add_items([made_up.draft(3)]) == []
    changed = made_up.draft(3).model_copy(update={"fields": {"episode": "something else"}})
    with pytest.raises(ConfigError, match=r"item 'item-0003' is there with other content"):
        made.add_items([changed])
    text = (place / "items.jsonl").read_text()
    (place / "items.jsonl").write_text(text.replace("case alpha-alpha-alpha-delta", "case edited"))
    with pytest.raises(ConfigError, match=r"items\.jsonl line 4.*content_hash is not that of fields"):
        LabelSet.read(place)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"item_id": "item-00O3"}, r"no item 'item-00O3' in items.jsonl. Did you mean 'item-"),
        ({"content_hash": "sha256:0"}, "something else was labelled"),
        ({"dimension": "route_choice"}, "dimension 'route_choice'; expected 'recovery_quality'"),
        ({"critique": " "}, "a fail needs a critique"),
        ({"annotator_id": "ana"}, "labelled item 'item-0003' before; expected supersedes"),
        ({"supersedes": "item-0004/ana"}, "supersedes 'item-0004/ana' is no earlier label of item"),
        ({"label_id": "item-0003/ana"}, "is there twice"),
    ],
)
def test_labels_that_do_not_fit_are_named(place: Path, changes: dict[str, str], told: str) -> None:
    made = LabelSet.read(place)
    good = made_up.label(made.items["item-0003"], 3, "dan", "fail")
    with pytest.raises(ConfigError, match=told):
        made.add_labels([good.model_copy(update=changes)])
    assert len(made.labels) == 120
    made.add_labels([good])


def test_a_correction_replaces_a_label_without_removing_it(place: Path) -> None:
    made = LabelSet.read(place)
    fixed = made_up.label(made.items["item-0003"], 3, "ana", "pass").model_copy(
        update={"label_id": "new", "supersedes": "item-0003/ana"}
    )
    append_labels(place, made.add_labels([fixed]))
    assert len(LabelSet.read(place).labels) == 121
    assert made.resolved["item-0003"].how == "majority"


def test_a_card_is_that_of_its_folder(place: Path) -> None:
    card = (place / "card.toml").read_text()
    (place / "card.toml").write_text(card.replace('"made_up"', '"../../elsewhere"'))
    with pytest.raises(ConfigError, match=r"card\.toml: name: String should match pattern"):
        LabelSet.read(place)
    (place / "card.toml").write_text(card.replace('name = "made_up"', 'name = "other"'))
    with pytest.raises(ConfigError, match=r"card says recovery_quality/other; its folder is recovery_quality/made_up"):
        Store(place.parents[1]).label_set("recovery_quality", "made_up")


def test_bad_lines_name_file_line_and_field(place: Path) -> None:
    with (place / "labels.jsonl").open("a") as file:
        file.write('{"label_id": "x"}\n')
    with pytest.raises(ConfigError, match=r"labels\.jsonl line 121: item_id: Field required"):
        LabelSet.read(place)
    (place / "labels.jsonl").write_bytes(b"\xff\xfe broken")
    with pytest.raises(UnreadableError, match=r"labels\.jsonl: cannot be read"):
        LabelSet.read(place)
    (place / "card.toml").write_text('dimension = "x"\n')
    with pytest.raises(ConfigError, match=r"card\.toml: name: Field required"):
        LabelSet.read(place)


def test_a_cut_off_write_is_not_built_on(place: Path) -> None:
    with (place / "items.jsonl").open("a") as file:
        file.write('{"item_id": "half')
    with pytest.raises(UnreadableError, match="a write was cut off"):
        append_items(place, [])


def test_a_trace_and_its_near_duplicates_share_one_split() -> None:
    drafts = [
        Draft(item_id=f"{trace}/{n}", trace_id=trace, fields={"text": f"{body} {n}  TIMES"})
        for trace, body in [("t1", "Apple"), ("t2", "apple"), ("t3", "pear"), ("t3", "plum"), ("t4", "PLUM")]
        for n in range(3)
    ]
    for order in (drafts, drafts[::-1]):
        made = {item.item_id: item for item in assign_splits(order, [], "salt")}
        assert len({made[i].split for i in ("t1/0", "t1/2", "t2/1")}) == 1
        assert len({made[i].split for i in ("t3/0", "t3/1", "t4/2")}) == 1
        assert {i: item.split for i, item in made.items()} == {
            item.item_id: item.split for item in assign_splits(drafts, [], "salt")
        }


def test_an_item_that_would_leak_between_splits_is_refused() -> None:
    one = next(f"a{i}" for i in range(100) if split_of(f"a{i}", "s") == "test")
    two = next(f"b{i}" for i in range(100) if split_of(f"b{i}", "s") == "dev")
    present = assign_splits(
        [
            Draft(item_id="1", trace_id=one, fields={"t": "one thing"}),
            Draft(item_id="2", trace_id=two, fields={"t": "another"}),
        ],
        [],
        "s",
    )
    with pytest.raises(ConfigError, match="already in the splits dev, test"):
        assign_splits([Draft(item_id="3", trace_id=one, fields={"t": "ANOTHER"})], present, "s")


@given(st.text(max_size=60), st.integers(0, 999), st.integers(0, 999))
def test_near_duplicates_ignore_case_spaces_and_digits(text: str, one: int, two: int) -> None:
    assert near_dup_key({"a": f"x {one} Word\n y"}) == near_dup_key({"a": f"X  {two} WORD y"})
    assert near_dup_key({"a": text}) == near_dup_key({"a": text})


def test_splits_have_the_declared_shares() -> None:
    found = [split_of(f"trace {i}", "salt") for i in range(4000)]
    shares = [found.count(split) / 4000 for split in ("fewshot", "dev", "test")]  # type: ignore[arg-type]
    assert shares == pytest.approx([0.15, 0.40, 0.45], abs=0.03)


def test_csv_with_a_column_map(place: Path, tmp_path: Path) -> None:
    made = LabelSet.read(place)
    path = tmp_path / "mine.csv"
    path.write_text('id,verdict,why,sure\nitem-0003,bad,"said ""done"", was not",0.8\nitem-0004,,,\nitem-0005,ok,,1\n')
    mapped = Mapped(
        columns={"item_id": "id", "label": "verdict", "critique": "why", "confidence": "sure"},
        words={"bad": "fail", "ok": "pass"},
        constants={"annotator_id": "eve", "annotator_role": "skilled"},
    )
    found = read_labels(path, made, mapped, "2026-02-02T00:00:00+00:00")
    assert [(one.item_id, one.label, one.confidence) for one in found] == [
        ("item-0003", "fail", 0.8),
        ("item-0005", "pass", 1.0),
    ]
    assert found[0].critique == 'said "done", was not'
    made.add_labels(found)


@pytest.mark.parametrize(
    ("text", "columns", "told"),
    [
        ("id,verdict\nitem-0003,good\n", {"label": "verdict"}, r"line 2: label: found 'good'.*--map good="),
        ("id,label\nitem-0003,pass\n", {"item_id": "nr"}, r"line 2: no column 'nr' for item_id"),
        ("id,label\nitem-0003,pass\n", {"itemid": "id"}, r"no label field 'itemid'. Did you mean 'item_id'"),
        ("id,label\nitem-0003,pass,x,y\n", {}, "more values than the header has columns"),
        (
            "id,label,confidence\nitem-0003,pass,high\n",
            {"item_id": "id"},
            "confidence: found 'high'; expected a number",
        ),
        (
            "item_id,label\nitem-0003,pass\n",
            {},
            r"annotator_id: Field required; give it as a column or with --constant",
        ),
    ],
)
def test_import_errors_name_the_place(
    place: Path, tmp_path: Path, text: str, columns: dict[str, str], told: str
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(ConfigError, match=told):
        read_labels(path, LabelSet.read(place), Mapped(columns=columns), "2026-02-02T00:00:00+00:00")


def test_items_from_jsonl(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text('{"item_id": "1", "trace_id": "t", "fields": {"a": 1}, "_note": "x"}\n{"item_id": "2"}\n')
    with pytest.raises(ConfigError, match=r"line 2: trace_id: Field required"):
        read_drafts(path, {})


def test_the_queue_takes_the_most_urgent_first_and_hides_the_judge(tmp_path: Path) -> None:
    place = made_up.write(tmp_path, items=300)
    (place / "labels.jsonl").write_text("")
    made = LabelSet.read(place)
    ids = sorted(made.items)
    made.add_labels([made_up.label(made.items[ids[0]], 0, who, word) for who, word in (("a", "fail"), ("b", "pass"))])
    said = [ItemVerdict(item_id=i, verdict="pass", replicate=r) for i in ids for r in range(2)]
    said[3] = said[3].model_copy(update={"verdict": "fail"})
    said[4] = said[4].model_copy(update={"verdict": "unknown"})
    said[5] = said[5].model_copy(update={"verdict": "unknown"})
    found = queue(made, said, np.random.default_rng(2))
    assert [(one.item_id, one.why) for one in found[:3]] == [
        (ids[0], "people_disagree"),
        (ids[1], "verdicts_flip"),
        (ids[2], "judge_unknown"),
    ]
    rest = found[3:]
    assert {(one.why, one.inclusion_prob) for one in rest} == {("random", 0.05)}
    assert 5 <= len(rest) <= 30
    assert not any("verdict" in name for name in found[0].model_dump())
    assert len(queue(made, [], np.random.default_rng(2))) == 300


def test_the_queue_takes_what_the_judge_was_too_unsure_of(tmp_path: Path) -> None:
    """100 labelled items, right from .8 on and wrong below; of 200 unlabelled ones, those below .8 go to people."""
    place = made_up.write(tmp_path, items=300)
    (place / "labels.jsonl").write_text("")
    made = LabelSet.read(place)
    ids = sorted(made.items)
    made.add_labels([made_up.label(made.items[item_id], 0, "ana", "pass") for item_id in ids[:100]])
    said = [
        ItemVerdict(
            item_id=item_id, verdict="fail" if n < 100 and n % 4 == 0 else "pass", confidence=0.6 if n % 4 == 0 else 0.8
        )
        for n, item_id in enumerate(ids)
    ]
    found = queue(made, said, np.random.default_rng(2))
    unsure = [one for one in found if one.why == "low_confidence"]
    assert {(one.item_id, one.inclusion_prob) for one in unsure} == {(item_id, 1.0) for item_id in ids[100::4]}
    assert {one.why for one in found[len(unsure) :]} == {"random"}


def test_status_says_what_is_missing(place: Path) -> None:
    status = set_status(LabelSet.read(place))
    test = LabelSet.read(place).in_split("test")
    fails = sum(int(item.item_id[-4:]) % 3 == 0 for item in test)
    assert status.test == {"fail": fails, "pass": len(test) - fails}
    assert (status.need.fail, status.need.total) == (25 - fails, 100 - len(test))
    assert (status.unlabelled, status.unresolved, status.need.overlap) == (0, 0, 0)


def test_label_plan_of_the_specification_table() -> None:
    """Budget table: FAIL share 20 %, recalls .90 and .95: 139 labels for κ, 171 for FAIL recall."""
    found = plan(0.95, 0.90, 0.20, np.random.default_rng(1))
    assert found.for_kappa == pytest.approx(139, rel=0.2)
    assert found.for_fail_recall == pytest.approx(171, rel=0.2)
    assert found.labels == max(found.for_kappa or 0, found.for_fail_recall or 0, found.for_pass_recall or 0)
    assert plan(0.95, 0.65, 0.2, np.random.default_rng(1)).labels is None


def test_the_chance_of_being_exported_for_labelling_weighs_the_item(place: Path) -> None:
    """1 / (0.5 × 0.05): the item was sampled with chance 0.5 and queued with 0.05."""
    made = LabelSet.read(place)
    made.add_items([made_up.draft(900)])
    item = made.items["item-0900"]
    assert made.chance(item) == 0.5
    made.add_labels([made_up.label(item, 900, "ana", "fail").model_copy(update={"inclusion_prob": 0.05})])
    assert made.chance(item) == pytest.approx(0.025)


def test_text_that_is_no_unicode_is_an_error_and_nothing_is_written(place: Path) -> None:
    before = (place / "items.jsonl").read_bytes()
    made = LabelSet.read(place)
    broken = made.add_items([Draft(item_id="x", trace_id="x", fields={"episode": "half \ud800 a pair"})])
    with pytest.raises(ConfigError, match="half a surrogate pair is no text"):
        append_items(place, broken)
    assert (place / "items.jsonl").read_bytes() == before


def test_a_judge_is_asked_about_an_item_as_the_gate_wrote_it(tmp_path: Path) -> None:
    """Sorted keys would give a prompt that no run ever sends; the hash does not mind the order."""
    made_up.write(tmp_path, items=0)
    folder = tmp_path / made_up.DIMENSION / "made_up"
    fields = {"payloads": [{"tool": "b", "content": None}], "claims": [{"sentence": "é", "claim": None, "nearest": []}]}
    known = LabelSet.read(folder)
    append_items(folder, known.add_items([Draft(item_id="one", trace_id="t", fields=fields)]))
    (item,) = LabelSet.read(folder).items.values()
    assert item.fields is not None
    assert str(item.fields) == str(fields)
    assert item.content_hash == known.items["one"].content_hash

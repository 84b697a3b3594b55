from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from toolgrade.assets import root
from toolgrade.errors import ConfigError
from toolgrade.prompts import available, load
from toolgrade.prompts.sandbox import MAX_OUTPUT, render

DIMENSIONS = ("argument_grounding", "recovery_quality", "result_utilization", "route_choice")

# A released version never changes: verdicts, labels and calibrations were made with it. Edit a copy instead.
RELEASED = {
    ("argument_grounding", "v1"): "sha256:faa4270910df9f8d8fd64d55ee77f29b96cf62a784d6d33d81c0cf2364639a86",
    ("recovery_quality", "v1"): "sha256:160ecf03c72c1bbfe81dbf8b6d2af796a1522372e355a6662a0ab29d0351e107",
    ("result_utilization", "v1"): "sha256:5a936d7efcbdf042ddeff413073a3eb47270fd444f4e15d21404ce1108d70c4d",
    ("route_choice", "v1"): "sha256:18bae7085b887dcdd678b2f105275b86821a41277d24459221fc24a6f6291516",
}


def test_every_released_version_has_its_recorded_hash() -> None:
    found = {(name, version): load(name, version).hash for name, all_ in available().items() for version in all_}
    assert found == RELEASED


@pytest.mark.parametrize("name", DIMENSIONS)
def test_a_rubric_says_what_passes_fails_and_is_unknown(name: str) -> None:
    prompt = load(name)
    rubric = prompt.rubric
    assert {example.verdict for example in rubric.examples} >= {"pass", "fail"}
    assert rubric.omissions, "a failure by omission needs a clause to name"
    fields = {item.name: f"[{item.name} goes here]" for item in rubric.inputs}
    system, user = prompt.system_message(), prompt.user_message(fields, "tag")
    for text in (rubric.question, *rubric.labels.values(), *(c.text for c in rubric.clauses), *rubric.notes):
        assert text in system
    assert all(text in user for text in fields.values())
    after_material = user[user.rindex("goes here]") :]
    assert '"unknown_reason"' in after_material, "the instructions have the last word"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A user's folder with one prompt, a copy of a shipped one."""
    target = tmp_path / "mine" / "route_choice" / "v2"
    shutil.copytree(Path(str(root("prompts"))) / "route_choice" / "v1", target)
    front = target / "rubric.toml"
    front.write_text(front.read_text().replace('version = "v1"', 'version = "v2"', 1))
    return tmp_path / "mine"


def test_a_users_folder_comes_before_the_shipped_prompts(own: Path) -> None:
    prompt = load("route_choice", folder=own)
    assert (prompt.rubric.version, prompt.place) == ("v2", str(own / "route_choice" / "v2"))
    assert prompt.hash != load("route_choice").hash
    assert load("recovery_quality", folder=own).hash == load("recovery_quality").hash
    assert available(own)["route_choice"] == ("v2",)


def test_versions_are_ordered_as_numbers(own: Path) -> None:
    shutil.copytree(own / "route_choice" / "v2", own / "route_choice" / "v10")
    front = own / "route_choice" / "v10" / "rubric.toml"
    front.write_text(front.read_text().replace('version = "v2"', 'version = "v10"', 1))
    assert load("route_choice", folder=own).rubric.version == "v10"


def test_windows_line_ends_do_not_change_the_hash(own: Path) -> None:
    before = load("route_choice", folder=own).hash
    for file in (own / "route_choice" / "v2").iterdir():
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert load("route_choice", folder=own).hash == before


@pytest.mark.parametrize("file", ["rubric.toml", "system.md.j2", "user.md.j2"])
def test_any_changed_byte_of_a_prompt_changes_its_hash(own: Path, file: str) -> None:
    before = load("route_choice", folder=own).hash
    path = own / "route_choice" / "v2" / file
    path.write_text(path.read_text().replace("defensible", "good").replace("evidence", "proof"))
    path.write_text(path.read_text().replace("You judge", "Judge"))
    assert load("route_choice", folder=own).hash != before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("question =", "qestion =", "qestion: Extra inputs are not permitted. Did you mean 'question'?"),
        ('rubric_version = "1.0"', 'rubric_version = "one"', "rubric_version: String should match"),
        ('unit = "', "unit = ", "not TOML"),
        ('dimension = "route_choice"', 'dimension = "other"', "dimension is 'other'; its folder says 'route_choice'"),
        ('name = "called"', 'name = "request"', "input 'request' is declared twice"),
        ("\nunknown = ", "\n# unknown = ", "labels lack unknown"),
    ],
)
def test_a_wrong_rubric_names_file_and_field(own: Path, old: str, new: str, message: str) -> None:
    front = own / "route_choice" / "v2" / "rubric.toml"
    front.write_text(front.read_text().replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        load("route_choice", folder=own)
    assert str(caught.value).startswith(str(front))
    assert message in str(caught.value)


def test_what_is_missing_is_named(own: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'route_choise'.*Did you mean 'route_choice'\?"):
        load("route_choise")
    with pytest.raises(ConfigError, match=r"has no version 'v7'; it has v1"):
        load("route_choice", "v7")
    with pytest.raises(ConfigError, match="no such folder"):
        load("route_choice", folder=tmp_path / "nowhere")
    (own / "route_choice" / "v2" / "user.md.j2").unlink()
    with pytest.raises(ConfigError, match=r"user\.md\.j2: missing"):
        load("route_choice", folder=own)


@pytest.mark.parametrize(
    "source",
    [
        "{{ nothing }}",
        "{{ 'a' * 100000000 }}",
        "{{ 2 ** 100000000 }}",
        "{{ '%999999999d' % 1 }}",
        "{{ 'a'.ljust(999999999) }}",
        "{{ 'a'|center(999999999) }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ fields.__init__.__globals__ }}",
        "{{ fields.update({'a': 1}) }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{% include '/etc/passwd' %}",
        "{% for i in range(10000000) %}aaaaaaaaaa{% endfor %}",
        "{{ unclosed ",
    ],
)
def test_a_template_cannot_reach_out_change_values_or_grow(source: str) -> None:
    with pytest.raises(ConfigError, match=r"mine\.j2"):
        render(source, {"fields": {"a": "x"}}, place="mine.j2")


def test_output_is_bounded_while_it_is_made() -> None:
    with pytest.raises(ConfigError, match="longer than"):
        render("{% for a in many %}{{ a }}{% endfor %}", {"many": ["x" * 1000] * (MAX_OUTPUT // 1000 + 1)}, place="p")


def test_values_are_never_read_as_a_template() -> None:
    assert render("{{ a }}", {"a": "{{ 7 * 7 }}{% raw %}"}, place="p") == "{{ 7 * 7 }}{% raw %}"

"""Names that the knowledge lacks, clustered; lists of what may be an answer."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.commands import run
from wikilda._core.errors import InputError
from wikilda.linking import Linker
from wikilda.linking.restriction import Restriction, read_list
from wikilda.linking.unknown import Unknown, _full_names, unknown_in, unknown_names

TEXT = "We met Zebulon Quux and Zebulon Quux in England. He told Croft of it, and Amos Quibble left."


def test_mentions_of_one_unknown_are_one_entity(linker: Linker) -> None:
    found = {each.name: each for each in unknown_in(linker.link(TEXT))}
    assert set(found) == {"Zebulon Quux", "Amos Quibble"}
    assert found["Zebulon Quux"].variants == {"Zebulon Quux": 2}
    assert found["Amos Quibble"].contexts[0].endswith("Amos Quibble left.")


@given(st.lists(st.lists(st.sampled_from(["Ann", "Bo", "Cy", "A.B.", "ABC", "AB"]), min_size=1, max_size=4)))
def test_full_names_are_those_of_all_pairs(parts: list[list[str]]) -> None:
    strings = list(dict.fromkeys(" ".join(each) for each in parts))
    full, names = _full_names(strings)
    for string in strings:
        longer = [other for other in strings if names[string].is_short_for(names[other])]
        assert full[string] == (longer[-1] if longer else string)


def test_entities_survive_the_journal(linker: Linker) -> None:
    for each in unknown_in(linker.link(TEXT)):
        assert Unknown.from_json(json.loads(json.dumps(each.to_json()))) == each


def test_clusters_over_documents(linker: Linker) -> None:
    texts = ["We met Zebulon Quux.", "We saw ZEBULON-Quux here, and Amos Quibble.", "England won."]
    found = unknown_names(linker.link_many(texts))
    assert [(each.name, each.count) for each in found][:1] == [("Zebulon Quux", 2)] or found[0].count == 2
    assert [each.name for each in found][-1] == "Amos Quibble"


def test_a_surname_joins_the_only_full_name_of_all_documents(linker: Linker) -> None:
    texts = ["We met Robert Kilroy-Quux in England.", "In England Mr Kilroy-Quux spoke.", "They met Quibble and Bly."]
    more = ["We saw Amos Quibble.", "We saw Zoe Quibble."]
    found = {each.name: each for each in unknown_names(linker.link_many([*texts, *more]))}
    assert set(found) == {"Robert Kilroy-Quux", "Quibble", "Bly", "Amos Quibble", "Zoe Quibble"}
    assert found["Robert Kilroy-Quux"].variants == {"Robert Kilroy-Quux": 1, "Kilroy-Quux": 1}
    assert found["Robert Kilroy-Quux"].type == "person"  # after an honorific
    assert found["Bly"].type is None


def test_the_command_writes_them(model: Path, tmp_path: Path) -> None:
    text, out = tmp_path / "text.txt", tmp_path / "unknown.jsonl"
    text.write_text(TEXT)
    code, *_ = run("link", str(model), str(text), "--unknown", str(out), "-o", str(tmp_path / "linked.jsonl"))
    assert code == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["name"], row["count"]) for row in rows] == [("Zebulon Quux", 2), ("Amos Quibble", 1)]


def test_lists_of_titles_and_strings(linker: Linker, tmp_path: Path) -> None:
    def kept(only: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> list[str]:
        wanted = Restriction(only=only, exclude=exclude)
        linked = linker.link("Croft took five wickets for England at The Oval.", restriction=wanted)
        return [each.entity.title for each in linked.mentions if each.entity]

    assert kept(("Robert Croft",)) == ["Robert Croft"]
    assert "Robert Croft" not in kept(exclude=("Robert Croft",))
    assert kept(('"croft"',)) == ["Robert Croft"]
    assert "Robert Croft" not in kept(('"croft"',), ("Robert Croft",))
    assert kept(("The Oval", '"Croft"')) == ["Robert Croft", "The Oval"]
    assert kept(exclude=('"ENGLAND"',)) == ["Robert Croft", "The Oval"]
    path = tmp_path / "list.txt"
    path.write_text('# mine\nRobert Croft\n"the oval"\n')
    assert read_list(path) == ("Robert Croft", '"the oval"')
    assert Restriction().with_lists(path, None).only == ("Robert Croft", '"the oval"')
    path.write_text("# nothing")
    with pytest.raises(InputError, match="the list is empty"):
        read_list(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_list(tmp_path / "none.txt")


def test_the_command_takes_lists(model: Path, tmp_path: Path) -> None:
    text, names = tmp_path / "text.txt", tmp_path / "names.txt"
    text.write_text("Croft took five wickets for England.")
    names.write_text("Robert Croft\n")
    only = json.loads(run("link", str(model), str(text), "--only", str(names))[1])
    assert [each["title"] for each in only["mentions"]] == ["Robert Croft"]
    rest = json.loads(run("link", str(model), str(text), "--exclude", str(names))[1])
    assert "Robert Croft" not in [each["title"] for each in rest["mentions"]]

"""An updated model answers for what is new, and as before for the rest."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tests.training.conftest import write_lines
from wikilda._core.arrays import StringTable
from wikilda._core.errors import InputError
from wikilda.cli import cli
from wikilda.knowledge import Knowledge
from wikilda.linking import Document, Linker, marked
from wikilda.model import Model
from wikilda.sample import texts
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan, UrnTraining
from wikilda.training.update import update
from wikilda.training.update._merge import Rows, delta_of, insert, merge_rows, number_of

BAND = {
    "id": "B-1",
    "name": "Croft (band)",
    "aliases": ["The Crofters", "Croft"],
    "description": "A folk band.",
    "text": "Croft are a folk band. Their songs, guitar and fiddle tunes tour music halls; the album sold as music records. "
    * 5,
    "related": ["Cricket"],
    "wikidata": "Q42",
}


def rows_of(table: dict[tuple[int, int], float], rows: int) -> Rows:
    pairs = sorted(table)
    lengths = [sum(row == each for each, _ in pairs) for row in range(rows)]
    return Rows(
        np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        np.array([topic for _, topic in pairs], np.uint32),
        np.array([table[pair] for pair in pairs], np.float32),
    )


pairs = st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 5)), st.integers(1, 9), max_size=12)
words = st.sets(st.text("abcé", min_size=1, max_size=3), max_size=6)


@given(words, words, pairs, pairs)
def test_rows_are_merged_under_their_new_numbers(
    old: set[str], new: set[str], table: dict[tuple[int, int], int], delta: dict[tuple[int, int], int]
) -> None:
    strings = StringTable.of(sorted(old, key=str.encode))
    numbering = insert(strings, new)
    every = sorted(old | new, key=str.encode)
    assert numbering.size == len(every)
    assert [number_of(each, strings, numbering) for each in every] == list(range(len(every)))
    there = {(row, topic): float(n) for (row, topic), n in table.items() if row < len(old)}
    changes = {(row, topic): float(n) - 4 for (row, topic), n in delta.items() if row < len(every)}
    topics = np.arange(6) * 2  # every topic has a new one after it
    offsets, fill = merge_rows(rows_of(there, len(old)), numbering.old_of_new, topics, delta_of(changes), np.float32)
    to_topics, to_values = np.empty(offsets[-1], np.uint32), np.empty(offsets[-1], np.float32)
    fill.into(to_topics, to_values)
    expected = {(int(numbering.new_of_old[row]), topic * 2): n for (row, topic), n in there.items()}
    for pair, n in changes.items():
        expected[pair] = expected.get(pair, 0.0) + n
    owners = np.repeat(np.arange(len(every)), np.diff(offsets))
    got = {(int(r), int(k)): float(n) for r, k, n in zip(owners, to_topics, to_values, strict=True)}
    assert got == {pair: n for pair, n in expected.items() if n > 0}


def documents() -> list[Document]:
    return [Document(each["text"], [(m["start"], m["end"]) for m in each["mentions"]], each["id"]) for each in texts()]


def answers(linker: Linker) -> list[str | None]:
    linked = [linker.link(each) for each in documents()]
    return [mention.entity and mention.entity.title for each in linked for mention in each.mentions]


def test_an_own_entity_is_found_and_the_rest_stays(model: Path, tmp_path: Path) -> None:
    before = Linker.open(model)
    made = update(model, [write_lines(tmp_path / "own.jsonl", [BAND])], tmp_path / "new")
    assert made.knowledge.path == tmp_path / "new" / "knowledge"
    made.knowledge.verify()
    after = Linker.open(tmp_path / "new")
    entity = after.link(marked("[[The Crofters]] played their album.")).mentions[0].entity
    assert entity is not None
    assert (entity.id, entity.title, entity.wikidata) == ("B-1", "Croft (band)", "Q42")
    band = "[[Croft]] tour with their folk songs, guitar and fiddle; the album and the music of [[The Crofters]] sold."
    titles = [mention.entity and mention.entity.title for mention in after.link(marked(band)).mentions]
    assert titles == ["Croft (band)", "Croft (band)"]
    same = [a == b for a, b in zip(answers(before), answers(after), strict=True)]
    assert np.mean(same) > 0.97
    assert "croft (band)" not in [each for each in answers(after) if each]


@pytest.mark.parametrize(("about", "most"), [("", 1e-12), ("A maker of widgets, cricket bats and music.", 1e-3)])
def test_answers_without_a_new_entity_do_not_change(model: Path, tmp_path: Path, about: str, most: float) -> None:
    """What is typical of the wiki, its types and its parameters stay; descriptions are a few words more in it."""
    rows: list[object] = [
        {"id": f"Z{at}", "name": f"Zanzubar {name}", "description": about, "type": "company"}
        for at, name in enumerate(("Widgets", "Music", "Kelvox"))
    ]
    update(model, [write_lines(tmp_path / "own.jsonl", rows)], tmp_path / "new")
    before, after = Linker.open(model), Linker.open(tmp_path / "new")
    for each in documents():
        for was, now in zip(before.link(each).mentions, after.link(each).mentions, strict=True):
            assert [one.entity.title for one in was.candidates[:1]] == [one.entity.title for one in now.candidates[:1]]
            pairs = zip(was.candidates[:1], now.candidates[:1], strict=True)
            assert abs(was.nil - now.nil) <= most
            assert all(abs(one.probability - other.probability) <= most for one, other in pairs)
    new = after.link("On Monday Zanzubar Kelvox met the press.").mentions
    assert [(each.text, each.entity and each.entity.id) for each in new] == [("Zanzubar Kelvox", "Z2")]


def test_explicit_names_are_known_in_a_plain_sentence(model: Path, tmp_path: Path) -> None:
    rows = [{"id": "C1", "name": "Target"}, {"id": "C2", "name": "England", "aliases": ["Gap"]}]
    update(model, [write_lines(tmp_path / "own.jsonl", rows)], tmp_path / "new")
    linker = Linker.open(tmp_path / "new")
    found = linker.link("On Monday we met Target and Gap in the town.").mentions
    assert [(each.text, each.entity and each.entity.id) for each in found] == [("Target", "C1"), ("Gap", "C2")]
    assert max(each.nil for each in found) < 0.1
    assert linker.knowledge.find_topic("England (C2)") >= 0, "the wiki has an England of its own"


def test_a_wikidata_item_that_the_wiki_has_is_the_same_thing(model: Path, tmp_path: Path) -> None:
    made = update(model, [write_lines(tmp_path / "own.jsonl", [BAND])], tmp_path / "new")
    again = [{"id": "other", "name": "The Hedgerow Five", "wikidata": "Q42"}]
    grown = update(made.model.path, [write_lines(tmp_path / "more.jsonl", again)], tmp_path / "newer").knowledge
    assert len(grown.titles) == len(made.knowledge.titles)
    found = Linker.open(tmp_path / "newer").link("[[The Hedgerow Five]] sang.".replace("[[", "").replace("]]", ""))
    assert [each.entity and each.entity.title for each in found.mentions] == ["Croft (band)"]


def test_own_names_are_names_wherever_they_occur(sample: Knowledge, model: Path, tmp_path: Path) -> None:
    """The wiki may have the string hundreds of times without a link: whoever lists it wants it found."""
    made = update(model, [write_lines(tmp_path / "own.jsonl", [BAND])], tmp_path / "new")
    croft = sample.find_mention("croft")
    assert 0 < sample.linked[croft] < sample.occurrences[croft]
    now = made.knowledge.find_mention("croft")
    assert made.knowledge.linked[now] == made.knowledge.occurrences[now] > sample.occurrences[croft]


def test_old_parameters_stay_as_they_are(model: Path, tmp_path: Path) -> None:
    old = Model.open(model)
    made = update(model, [write_lines(tmp_path / "own.jsonl", [BAND])], tmp_path / "new")
    known, new = old.knowledge(), made.knowledge
    assert made.model.topics == old.topics + 1
    for title in ("England", "Robert Croft", "Zebra (company)", known.titles[0], known.titles[len(known.titles) - 1]):
        if (topic := known.titles.find(title)) >= 0:
            other = new.titles.find(title)
            assert new.sentences[other] == known.sentences[topic]
            assert new.page_ids[other] == known.page_ids[topic]
            assert made.model.word_sums[other] == pytest.approx(old.word_sums[topic], rel=1e-6)
            assert made.model.popularity[other] == old.popularity[topic]
    for string in ("england", "lord's", "croft"):
        was = dict(zip(*(part.tolist() for part in old.mentions.row(known.find_mention(string))), strict=True))
        now = dict(zip(*(part.tolist() for part in made.model.mentions.row(new.find_mention(string))), strict=True))
        named = {new.titles[topic]: value for topic, value in now.items()}
        assert {known.titles[topic]: value for topic, value in was.items()} == {
            title: value for title, value in named.items() if title != "Croft (band)"
        }
    assert new.find_mention("the crofters") >= 0
    assert new.link_probability(new.find_mention("the crofters")) == 1.0


def test_without_changes_nothing_changes(sample: Knowledge, model: Path, tmp_path: Path) -> None:
    made = update(model, [write_lines(tmp_path / "a.jsonl", [{"id": "England", "name": "Blighty"}])], tmp_path / "new")
    new = made.knowledge
    assert len(new.titles) == len(sample.titles)
    np.testing.assert_array_equal(new.words.counts, sample.words.counts)
    np.testing.assert_array_equal(new.graph.in_topics, sample.graph.in_topics)
    topics, _ = new.mentions.row(new.find_mention("blighty"))
    assert [new.titles[int(topic)] for topic in topics] == ["England"]
    linker = Linker.open(tmp_path / "new")
    assert answers(linker) == answers(Linker.open(model))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [("{", "is not JSON"), ('{"title": "x"}', "has no id and name"), ('{"id": 1, "name": ""}', "row 1: has no name"),
     ('{"id": "x", "name": "x", "wikidata": "P1"}', "not like Q42"), ("[]", "not a JSON object")],
)  # fmt: skip
def test_bad_entities_are_refused(model: Path, tmp_path: Path, line: str, complaint: str) -> None:
    (tmp_path / "own.jsonl").write_text(line + "\n")
    with pytest.raises(InputError, match=complaint):
        update(model, [tmp_path / "own.jsonl"], tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_nothing_new_is_an_error_and_so_is_another_file(model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n")
    with pytest.raises(InputError, match="has no rows"):
        update(model, [tmp_path / "a.jsonl"], tmp_path / "new")
    (tmp_path / "a.txt").write_text("\n")
    with pytest.raises(InputError, match="neither a dump"):
        update(model, [tmp_path / "a.txt"], tmp_path / "new")


def test_update_on_the_command_line(model: Path, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "own.jsonl", [{**BAND, "related": ["Nonesuch"]}])
    ran = CliRunner().invoke(cli, ["update", str(model), str(file), "-o", str(tmp_path / "new")])
    assert ran.exit_code == 0, ran.output
    assert "entities added" in ran.output
    assert "related id 'Nonesuch' is unknown" in ran.output
    assert json.loads((tmp_path / "new" / "manifest.json").read_text())["knowledge"]["path"] == "knowledge"
    again = ["update", str(model), str(file), "-o", str(tmp_path / "new")]
    refused = CliRunner().invoke(cli, again)
    assert "exists already" in str(refused.exception)
    assert CliRunner().invoke(cli, [*again, "--overwrite"]).exit_code == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["new", "own.jsonl"]


def test_an_update_that_is_stopped_leaves_nothing(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["wikilda.training.update._update"], "_grow", stop)
    file = write_lines(tmp_path / "own.jsonl", [BAND])
    with pytest.raises(KeyboardInterrupt):
        update(model, [file], tmp_path / "new")
    assert list(tmp_path.iterdir()) == [file]


def test_what_was_learned_from_texts_survives(sample: Knowledge, model: Path, tmp_path: Path) -> None:
    how = UrnTraining(held_out=0.0, evaluated=0)
    rows: list[object] = [{"id": each["id"], "text": each["text"]} for each in texts()]
    trained = train(model, write_lines(tmp_path / "texts.jsonl", rows), tmp_path / "trained", how, TrainingPlan(1, 1))
    entity = {
        "id": "Q",
        "name": "Aab Quillfeather",
        "aliases": ["Quillfeather"],
        "text": "Aab Quillfeather is an English cricket umpire. " * 3,
    }
    made = update(trained.path, [write_lines(tmp_path / "new.jsonl", [entity])], tmp_path / "updated").model
    assert trained.contexts is not None
    assert made.contexts is not None
    assert made.method == "urn"
    assert made.contexts.total >= trained.contexts.total
    assert len(made.contexts.types.offsets) == made.topics + 1 == trained.topics + 2
    before, after, grown = trained.contexts.types, made.contexts.types, made.knowledge()
    for topic, title in enumerate(sample.titles):
        now = grown.find_topic(title)
        old, new = (
            types.words[types.offsets[at] : types.offsets[at + 1]].tolist()
            for types, at in ((before, topic), (after, now))
        )
        assert old == new
    assert len(after.words) > len(before.words) > 0
    assert made.base.values.sum(dtype=float) < made.mentions.values.sum(dtype=float)
    assert trained.nil is not None
    assert made.nil is not None
    symbol = int(trained.nil.symbols[-1])
    now = grown.find_mention(sample.mention_strings[symbol])
    assert now != symbol
    np.testing.assert_allclose(made.nil.of(np.array([now])), trained.nil.of(np.array([symbol])))

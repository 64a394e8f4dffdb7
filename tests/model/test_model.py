"""Models are made from knowledge, stored, opened and refused."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from wikilda._core.artifact import MANIFEST
from wikilda._core.errors import ArtifactError, SettingsError
from wikilda.knowledge import BuildSettings, Knowledge, Resources, build_from_tables
from wikilda.model import PRESETS, Model, ModelSettings, ModelWriter, Parameters, create_model
from wikilda.model.writer import chunks, sum_by_topic


def make_knowledge(path: Path, count: int = 7) -> Knowledge:
    tables = path / "tables"
    tables.mkdir(parents=True)
    (tables / "topics.tsv").write_text("title\nCricket\nLara Croft\nRobert Croft\n", "utf-8")
    mentions = f"mention\ttitle\tcount\ncroft\tLara Croft\t{count}\ncroft\tRobert Croft\t3\ncricket\tCricket\t5\n"
    (tables / "mentions.tsv").write_text(mentions, "utf-8")
    words = "word\ttitle\tcount\nwicket\tCricket\t6\nwicket\tRobert Croft\t2\ntomb\tLara Croft\t4\n"
    (tables / "words.tsv").write_text(words, "utf-8")
    settings = BuildSettings(max_word_share=1.0, min_word_topics=1)
    return build_from_tables(tables, path / "knowledge", settings, resources=Resources(workers=1))


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    return make_knowledge(tmp_path_factory.mktemp("made"))


def test_first_model_has_shares(knowledge: Knowledge, tmp_path: Path) -> None:
    settings = ModelSettings(mass_words=2.0, mass_mentions=10.0)
    model = Model.open(create_model(knowledge, tmp_path / "model", settings).path)
    assert (model.settings, model.iteration, model.topics) == (settings, 0, 3)
    topics, values = model.mentions.row(knowledge.find_mention("croft"))
    named = {knowledge.titles[int(k)]: float(v) for k, v in zip(topics, values, strict=True)}
    assert named == pytest.approx({"Lara Croft": 7.0, "Robert Croft": 3.0})
    values = model.words.row(knowledge.word_strings.find("wicket"))[1]
    assert values.tolist() == pytest.approx([1.5, 0.5])
    for table, sums in ((model.words, model.word_sums), (model.mentions, model.mention_sums)):
        np.testing.assert_allclose(sums, np.bincount(table.topics, table.values, minlength=3))
    assert model.popularity.tolist() == pytest.approx([1.0, 8 / 6, 4 / 6])  # (5, 7, 3) mentions and one each


def test_presets() -> None:
    paper = PRESETS["paper"]
    assert (paper.mass_words, paper.mass_mentions, paper.asymmetric) == (1.0, 1.0, False)
    assert 1e-7 <= paper.beta_words < 1e-3
    assert 1e-5 <= paper.alpha <= 1e-1
    assert PRESETS["default"] == ModelSettings()


@pytest.mark.parametrize(
    "wrong", [{"alpha": 0.0}, {"beta_words": -1.0}, {"mass_mentions": float("inf")}, {"alpha": float("nan")}]
)
def test_impossible_settings(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        ModelSettings(**wrong)  # type: ignore[arg-type]


def test_knowledge_is_found_and_checked(tmp_path: Path) -> None:
    known = make_knowledge(tmp_path / "one")
    create_model(known, tmp_path / "one" / "model")
    moved = tmp_path / "elsewhere"
    shutil.move(tmp_path / "one", moved)
    model = Model.open(moved / "model")
    assert model.knowledge().identity == known.identity  # they moved together
    other = make_knowledge(tmp_path / "two", count=8)
    with pytest.raises(ArtifactError, match="not the knowledge"):
        model.knowledge(other.path)
    shutil.move(moved / "knowledge", tmp_path / "away")
    with pytest.raises(ArtifactError, match="Give its place"):
        model.knowledge()
    assert model.knowledge(tmp_path / "away").identity == known.identity


def test_refused(knowledge: Knowledge, tmp_path: Path) -> None:
    path = create_model(knowledge, tmp_path / "model").path
    with pytest.raises(ArtifactError, match="exists already"):
        create_model(knowledge, path)
    create_model(knowledge, path, overwrite=True)
    with pytest.raises(ArtifactError, match="not model"):
        Model.open(knowledge.path)
    manifest = json.loads((path / MANIFEST).read_text("utf-8"))
    (path / MANIFEST).write_text(json.dumps({**manifest, "format": 99}), "utf-8")
    with pytest.raises(ArtifactError, match="Upgrade wikilda"):
        Model.open(path)


def test_the_same_knowledge_gives_the_same_model(knowledge: Knowledge, tmp_path: Path) -> None:
    one, two = create_model(knowledge, tmp_path / "a"), create_model(knowledge, tmp_path / "b")
    assert one.identity == two.identity
    assert create_model(knowledge, tmp_path / "c", PRESETS["paper"]).identity != one.identity


def test_a_failed_model_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with ModelWriter(tmp_path / "model", 2) as writer:
            writer.table("words", np.array([0, 1], np.int64))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert not list(tmp_path.iterdir())


def test_a_large_model_has_its_sums(tmp_path: Path) -> None:
    with ModelWriter(tmp_path / "model", 1000) as writer:
        for kind in ("words", "mentions"):
            table = writer.table(kind, np.arange(0, 2_000_001, 20, dtype=np.int64))
            table.topics[:] = np.arange(2_000_000) % 1000
            table.values[:] = 1.0
        writer.finish(ModelSettings(), np.ones(1000, np.float32))
    model = Model.open(tmp_path / "model")
    assert model.words.symbols == 100_000
    assert model.word_sums.tolist() == [2000.0] * 1000


@pytest.mark.parametrize("most", [1, 3, 100])
def test_chunks_cover_all_symbols(most: int) -> None:
    offsets = np.array([0, 0, 5, 5, 6, 9, 9], np.int64)
    parts = list(chunks(offsets, most))
    assert [first for first, _ in parts] == [0, *(last for _, last in parts)][:-1]
    assert parts[-1][1] == 6
    assert list(chunks(np.zeros(1, np.int64))) == []


def test_empty_tables() -> None:
    empty = Parameters(np.zeros(1, np.int64), np.empty(0, np.uint32), np.empty(0, np.float32))
    assert sum_by_topic(empty, 2).tolist() == [0.0, 0.0]

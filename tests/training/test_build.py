"""A model from a dump in one step: self-contained, resumed after an interruption, never half-written."""

from pathlib import Path

import pytest

from tests.commands import run
from tests.surnames import SURNAMES
from tests.wikis import FILLER, page, write_dump
from wikilda import BuildSettings, Knowledge, Linker, Model, ModelSettings, build
from wikilda._core.errors import ArtifactError, InputError
from wikilda.knowledge import build as building
from wikilda.training import build as whole
from wikilda.training.corpus import make_corpus

SETTINGS = BuildSettings(max_word_share=1.0, min_word_topics=1)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    pages = [
        page("Java", f"'''Java''' is an island of [[Indonesia]]. {FILLER}"),
        page("Indonesia", f"Home of [[Java]] and its volcanoes. {FILLER}"),
    ]
    return write_dump(tmp_path / "wiki.xml", pages)


def made(dump: Path, target: Path, **options: object) -> Model:
    return build(dump, target, settings=SETTINGS, workers=1, **options)  # type: ignore[arg-type]


def test_a_build_links_wherever_it_is_moved_to(dump: Path, tmp_path: Path) -> None:
    made(dump, tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    dump.unlink()
    linked = Linker.open(tmp_path / "b").link("Java is an island of Indonesia.")
    assert [str(each.entity) for each in linked.mentions] == ["Java", "Indonesia"]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["b"]


def test_what_needs_knowledge_takes_a_model(dump: Path, tmp_path: Path) -> None:
    model = made(dump, tmp_path / "a")
    known = Knowledge.open(tmp_path / "a")
    assert known.identity == model.knowledge_identity == Knowledge.open(tmp_path / "a" / "knowledge").identity
    texts = tmp_path / "text.txt"
    texts.write_text("Java is an island.")
    assert make_corpus([texts], tmp_path / "a", tmp_path / "corpus", workers=1).documents == 1
    with pytest.raises(ArtifactError, match="is wikilda knowledge, not model"):
        Linker.open(tmp_path / "a" / "knowledge")


def test_an_interrupted_build_resumes_after_its_knowledge(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(whole, "create_model", _stop)
        with pytest.raises(KeyboardInterrupt):
            made(dump, tmp_path / "a")
    assert not (tmp_path / "a").exists()
    with monkeypatch.context() as patched:
        patched.setattr(building, "build_from_dump", _stop)  # is not needed again
        resumed = made(dump, tmp_path / "a")
    assert resumed.identity == made(dump, tmp_path / "b").identity
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "b", "wiki.xml"]


def test_other_settings_do_not_resume(dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(whole, "create_model", _stop)
        with pytest.raises(KeyboardInterrupt):
            made(dump, tmp_path / "a")
    other = build(dump, tmp_path / "a", workers=1, settings=BuildSettings(max_word_share=1.0, min_word_topics=2))
    assert other.knowledge().settings.min_word_topics == 2


def test_a_build_that_fails_leaves_the_model_that_was_there(dump: Path, tmp_path: Path) -> None:
    before = made(dump, tmp_path / "a").identity
    with pytest.raises(ArtifactError, match="exists already"):
        made(dump, tmp_path / "a")
    broken = tmp_path / "broken.xml"
    broken.write_text("<mediawiki>")
    with pytest.raises(InputError):
        made(broken, tmp_path / "a", overwrite=True)
    assert Model.open(tmp_path / "a").identity == before
    again = made(dump, tmp_path / "a", overwrite=True, model_settings=ModelSettings(alpha=0.5))
    assert again.settings.alpha == 0.5
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "broken.xml", "wiki.xml"]


@pytest.mark.parametrize(
    ("source", "message"),
    [("nowhere.xml", "no such file"), ([], "there is no dump"), ([".", "wiki.xml"], "is a directory. Give dumps")],
)
def test_sources_that_are_none(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: object, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        build(source, "a")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="page_props needs a dump"):
        build(".", "a", page_props="x")


def _stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_pages_that_are_too_short_are_named(tmp_path: Path) -> None:
    pages = [page("Java", f"An island of [[Bali]]. {FILLER}"), page("Bali", "Short."), page("Lombok", "Short, too.")]
    dump = write_dump(tmp_path / "wiki.xml", pages)
    code, out, _ = run("build", dump, "-o", tmp_path / "model", "-j", 1)
    assert code == 0
    assert "2 pages are too short to be topics (" in out
    assert "Bali" in out
    assert "--set min_text=0" in out
    assert "The model has no words" in out
    _, out, _ = run("build", dump, "-o", tmp_path / "all", "-j", 1, "--set", "min_text=0")
    assert "too short to be" not in out
    assert len(Knowledge.open(tmp_path / "all").titles) == 3


def test_thirty_pages_are_a_linker(tmp_path: Path) -> None:
    """The words of thirty short pages distinguish two pages that share a name."""
    kinds = {"river": "water flows from the mountains to the sea", "singer": "sang songs on stage with a band"}
    pages = [
        page(f"{name} ({kind})", f"'''{name}''' is a {kind}. It {about}. See [[{other} ({kind})|{other}]].")
        for kind, about in kinds.items() for name, other in zip(SURNAMES, SURNAMES[1:] + SURNAMES[:1], strict=True)
    ]  # fmt: skip
    build(write_dump(tmp_path / "wiki.xml", pages), tmp_path / "model", workers=1)
    linker = Linker.open(tmp_path / "model")
    texts = {"river": "Danton flows to the sea, full of water.", "singer": "Danton sang with a band on stage."}
    for kind, text in texts.items():
        [mention] = linker.link(text).mentions
        assert mention.entity is not None
        assert mention.entity.title == f"Danton ({kind})"

"""Text in, entities out, on the sample wiki."""

import json
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from tests.commands import run
from wikilda._core.errors import ArtifactError
from wikilda._core.jit import DISABLED
from wikilda.documents.encoding import encode
from wikilda.knowledge import Knowledge
from wikilda.lda.settings import LdaSettings
from wikilda.linking import Document, Linker, marked
from wikilda.sample import texts
from wikilda.urn import UrnSettings

CROFT = texts()[0]
DOCUMENT = Document(CROFT["text"], [(each["start"], each["end"]) for each in CROFT["mentions"]], "croft")


def test_croft_is_the_cricketer_though_the_heroine_has_the_higher_prior(linker: Linker) -> None:
    crofts = [mention for mention in linker.link(DOCUMENT).mentions if mention.text == "Croft"]
    assert [mention.entity.title for mention in crofts if mention.entity] == ["Robert Croft", "Robert Croft"]
    by_prior = sorted(crofts[0].candidates, key=lambda each: -each.prior)
    assert by_prior[0].entity.title == "Lara Croft"


def test_topics_do_not_contradict_links(linker: Linker) -> None:
    linked = linker.link(DOCUMENT, topics=10_000)
    topics = {each.entity.title: each.share for each in linked.topics}
    meant = {each.entity.title for each in linked.mentions if each.entity}
    assert "Robert Croft" in meant
    assert meant <= set(topics)  # each has the share of its mentions at least
    assert "Lara Croft" not in topics
    assert 0.3 < sum(topics.values()) < 1  # the rest is the background's
    assert [*topics.values()] == pytest.approx(linker.topics(DOCUMENT)[1].tolist())


def test_what_is_probably_nil_is_no_topic(model: Path) -> None:
    doubting = Linker.open(model, settings=UrnSettings(weights=("nil_constant=50",)))
    linked = doubting.link(Document("England Croft", [(0, 7), (8, 13)]))
    assert [each.entity for each in linked.mentions] == [None, None]
    assert all(each.candidates and each.confidence < 0.5 for each in linked.mentions)
    assert linked.topics == []


def test_an_answer_says_all_that_is_known(linker: Linker) -> None:
    linked = linker.link(DOCUMENT, candidates=3, topics=4)
    assert [(each.start, each.end) for each in linked.mentions] == DOCUMENT.mentions
    assert len(linked.topics) == 4
    shares = [each.share for each in linked.topics]
    assert shares == sorted(shares, reverse=True)
    for mention in linked.mentions:
        assert mention.text == DOCUMENT.text[mention.start : mention.end]
        chances = [each.probability for each in mention.candidates]
        assert 0 < len(chances) <= 3
        assert chances == sorted(chances, reverse=True)
        assert sum(chances) <= 1 + 1e-9
    whole = linker.link(DOCUMENT, candidates=10_000).mentions[3]
    assert sum(each.probability for each in whole.candidates) == pytest.approx(1)
    assert sum(each.prior for each in whole.candidates) == pytest.approx(1)
    first = linked.to_dict()["mentions"][3]
    assert first["title"] == "Robert Croft"
    assert first["url"] == "https://example.org/wiki/Robert_Croft"
    assert json.loads(json.dumps(linked.to_dict())) == linked.to_dict()


def test_the_same_document_gets_the_same_answer_and_another_seed_another(linker: Linker, model: Path) -> None:
    again = Linker.open(model)
    others = [linker.link(marked("[[Bush]] and [[Jordan]] play", str(at))) for at in range(3)]
    assert again.link(DOCUMENT) == linker.link(DOCUMENT)
    assert [again.link(marked("[[Bush]] and [[Jordan]] play", str(at))) for at in (2, 1, 0)] == others[::-1]
    plain, seeded = (Linker.open(model, settings=LdaSettings(seed=seed)) for seed in (1, 7))
    assert seeded.link(DOCUMENT, candidates=100) != plain.link(DOCUMENT, candidates=100)


def test_strings_that_are_not_known_have_no_entity(linker: Linker) -> None:
    linked = linker.link(marked("[[Xyzzy]] met [[Croft]] and [[ROBERT  croft]]"))
    assert linked.mentions[0].entity is None
    assert linked.mentions[0].candidates == []
    assert linked.to_dict()["mentions"][0]["title"] is None
    assert linked.mentions[2].entity is not None
    assert linked.mentions[2].entity.title == "Robert Croft"


def test_documents_with_little_in_them(linker: Linker) -> None:
    assert linker.link(Document("", [], "empty")).mentions == []
    assert linker.link(Document("Only words about cricket.", [], "words")).mentions == []
    alone = linker.link(Document("Croft", [(0, 5)], "alone"))
    assert len(alone.mentions[0].candidates) > 1


def test_words_outside_mentions_are_encoded_and_those_inside_are_not(sample: Knowledge) -> None:
    document = marked("Éa [[Robert Croft]] wicket, qqqqq [[Croft]]wicket 😀 wicket")
    encoded = encode(document, sample)
    words = np.asarray(encoded.words)
    wicket = sample.word_strings.find("wicket")
    assert wicket >= 0
    assert [int(each) for each in words if each >= 0] == [wicket] * 2
    assert (words == -1).sum() == 2  # Éa and qqqqq; what runs on from a mention belongs to it
    assert [sample.mention_strings[int(each)] for each in np.asarray(encoded.mentions)] == ["robert croft", "croft"]


def test_most_of_the_sample_texts_come_out_right(linker: Linker) -> None:
    """Not a measure of quality: a linker that is broken falls below the prior, one that works lies above it."""
    right, prior, total = 0, 0, 0
    for each in texts():
        document = Document(each["text"], [(m["start"], m["end"]) for m in each["mentions"]], each["id"])
        for mention, gold in zip(linker.link(document, candidates=1000).mentions, each["mentions"], strict=True):
            assert mention.entity is not None
            right += mention.entity.title == gold["title"]
            prior += max(mention.candidates, key=lambda c: c.prior).entity.title == gold["title"]
            total += 1
    assert right > prior
    assert right / total > 0.75


def test_a_model_refuses_other_knowledge(model: Path, sample: Knowledge, tmp_path: Path) -> None:
    from tests.knowledge.conftest import build
    from tests.wikis import FILLER, page
    from wikilda.model import create_model

    other = build(tmp_path, [page("Other", FILLER)])
    with pytest.raises(ArtifactError, match="is not the knowledge that the model"):
        Linker.open(model, knowledge=other.path)
    with pytest.raises(ArtifactError, match=r"is wikilda knowledge, not model\. Make one: wikilda init"):
        Linker.open(sample.path)
    lost = create_model(other, tmp_path / "model").path
    (tmp_path / "kb").rename(tmp_path / "moved")
    with pytest.raises(ArtifactError):
        Linker.open(lost)
    assert Linker.open(lost, knowledge=tmp_path / "moved").knowledge.identity == other.identity


def test_init_and_link_on_the_command_line(sample: Knowledge, tmp_path: Path) -> None:
    code, out, err = run("init", sample.path, "-o", tmp_path / "m", "--preset", "paper", "--set", "alpha=0.01")
    assert (code, err) == (0, "")
    assert f"{len(sample.titles):,} topics" in out
    manifest = json.loads((tmp_path / "m" / "manifest.json").read_text())
    assert manifest["settings"]["alpha"] == 0.01
    assert manifest["settings"]["mass_mentions"] == 1.0
    document = tmp_path / "in.txt"
    document.write_text("[[Croft]] bowled for [[England]] against [[Pakistan]] at [[Lord's]].", "utf-8")
    code, out, err = run("link", tmp_path / "m", document, "--format", "marked", "-n", 2)
    assert (code, err) == (0, "")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [each["text"] for each in rows[0]["mentions"]] == ["Croft", "England", "Pakistan", "Lord's"]
    assert all(len(each["candidates"]) <= 2 for each in rows[0]["mentions"])
    code, out, err = run("link", tmp_path / "m", document, "--table")
    assert (code, err) == (0, "")
    assert "entity" in out


def test_probabilities_come_from_all_kept_sweeps(linker: Linker) -> None:
    settings = LdaSettings()
    kept = settings.sweeps - settings.burn_in
    lda = Linker(linker.model, linker.knowledge, settings)
    mention = lda.link(marked("[[Bush]]", "b"), candidates=100).mentions[0]
    counts = np.array([each.probability * kept for each in mention.candidates])
    assert counts == pytest.approx(counts.round())


@pytest.mark.skipif(DISABLED, reason="there are no compiled kernels to load")
def test_a_first_document_needs_no_compiler(model: Path) -> None:
    code = (
        f"import sys; from wikilda.linking import Linker; Linker.open({str(model)!r}).link('Croft took five wickets.');"
        "print([name for name in ('numba.np.arraymath', 'scipy.linalg', 'pyarrow', 'duckdb') if name in sys.modules])"
    )
    for _ in range(2):  # the first may compile
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def _titles(linker: Linker, text: str) -> list[str | None]:
    return [each.entity.title if each.entity else None for each in linker.link(text).mentions]


def test_a_linker_is_pickled_by_path_and_opened_once(linker: Linker) -> None:
    texts = ["Croft took five wickets for England.", "Lara batted at The Oval."]
    data = pickle.dumps(linker)
    assert len(data) < 2000
    assert pickle.loads(data) is pickle.loads(data)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        found = list(pool.map(_titles, [linker] * 2, texts))
    assert found == [_titles(linker, text) for text in texts]


def test_a_linker_of_a_model_that_was_replaced_is_refused(linker: Linker) -> None:
    opened, arguments = linker.__reduce__()
    with pytest.raises(ArtifactError, match="is another model"):
        opened(*arguments[:2], "0" * 32, *arguments[3:])

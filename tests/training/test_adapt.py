"""Adapting to texts: what stands around mentions is found, counted, weighed and left out as the formula says."""

import json
import math
import random
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from tests.test_cli import run
from wikilda.documents.encoding import Contexts, EncodedDocument, encode
from wikilda.knowledge import Knowledge
from wikilda.linking import Document, Linker
from wikilda.linking.explanation import explain_document
from wikilda.model import Model, create_model
from wikilda.model.context_counts import Kinds, Surroundings
from wikilda.sample import texts
from wikilda.text.characters import characters
from wikilda.text.offsets import Spans
from wikilda.text.tokens import as_bytes, tokenize
from wikilda.training.adaptation import Counts, adapt, kind_words, write_adapted
from wikilda.urn import UrnSettings
from wikilda.urn.context_evidence import spread, surroundings_evidence, without

SHORT = UrnSettings(sweeps=8, burn_in=3)
DOCUMENTS = [
    Document(each["text"], [(mention["start"], mention["end"]) for mention in each["mentions"]], each["id"])
    for each in texts()
]


@pytest.fixture(scope="module")
def plain(sample: Knowledge, tmp_path_factory: pytest.TempPathFactory) -> Model:
    return create_model(sample, tmp_path_factory.mktemp("adapt") / "model")


@pytest.fixture(scope="module")
def linker(plain: Model, sample: Knowledge) -> Linker:
    return Linker(plain, sample, SHORT)


@pytest.fixture(scope="module")
def learned(linker: Linker) -> Surroundings:
    return adapt(linker, DOCUMENTS).finish()


def number(word: str) -> int:
    """The number of a word, from its hash."""
    data = as_bytes(word)
    hashes, places = np.empty(len(data), np.uint64), np.empty((2, len(data)), np.int64)
    assert tokenize(data, 0, len(data), characters(), hashes, places[0], places[1]) == 1
    return int(hashes[0] >> np.uint64(42))


def outside(sentence: str) -> str:
    """A sentence without what stands in parentheses."""
    kept, depth = "", 0
    for each in sentence:
        depth += each == "("
        kept += each if depth == 0 else " "
        depth -= each == ")" and depth > 0
    return kept


def test_kinds_are_told_by_titles_and_first_words(sample: Knowledge) -> None:
    kinds = kind_words(sample)
    told = []
    for title, sentence in zip(sample.titles, sample.sentences, strict=True):
        words = re.findall(r"\w+", title.lower()) + re.findall(r"\w+", outside(sentence).lower())[:15]
        told.append({number(word) for word in words})
    spread_of = Counter(word for each in told for word in each)
    common = sorted(word for word, count in spread_of.items() if 20 <= count <= 0.2 * len(told))
    numbered = {word: at for at, word in enumerate(common)}
    assert len(kinds.offsets) == len(told) + 1
    for topic, words in enumerate(told):
        wanted = sorted(numbered[word] for word in words if word in numbered)
        assert kinds.words[kinds.offsets[topic] : kinds.offsets[topic + 1]].tolist() == wanted
    assert len(kinds.words)


def contexts(text: str, spans: Spans, knowledge: Knowledge) -> Contexts:
    found = encode(Document(text, spans), knowledge, contexts=True).contexts
    assert found is not None
    return found


def symbol(knowledge: Knowledge, side: str, near: bool, word: str) -> int:
    """The one symbol that a word has at a place."""
    texts_of = {
        ("left", True): f"{word} Croft", ("left", False): f"{word} x Croft",
        ("right", True): f"Croft {word}", ("right", False): f"Croft x {word}",
    }  # fmt: skip
    text = texts_of[side, near]
    start = text.index("Croft")
    spans = [(start, start + 5)] + ([(text.index("Oval"), text.index("Oval") + 4)] if "Oval" in text else [])
    around = contexts(text, spans, knowledge)
    found = set(around.symbols[: around.offsets[1]].tolist())
    if not near:
        found -= {symbol(knowledge, side, True, "x")}
    [one] = found
    return int(one)


def test_a_context_symbol_is_a_token_a_side_and_whether_it_is_next(sample: Knowledge) -> None:
    rng = random.Random(7)
    for _ in range(40):
        words = [rng.choice(["beat", "Beat", "in", ",", "12", "7", "of", "é"]) for _ in range(rng.randint(0, 14))]
        chosen = sorted(rng.sample(range(len(words)), min(len(words), rng.randint(0, 3))))
        text, spans = "", []
        for at, word in enumerate(words):
            if at in chosen:
                spans.append((len(text), len(text) + len(word)))
            text += word + " "
        around = contexts(text, spans, sample)
        plain = ["Oval" if at in chosen else "1" if word.isdigit() else word.lower() for at, word in enumerate(words)]
        for mention, at in enumerate(chosen):
            left = {("left", n == 0, each) for n, each in enumerate(reversed(plain[max(0, at - 4) : at]))}
            right = {("right", n == 0, each) for n, each in enumerate(plain[at + 1 : at + 5])}
            found = around.symbols[around.offsets[mention] : around.offsets[mention + 1]].tolist()
            assert sorted(found) == sorted(symbol(sample, *each) for each in left | right)
    places = [(side, near) for side in ("left", "right") for near in (True, False)]
    assert len({symbol(sample, *place, word) for place in places for word in ("beat", ",", "12", "Oval")}) == 16


def test_a_mention_at_either_end_and_an_empty_text(sample: Knowledge) -> None:
    assert contexts("", [], sample).offsets.tolist() == [0]
    assert contexts("Croft", [(0, 5)], sample).offsets.tolist() == [0, 0]
    assert contexts("Croft\n\nbowled", [(0, 5)], sample).offsets.tolist() == [0, 1]  # a paragraph's end is no token


def small() -> tuple[Kinds, Counts]:
    """Three topics: words 1 and 2 tell of the first, 2 of the second, none of the third."""
    kinds = Kinds(np.array([0, 2, 3, 3]), np.array([1, 2, 2], np.uint32))
    return kinds, Counts(kinds)


class _Drawn:
    def __init__(self, rows: list[dict[int, float]]) -> None:
        self.offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
        self.topics = np.array([topic for row in rows for topic in row], np.uint32)
        self.posterior = np.array([share for row in rows for share in row.values()], np.float64)


def around_of(rows: list[list[int]]) -> Contexts:
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    return Contexts(offsets, np.array([symbol for row in rows for symbol in row], np.uint64))


def test_evidence_is_that_of_the_formula() -> None:
    rng = random.Random(3)
    kinds, counts = small()
    naive: dict[tuple[int, int], float] = defaultdict(float)
    for text in range(40):
        rows = [rng.sample(range(100, 108), 3) for _ in range(4)]
        means = [{0: (share := rng.uniform(0.02, 0.98)), 1: 1 - share} for _ in rows]
        counts.add(EncodedDocument([], [], contexts=around_of(rows), text=str(text)), _Drawn(means))
        for row, shares in zip(rows, means, strict=True):
            for topic, share in shares.items():
                words = kinds.words[kinds.offsets[topic] : kinds.offsets[topic + 1]].tolist()
                for symbol in row:
                    for word in words:
                        naive[symbol, word] += share / len(words)
    counts.add(
        EncodedDocument([], [], contexts=around_of([[100]]), text="0"), _Drawn([{0: 1.0}])
    )  # the same text again
    known = counts.finish()
    total = sum(naive.values())
    by_symbol, by_word = defaultdict(float), defaultdict(float)
    for (symbol, word), count in naive.items():
        by_symbol[symbol] += count
        by_word[word] += count
    around, topics = around_of([[100, 103, 999], [107], []]), np.array([0, 1, 2, 1, 0, 0], np.uint32)
    offsets, chosen = np.array([0, 3, 5, 6]), np.array([0, 1, 2])
    found = surroundings_evidence(around, chosen, offsets, topics, known, known.total)
    seen = [[100, 103], [100, 103], [100, 103], [107], [107], []]
    for at, (topic, symbols) in enumerate(zip(topics.tolist(), seen, strict=True)):
        words = kinds.words[kinds.offsets[topic] : kinds.offsets[topic + 1]].tolist()
        wanted = sum(
            math.log((naive[symbol, word] + 1) / (by_symbol[symbol] * by_word[word] / total + 1))
            for symbol in symbols
            for word in words
        )
        assert found[at] == pytest.approx(wanted / max(len(words), 1), rel=1e-5, abs=1e-7)


def test_without_a_document_counts_are_those_of_the_others(linker: Linker, learned: Surroundings) -> None:
    for left_out in (0, 4):
        document = DOCUMENTS[left_out]
        around = contexts(document.text, document.spans, linker.knowledge)
        alone = linker.draw(document)
        own = spread(around, alone.offsets, alone.topics, alone.posterior, learned.kinds)
        rest = without(learned, around, own)
        others = adapt(linker, DOCUMENTS[:left_out] + DOCUMENTS[left_out + 1 :]).finish()
        wanted, found = _rows(others), _rows(rest)
        assert found
        for symbol, row in found.items():
            for word, count in row.items():
                assert count == pytest.approx(wanted.get(symbol, {}).get(word, 0.0), abs=1e-4) or symbol not in wanted


def _rows(known: Surroundings) -> dict[int, dict[int, float]]:
    keys = {int(n): int(key) for key, n in zip(known.symbols.keys, known.symbols.values, strict=True) if key}
    return {
        keys[row]: dict(
            zip(
                known.words[known.offsets[row] : known.offsets[row + 1]].tolist(),
                known.counts[known.offsets[row] : known.offsets[row + 1]].tolist(),
                strict=True,
            )
        )
        for row in range(len(known.sums))
    }


def test_the_same_for_any_number_of_workers(linker: Linker, learned: Surroundings) -> None:
    for one, other in zip(
        learned.parts().values(), adapt(linker, DOCUMENTS, workers=3).finish().parts().values(), strict=True
    ):
        assert np.array_equal(one, other)
    assert learned.total == pytest.approx(learned.sums.sum())


def test_an_adapted_model_is_opened_like_any_other(
    linker: Linker, plain: Model, learned: Surroundings, tmp_path: Path, sample: Knowledge
) -> None:
    assert plain.surroundings is None
    target = tmp_path / "deep" / "adapted"
    write_adapted(plain, learned, target)
    again = Linker.open(target, settings=SHORT)
    stored = again.model.surroundings
    assert stored is not None
    assert all(np.array_equal(one, stored.parts()[name]) for name, one in learned.parts().items())
    assert again.model.identity != plain.identity
    text = Document("Croft bowled to England and the spinner took a wicket at The Oval, and Wasim Akram.", None, "new")
    assert again.draw(text).posterior.tolist() != linker.draw(text).posterior.tolist()
    known, unseen = DOCUMENTS[0], Document(DOCUMENTS[0].text + " ", DOCUMENTS[0].mentions, DOCUMENTS[0].id)
    assert stored.has(known.text)
    assert not stored.has(unseen.text)
    assert again.draw(known).posterior.tolist() != again.draw(unseen).posterior.tolist()  # it does not teach itself
    off = Linker(again.model, sample, UrnSettings(sweeps=8, burn_in=3, context_weight=0.0))
    assert off.draw(known).posterior.tolist() == linker.draw(known).posterior.tolist()
    for mention in explain_document(again, unseen, candidates=2).mentions:
        if len(mention.candidates) == 2:
            best, other = mention.candidates
            assert best.odds.total == pytest.approx(math.log(best.probability / other.probability), abs=1.0)
            assert best.odds.surroundings == -other.odds.surroundings


def test_the_command(plain: Model, tmp_path: Path) -> None:
    source = tmp_path / "texts.jsonl"
    source.write_text("".join(json.dumps({"text": each.text}) + "\n" for each in DOCUMENTS), "utf-8")
    code, out, err = run("adapt", plain.path, source, "-o", tmp_path / "new")
    assert (code, err) == (0, "")
    assert f"in {len(DOCUMENTS)} texts" in out
    assert run("link", tmp_path / "new", source)[0] == 0
    code, _, err = run("adapt", plain.path, source, "-o", tmp_path / "new")
    assert code == 1
    assert "exists already" in err
    with source.open("a") as file:
        file.write("not JSON\n")
    code, _, err = run("adapt", plain.path, source, "-o", tmp_path / "new", "--overwrite")
    assert code == 3
    assert "skipped" in err
    source.write_text("", "utf-8")
    code, _, err = run("adapt", plain.path, source, "-o", tmp_path / "none")
    assert code == 1
    assert "no text to learn from" in err
    assert not (tmp_path / "none").exists()

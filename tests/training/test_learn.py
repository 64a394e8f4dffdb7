"""Training with the urn: what documents teach is counted, left out for themselves, and the same on every engine."""

import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.commands import run
from tests.processes import Stopping
from tests.training.conftest import write_lines
from wikilda._core.arrays import EMPTY_RUN, Run, offsets_of, run_of_pairs
from wikilda._core.errors import InputError, SettingsError
from wikilda.documents.encoding import encode
from wikilda.knowledge import Knowledge
from wikilda.knowledge.context_counts import UNIT, ContextCounts, TopicTypes, text_digest, topic_types
from wikilda.linking import Document, Linker
from wikilda.model import Model
from wikilda.model.model import BASE, CONTEXTS, EXPECTED, MENTIONS, NIL, URN, NilCounts
from wikilda.model.weights import pooled
from wikilda.sample import texts
from wikilda.text.characters import characters
from wikilda.text.contexts import Contexts
from wikilda.text.offsets import Spans
from wikilda.text.tokens import as_bytes, tokenize
from wikilda.training import checkpoints
from wikilda.training.checkpoints import read_metrics
from wikilda.training.corpus import make_corpus
from wikilda.training.engines.local import LocalEngine
from wikilda.training.learn import context_counts, learned, next_model, nil_table
from wikilda.training.pipeline import _without_misleading_contexts, train
from wikilda.training.report import TrainingReport
from wikilda.training.settings import TrainingPlan, UrnTraining
from wikilda.urn import Urn, UrnSettings
from wikilda.urn._candidates import Candidates, gather, leave_out
from wikilda.urn.context_evidence import context_evidence
from wikilda.urn.statistics import Taught, nil_counts, nil_evidence, taught_by

QUICK = UrnTraining(held_out=0.1, evaluated=3, particles=2, prior_weight=1.0)
PLAN = TrainingPlan(iterations=2, shards=3)
DOCUMENTS = [
    Document(each["text"], [(mention["start"], mention["end"]) for mention in each["mentions"]], each["id"])
    for each in texts()
]


@pytest.fixture
def contexts_of_texts() -> Iterator[None]:
    """Training counts the contexts of texts, as if those of the wiki's links had not been counted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Knowledge, "context_counts", property(lambda _: None))
        yield


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows: list[object] = [{"id": each.id, "text": each.text, "mentions": each.spans} for each in DOCUMENTS]
    return write_lines(tmp_path_factory.mktemp("texts") / "texts.jsonl", rows)


@pytest.fixture(scope="module")
def whole(model: Path, lines: Path, tmp_path_factory: pytest.TempPathFactory) -> Model:
    """The model that comes out when nothing happens."""
    return train(model, lines, tmp_path_factory.mktemp("whole") / "model", QUICK, PLAN, engine=LocalEngine(1))


def test_a_trained_model_knows_contexts_and_links(whole: Model, model: Path) -> None:
    plain = Model.open(model)
    assert (plain.method, whole.method, whole.iteration) == ("", URN, 2)
    assert plain.contexts is not None, "what is next to the wiki's own links"
    assert whole.contexts is not None
    assert len(plain.contexts.texts) == 0 < len(whole.contexts.texts)
    assert whole.contexts.total == pytest.approx(plain.contexts.total), "they stay as they are"
    assert np.array_equal(whole.words.values, plain.words.values)
    assert whole.mentions.values.sum(dtype=float) > plain.mentions.values.sum(dtype=float) + 1
    text = Document("Croft bowled to England and the spinner took a wicket at The Oval, and Wasim Akram.", None, "new")
    before, after = (Linker.open(each.path) for each in (plain, whole))
    assert before.infer(text).rows.posterior.tolist() != after.infer(text).rows.posterior.tolist()
    for mention in after.explain(text, candidates=2).mentions:
        if len(mention.candidates) == 2:
            best, other = mention.candidates
            assert best.odds.total == pytest.approx(math.log(best.probability / other.probability))
            assert best.odds.context == -other.odds.context


def test_a_model_is_not_read_by_the_other_method(whole: Model) -> None:
    with pytest.raises(SettingsError, match="was trained for the method urn"):
        Linker.open(whole.path, method="lda")


def test_likelihood_is_recorded(whole: Model) -> None:
    rows = read_metrics(whole.path)
    assert [row.iteration for row in rows] == [0, 1, 2]
    assert [row.train for row in rows] == [None] * 3
    assert rows[0].held_out is not None
    assert rows[0].held_out > 0.0, "the wiki's links say something already"
    assert rows[1].held_out is not None
    assert 0 <= rows[2].changed < 0.5  # type: ignore[operator]


def test_two_workers_other_shards_and_groups_give_the_same_model(
    whole: Model, model: Path, lines: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts are whole numbers and documents are independent: not even the number of shards matters."""
    engine = LocalEngine(2)
    try:
        two = train(model, lines, tmp_path / "two", QUICK, PLAN, engine=engine)
    finally:
        engine.close()
    monkeypatch.setattr(checkpoints, "_LEAST_GROUP", 2)
    five = train(model, lines, tmp_path / "five", QUICK, TrainingPlan(2, 5), engine=LocalEngine(1))
    assert two.identity == whole.identity == five.identity


def test_interrupted_it_resumes(
    whole: Model, model: Path, lines: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wikilda.training import methods, pipeline
    from wikilda.training.engines import local

    target = tmp_path / "m"
    for where, name, after in ((methods, "sample_urn_shard", 4), (local, "next_model", 1), (pipeline, "_finish", 0)):
        with monkeypatch.context() as patched:
            Stopping(patched, where, name, after if name != "next_model" else 0)
            with pytest.raises(KeyboardInterrupt):
                train(model, lines, target, QUICK, PLAN, engine=LocalEngine(1))
        assert not target.exists()
    assert train(model, lines, target, QUICK, PLAN, engine=LocalEngine(1)).identity == whole.identity
    assert sorted(each.name for each in tmp_path.iterdir()) == ["m"]


@pytest.mark.usefixtures("contexts_of_texts")
def test_corpora_add_up_and_no_text_counts_twice(model: Path, whole: Model, lines: Path, tmp_path: Path) -> None:
    alone = replace(QUICK, held_out=0.0, evaluated=0)
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    halves = [write_lines(tmp_path / f"{at}.jsonl", rows[at::2]) for at in range(2)]
    first = train(model, halves[0], tmp_path / "first", alone, TrainingPlan(1, 1), engine=LocalEngine(1))
    both = train(
        first.path, [halves[0], halves[1]], tmp_path / "both", alone, TrainingPlan(1, 1), engine=LocalEngine(1)
    )
    assert first.contexts is not None
    assert both.contexts is not None
    wiki = Model.open(model).contexts
    assert wiki is not None
    assert both.contexts.total - wiki.total > 1.2 * (first.contexts.total - wiki.total) > 0
    assert len(both.contexts.texts) == len(rows)
    with pytest.raises(InputError, match="before"):
        train(first.path, halves[0], tmp_path / "again", alone, TrainingPlan(1, 1), engine=LocalEngine(1))


def test_copies_of_a_text_count_once(sample: Knowledge, model: Path, tmp_path: Path) -> None:
    text = DOCUMENTS[0].text
    many = write_lines(tmp_path / "many.jsonl", [{"id": str(n), "text": text} for n in range(50)])
    corpus = make_corpus([many], sample.path, tmp_path / "corpus", workers=1)
    assert (corpus.documents, corpus.summary["copies of other documents"]) == (1, 49)
    alone = replace(QUICK, held_out=0.0, evaluated=0)
    made = train(model, corpus.path, tmp_path / "m", alone, TrainingPlan(1, 1), engine=LocalEngine(1))
    before, after = Linker.open(model), Linker.open(made.path)
    found = [[each.entity for each in linker.link(Document(text, None, "x")).mentions] for linker in (before, after)]
    assert found[0] == found[1], "alone, a text teaches itself nothing"


def test_a_schedule_mixes_old_and_new(tmp_path: Path) -> None:
    def runs(count: int) -> dict[str, list[object]]:
        return {"mentions": [run_of_pairs(np.array([3]), np.array([7], np.uint32), np.array([count]))]}

    learned(tmp_path / "1", None, runs(100), 1.0)  # type: ignore[arg-type]
    made = learned(tmp_path / "2", tmp_path / "1", runs(200), 0.25)  # type: ignore[arg-type]
    assert made["mentions"].sweeps.tolist() == [125]


def number(word: str) -> int:
    """The number of a word, from its hash."""
    data = as_bytes(word)
    hashes, places = np.empty(len(data), np.uint64), np.empty((2, len(data)), np.int64)
    assert tokenize(data, 0, len(data), characters(), hashes, places[0], places[1]) == 1
    return int(hashes[0] >> np.uint64(42))


def outside(sentence: str) -> str:
    """A sentence without its parentheses."""
    kept, depth = "", 0
    for each in sentence:
        depth += each == "("
        kept += each if depth == 0 else " "
        depth -= each == ")" and depth > 0
    return kept


def test_kinds_are_told_by_titles_and_first_words(sample: Knowledge) -> None:
    kinds = topic_types(sample.titles, sample.sentences)
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


def around_of(rows: list[list[int]]) -> Contexts:
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    return Contexts(offsets, np.array([symbol for row in rows for symbol in row], np.uint64))


# Topics 0 and 1 have type words 1 and 2, and 2; the third has none.
TYPES = TopicTypes(np.array([0, 2, 3, 3]), np.array([1, 2, 2], np.uint32), np.array([10, 11, 12], np.uint32))


def counted(sample: Knowledge, pairs: dict[tuple[int, int], int], chances: dict[tuple[int, int], int]) -> ContextCounts:
    old = context_counts(None, sample, EMPTY_RUN, EMPTY_RUN, np.empty(0, np.uint64))._replace(
        types=TYPES, totals=np.zeros(3)
    )
    return context_counts(old, sample, _run(pairs), _run(chances), np.array([5], np.uint64))


def _run(pairs: dict[tuple[int, int], int]) -> Run:
    symbols, topics = np.array([each // 2 for each, _ in pairs]), np.array([each for _, each in pairs], np.uint32)
    return run_of_pairs(symbols, topics, np.array(list(pairs.values())))


def _by_words(pairs: dict[tuple[int, int], int]) -> dict[tuple[int, int], float]:
    naive: dict[tuple[int, int], float] = defaultdict(float)
    for (symbol, topic), count in pairs.items():
        words = TYPES.words[TYPES.offsets[topic] : TYPES.offsets[topic + 1]].tolist()
        for word in words:
            naive[symbol, word] += count / UNIT / len(words)
    return naive


def test_evidence_is_that_of_the_formula(sample: Knowledge) -> None:
    rng = random.Random(3)
    pairs = {(symbol, topic): rng.randint(2, 9) * UNIT for symbol in range(100, 116, 2) for topic in range(3)}
    chances = {(symbol, topic): rng.randint(1, 9) * UNIT for symbol in range(104, 120, 2) for topic in range(3)}
    known = counted(sample, pairs, chances)
    naive, expected = _by_words(pairs), _by_words(chances)
    assert {(c, d): n for c, row in _rows(known).items() for d, n in row.items()} == pytest.approx(naive)
    total = sum(naive.values())
    by_symbol, by_word = defaultdict(float), defaultdict(float)
    for (symbol, word), count in naive.items():
        by_symbol[symbol] += count
        by_word[word] += count
    around, topics = around_of([[100, 104, 998], [110], []]), np.array([0, 1, 2, 1, 0, 0], np.uint32)
    candidates = Candidates(
        np.arange(3, dtype=np.uint32), np.array([0, 3, 5, 6]), topics.astype(np.int32), np.ones(6), np.ones(3)
    )
    found = context_evidence(around, np.arange(3), np.arange(3), candidates, known, known.total)
    seen = [[100, 104], [100, 104], [100, 104], [110], [110], []]
    for at, (topic, symbols) in enumerate(zip(topics.tolist(), seen, strict=True)):
        words = TYPES.words[TYPES.offsets[topic] : TYPES.offsets[topic + 1]].tolist()
        wanted = 0.0
        for symbol in symbols if words else []:
            for word in words:
                chance = by_symbol[symbol] * by_word[word] / total + 0.3
                ratio = (naive[symbol, word] + 0.3) / math.sqrt(chance * (expected[symbol, word] + 0.3))
                wanted += math.log(ratio) / len(words)
        assert found[at] == pytest.approx(wanted, rel=1e-5, abs=1e-7)


def test_more_counts_are_added_to_those_there_are(sample: Knowledge) -> None:
    pairs = {(100, 0): 3 * UNIT, (104, 1): 2 * UNIT, (102, 0): 4 * UNIT}
    once = counted(sample, pairs, {(100, 1): UNIT, (98, 1): UNIT})
    run = run_of_pairs(np.array([50, 53]), np.array([1, 1], np.uint32), np.array([UNIT, 3 * UNIT]))
    twice = context_counts(once, sample, run, _run({(100, 0): UNIT}), np.array([6], np.uint64))
    assert once.expected.tolist() == [0.0, 1.0, 0.0, 0.0], "of symbols that have counts"
    assert twice.expected.tolist() == [0.5, 1.5, 0.0, 0.0, 0.0]
    assert _rows(once) == {100: {1: 1.5, 2: 1.5}, 102: {1: 2.0, 2: 2.0}}, "what was met twice is left out"
    assert _rows(twice) == {100: {1: 1.5, 2: 2.5}, 102: {1: 2.0, 2: 2.0}, 106: {2: 3.0}}
    assert twice.texts.tolist() == [5, 6]
    assert twice.totals.tolist() == [0.0, 3.5, 7.5]


def _rows(known: ContextCounts) -> dict[int, dict[int, float]]:
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


@pytest.mark.usefixtures("contexts_of_texts")
def test_a_document_is_drawn_without_what_it_has_taught(
    whole: Model, model: Path, sample: Knowledge, tmp_path: Path
) -> None:
    """Leave-one-out: a model of all texts, without those of one, draws it as a model of the others does."""
    alone = replace(QUICK, held_out=0.0, evaluated=0, prior_shift=False)  # each corpus would have its own
    rows: list[dict[str, object]] = [{"id": each.id, "text": each.text, "mentions": each.spans} for each in DOCUMENTS]
    every = train(
        model,
        write_lines(tmp_path / "a", list(rows)).rename(tmp_path / "a.jsonl"),
        tmp_path / "all",
        alone,
        engine=LocalEngine(1),
    )
    for left_out in (0, 4):
        some = write_lines(tmp_path / "some.jsonl", [*rows[:left_out], *rows[left_out + 1 :]])
        others = train(model, some, tmp_path / f"others{left_out}", alone, engine=LocalEngine(1))
        document = encode(DOCUMENTS[left_out], sample, contexts=True)
        plain = Urn(Model.open(model), sample, alone.urn())
        key = make_key(DOCUMENTS[left_out].id)
        ends = offsets_of([len(each) for each in document.strings]).tolist()
        shown = replace(document, text="".join(document.strings), spans=list(pairwise(ends)), id=key)
        drawn = plain.draw_without(shown, None)  # a corpus has no text around mentions
        symbols = np.asarray(document.mentions, np.int64)
        own = taught_by(drawn)
        assert others.contexts is not None
        assert every.contexts is not None
        rest = _without(every.contexts, document.contexts, own)
        assert others.nil is not None
        assert every.nil is not None
        mine = nil_counts(symbols, own.nil)
        for all_, its, rest_of in zip(every.nil.of(symbols), mine.of(symbols), others.nil.of(symbols), strict=True):
            np.testing.assert_allclose(all_ - its, rest_of, atol=1e-5)
        assert mine.nil.max() > 0.01
        wanted, found = _rows(others.contexts), _rows(rest)
        assert found
        chances = [_rows(each._replace(counts=each.expected)) for each in (others.contexts, rest)]
        for symbol in found.keys() & wanted.keys():
            for word, chance in chances[1][symbol].items():
                assert chance == pytest.approx(chances[0][symbol].get(word, 0.0), abs=1e-4)
        for symbol, row in found.items():
            for word, count in row.items():
                assert count == pytest.approx(wanted.get(symbol, {}).get(word, 0.0), abs=1e-4) or symbol not in wanted
        candidates = Candidates(
            drawn.topics, drawn.offsets, np.arange(len(drawn.topics), dtype=np.int32), np.ones(len(drawn.topics)),
            np.ones(len(symbols)),
        )  # fmt: skip
        mentions = document.contexts, np.arange(len(symbols)), np.arange(len(symbols)), candidates
        left, by_rest = (
            context_evidence(*mentions, known, every.contexts.total, *more)
            for known, more in ((every.contexts, [own]), (rest, []))
        )
        np.testing.assert_allclose(left, by_rest, atol=1e-4)
        assert not np.allclose(left, context_evidence(*mentions, every.contexts, every.contexts.total), atol=1e-2)


def _without(known: ContextCounts, contexts: Contexts, own: Taught) -> ContextCounts:
    """The counts without what a document has counted."""
    counts, expected, sums = (np.array(each, np.float64) for each in (known.counts, known.expected, known.sums))
    rows = {int(key): int(n) for key, n in zip(known.symbols.keys, known.symbols.values, strict=True) if key}
    for mention, topic, share, prior in zip(own.mentions, own.topics, own.shares, own.prior, strict=True):
        words = known.types.words[known.types.offsets[topic] : known.types.offsets[topic + 1]]
        for symbol in contexts.symbols[contexts.offsets[mention] : contexts.offsets[mention + 1]].tolist():
            if symbol not in rows or not len(words):
                continue
            row = rows[symbol]
            start, end = known.offsets[row], known.offsets[row + 1]
            places = start + np.searchsorted(known.words[start:end], words)
            counts[places] -= share / UNIT / len(words)
            expected[places] -= prior / UNIT / len(words)
            sums[row] -= share / UNIT
    counts, expected = (np.maximum(each, 0.0).astype(np.float32) for each in (counts, expected))
    return known._replace(counts=counts, expected=expected, sums=np.maximum(sums, 0.0))


def test_strings_that_texts_have_as_nil_are_nil() -> None:
    """Against the formula, with and without a document's own part, and for strings that were never met."""
    known = NilCounts(np.array([2, 5, 9]), np.array([6.5, 0.25, 30], np.float32), np.array([8, 40, 30], np.float32))
    mine = Taught(*[np.empty(0, np.uint32)] * 5, nil=np.array([UNIT, UNIT // 2, 0], np.uint32))  # type: ignore[arg-type]
    own = nil_counts(np.array([2, 2, 5]), mine.nil)
    assert (own.symbols.tolist(), own.nil.tolist(), own.texts.tolist()) == ([2, 5], [0.75, 0.0], [1.0, 1.0])
    share = (6.5 + 0.25 + 30 + 1) / (78 + 2)
    assert known.share == pytest.approx(share)
    symbols = np.array([1, 2, 5, 9, 12])
    for left_out, counts in (
        (None, [(0, 0), (6.5, 8), (0.25, 40), (30, 30), (0, 0)]),
        (own, [(0, 0), (5.75, 7), (0.25, 39), (30, 30), (0, 0)]),
    ):
        odds = [math.log((nil + 10 * share) / (texts - nil + 10 * (1 - share))) for nil, texts in counts]
        wanted = [min(max(each - math.log(share / (1 - share)), -3.0), 3.0) for each in odds]
        found = nil_evidence(symbols, known, known.share, left_out)
        assert found.tolist() == pytest.approx(wanted, abs=1e-6)
        assert found[2] < found[0] == 0.0 < found[1]


def test_counts_of_nil_add_up(sample: Knowledge, model: Path, lines: Path, whole: Model) -> None:
    """Every text has a string once; what a model has learned before is kept."""
    assert whole.nil is not None
    texts_of: Counter[int] = Counter()
    assert whole.contexts is not None
    known = whole.contexts.among(np.array([text_digest(each.text) for each in DOCUMENTS]))
    trained = [each for each, learned_from in zip(DOCUMENTS, known, strict=True) if learned_from]
    for each in trained:
        texts_of.update({int(symbol) for symbol in encode(each, sample).mentions if symbol >= 0})
    assert dict(zip(whole.nil.symbols.tolist(), whole.nil.texts.tolist(), strict=True)) == texts_of
    assert (whole.nil.nil <= whole.nil.texts).all()
    more = run_of_pairs(np.array([3, 3]), np.array([0, 1], np.uint32), np.array([UNIT // 2, UNIT]))
    before, after = (each.of(np.array([3, 4])) for each in (whole.nil, nil_table(whole.nil, more)))
    np.testing.assert_allclose(np.subtract(after, before), [[0.5, 0.0], [1.0, 0.0]], atol=1e-6)


@pytest.mark.usefixtures("contexts_of_texts")
def test_contexts_that_predict_worse_than_frequency_have_no_weight(whole: Model, model: Path, tmp_path: Path) -> None:
    knowledge = Model.open(model).knowledge().path
    good, bad = (replace(read_metrics(whole.path)[-1], held_out=each) for each in (0.1, -0.1))
    assert _without_misleading_contexts(whole, good, knowledge, tmp_path) is whole
    found = _without_misleading_contexts(whole, bad, knowledge, tmp_path)
    assert found.weights is not None
    assert (found.weights.context, found.weights.repeats) == (0.0, 0.0)
    assert (found.iteration, found.method) == (whole.iteration, whole.method)
    assert np.array_equal(found.mentions.values, whole.mentions.values)


def test_parameters_count_the_posterior_and_the_base_measure_its_share(whole: Model, model: Path) -> None:
    """Of every mention the base has a part: λ̂ grows by more than the urn's base measure."""
    before = Model.open(model)
    assert before.base is before.mentions
    for table in (whole.base, whole.mentions):
        assert np.array_equal(table.offsets, before.mentions.offsets)
        assert np.array_equal(table.topics, before.mentions.topics)
    start, seen, own = (
        each.sum(dtype=float) for each in (before.base.values, whole.mentions.values, whole.base.values)
    )
    grown = (seen - start) / 5  # the mentions that were counted
    assert start + 0.1 < own < start + grown - 0.1


def test_what_texts_show_counts_five_times_in_parameters_and_once_in_the_base_measure(
    sample: Knowledge, model: Path, tmp_path: Path
) -> None:
    first, symbol = Model.open(model), sample.find_mention("croft")
    known = first.mentions.row(symbol)[0]
    never = np.setdiff1d(np.arange(first.topics, dtype=np.uint32), known)[:1]  # a string keeps its topics
    seen = run_of_pairs(np.array([symbol, symbol]), np.append(known[:1], never), np.array([UNIT // 2, 9 * UNIT]))
    none = run_of_pairs(np.empty(0, np.int64), known[:0], np.empty(0, np.int64))
    counts = {MENTIONS: seen, BASE: seen, CONTEXTS: none, NIL: none, EXPECTED: none}
    made = next_model(first, sample, counts, np.empty(0, np.uint64), tmp_path / "made" / "model", iteration=1)
    for now, times in ((made.mentions, 5), (made.base, 1)):
        assert np.array_equal(now.row(symbol)[0], known)
        grown = now.row(symbol)[1] - first.mentions.row(symbol)[1]
        np.testing.assert_allclose(grown, [0.5 * times] + [0.0] * (len(grown) - 1), atol=1e-5)


def test_texts_at_most_double_a_parameter_of_the_prior(sample: Knowledge, model: Path, tmp_path: Path) -> None:
    """However often they have a string, its odds change by a factor of two at most."""
    first, symbol = Model.open(model), sample.find_mention("croft")
    known, values = first.base.row(symbol)
    assert len(known) > 2
    order = np.argsort(values)
    seen = run_of_pairs(np.array([symbol] * 2), known[order[[0, -1]]], np.array([1000 * UNIT, UNIT]))
    none = run_of_pairs(np.empty(0, np.int64), known[:0], np.empty(0, np.int64))
    counts = {MENTIONS: none, BASE: seen, CONTEXTS: none, NIL: none, EXPECTED: none}
    for weight in (1.0, 3.0):
        made = next_model(
            first, sample, counts, np.empty(0, np.uint64), tmp_path / f"{weight}" / "model", iteration=1,
            prior_weight=weight,
        )  # fmt: skip
        wanted = weight * values
        wanted[order[0]] *= 2
        wanted[order[-1]] += weight * values.sum(dtype=float) / 1001  # scaled to what the wiki says of the string
        np.testing.assert_allclose(made.base.row(symbol)[1], wanted, atol=1e-3)


def test_a_topic_counts_ten_times_next_to_a_context_symbol(sample: Knowledge) -> None:
    found = counted(sample, {(100, 0): 1000 * UNIT, (100, 1): 4 * UNIT}, {(100, 1): 500 * UNIT})
    assert _rows(found) == {100: {1: 5.0, 2: 9.0}}
    assert found.expected.tolist() == [0.0, 10.0]


def test_training_keeps_the_weights(sample: Knowledge, model: Path, lines: Path, tmp_path: Path) -> None:
    """Weights are learned from the wiki's links; texts add counts. A model without weights has the pooled ones."""
    weights = replace(pooled(), words=0.125, nil_constant=-1.5)
    with Model.open(model).derive(tmp_path / "weighted") as writer:
        writer.weights(weights)
        weighted = writer.derived(knowledge={"identity": sample.identity, "path": str(sample.path)})
    made = train(weighted.path, lines, tmp_path / "made", QUICK, TrainingPlan(1, 1), engine=LocalEngine(1))
    assert made.contexts is not None
    assert made.weights is not None
    assert made.weights == replace(
        weights, naming_shift=made.weights.naming_shift, popularity_shift=made.weights.popularity_shift
    )
    assert Linker.open(made.path).method.urn.weights == made.weights


def make_key(name: str) -> int:
    from wikilda.training.corpus._build import key_of

    return key_of(name)


def test_priors_without_own_counts_are_those_before(whole: Model, model: Path, sample: Knowledge) -> None:
    before, symbols = Model.open(model), np.array([sample.find_mention("croft"), sample.find_mention("england")])
    symbols.sort()
    (old, _) = gather(symbols, before.mentions, 64)
    topics, values = before.mentions.row(int(symbols[0]))
    values[0] += 0.5  # a copy-on-write view: the file stays as it is
    try:
        new, totals = gather(symbols, before.mentions, 64)
    finally:
        values[0] -= 0.5
    counts = np.array([UNIT // 2], np.uint32)
    own = Taught(np.array([0, 1]), topics[:1], counts, counts, counts, np.zeros(1, np.uint32))
    assert new.priors.tolist() != pytest.approx(old.priors.tolist())
    leave_out(new, totals, symbols, symbols[:1], own.offsets, own.topics, own.base / UNIT)
    assert new.priors.tolist() == pytest.approx(old.priors.tolist())


def test_of_own_counts_that_the_limit_has_cut_at_most_half_is_left_out(model: Path, sample: Knowledge) -> None:
    table, symbols = Model.open(model).mentions, np.array([sample.find_mention("croft")])
    found, totals = gather(symbols, table, 64)
    rest, values = found._replace(priors=found.priors.copy()), found.priors * totals[0]
    topics = np.repeat(found.topics[:1], 2)  # of two mentions
    leave_out(rest, totals, symbols, np.repeat(symbols, 2), np.array([0, 1, 2]), topics, np.array([0.4, 1000.0]))
    values[0] /= 2
    assert rest.priors.tolist() == pytest.approx((values / values.sum()).tolist())


def test_expected_counts_are_by_what_strings_mean_elsewhere(model: Path, sample: Knowledge) -> None:
    document, table = encode(DOCUMENTS[0], sample), Model.open(model).mentions
    urn = Urn(Model.open(model), sample, UrnSettings(backoff_candidates=0))
    drawn = urn.draw(document)
    named, famed = urn.weights.naming, urn.weights.popularity
    compared = 0
    for number, symbol in enumerate(np.asarray(document.mentions).tolist()):
        if symbol >= 0:
            topics, values = table.row(symbol)
            span = slice(drawn.offsets[number], drawn.offsets[number + 1])
            shares, fame = values / values.sum(), urn.model.popularity[topics]
            prior = (shares / fame) ** named * fame**famed
            assert drawn.topics[span].tolist() == topics.tolist()
            assert drawn.links_prior()[span] == pytest.approx(shares, abs=1e-6)
            assert drawn.priors()[span] == pytest.approx(prior / prior.sum(), abs=1e-5)
            compared += len(topics) > 1
    assert compared
    taught = taught_by(drawn)
    whole = np.bincount(taught.mentions, taught.prior, len(drawn.nil))
    assert whole / UNIT == pytest.approx((1 - drawn.nil) * (np.diff(drawn.offsets) > 0), abs=0.05)


def test_the_command(model: Path, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "texts.jsonl", [{"text": each.text} for each in DOCUMENTS])
    code, out, err = run("train", model, source, "-o", tmp_path / "new", "--set=evaluated=2", "--workers=1")
    report = TrainingReport.read(tmp_path / "new")
    assert code == 0
    assert err == "".join(f"wikilda: {each}\n" for each in report.warnings)
    assert "held out" in out
    assert report.summary in out
    assert str(tmp_path / "new" / "training-report.html") in out
    assert run("link", tmp_path / "new", source)[0] == 0
    code, _, err = run("train", model, source, "-o", tmp_path / "new", "--workers=1")
    assert code == 1
    assert "exists already" in err
    code, _, err = run("train", model, source, "-o", tmp_path / "x", "--set=rho_local=0.1")
    assert code == 1
    assert "rho_local is a setting of the method lda, not of urn" in err
    source.write_text("", "utf-8")
    code, _, err = run("train", model, source, "-o", tmp_path / "none", "--workers=1")
    assert code == 1
    assert "no document" in err
    assert not (tmp_path / "none").exists()

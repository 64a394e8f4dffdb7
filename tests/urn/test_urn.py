"""Whole documents, with the model of the sample wiki."""

import re
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from tests.urn import reference
from tests.urn.reference import MeanField, Mention
from wikilda._core.arrays import lookup
from wikilda._core.errors import SettingsError
from wikilda._core.jit import DISABLED
from wikilda.documents.detection.framing import capitalised, titled, words_before
from wikilda.documents.document import Document
from wikilda.documents.encoding import EncodedDocument, encode
from wikilda.knowledge import Knowledge
from wikilda.knowledge.types import TYPES
from wikilda.model import Model, create_model
from wikilda.model.model import Parameters
from wikilda.sample import texts
from wikilda.text.characters import characters
from wikilda.text.folding import folds
from wikilda.text.tokens import FLAGS, Strings, token_hashes
from wikilda.urn import Drawn, Urn, UrnSettings
from wikilda.urn._coreference import Parents, folded, names_of, parents_of
from wikilda.urn._draw import LINK, SHARED_NEIGHBOUR
from wikilda.urn._word_evidence import OVERLAP
from wikilda.urn.urn import ALONE, COREFERENCE, NEAR, REACH, REPEATS

SHORT = UrnSettings(backoff_candidates=0)
Answers = list[tuple[list[int], list[float]]]


@pytest.fixture(scope="module")
def model(sample: Knowledge, tmp_path_factory: pytest.TempPathFactory) -> Model:
    target = tmp_path_factory.mktemp("urn") / "model"
    create_model(sample, target)
    return Model.open(target)


@pytest.fixture(scope="module")
def urn(model: Model, sample: Knowledge) -> Urn:
    return Urn(model, sample, SHORT)


@pytest.fixture(scope="module")
def documents(sample: Knowledge) -> list[EncodedDocument]:
    return [_document(each["text"], each["id"], sample) for each in texts()[:6]]


def _document(text: str, name: str, knowledge: Knowledge) -> EncodedDocument:
    """Every word that begins with a capital is a mention, known or not."""
    spans = [match.span() for match in re.finditer(r"[A-Z]\w+", text)]
    return encode(Document(text, spans, name), knowledge)


def encoded(words: ArrayLike, mentions: ArrayLike, positions: ArrayLike, strings: list[str]) -> EncodedDocument:
    ends = np.cumsum([len(each) for each in strings], dtype=np.int64)
    spans = [(int(end) - len(each), int(end)) for each, end in zip(strings, ends, strict=True)]
    return EncodedDocument(words, mentions, 0, positions, None, "".join(strings), spans)


def answers(drawn: Drawn, mentions: int) -> Answers:
    return [(topics.tolist(), shares.tolist()) for topics, shares in map(drawn.mention, range(mentions))]


def rows_of(table: Parameters) -> list[reference.Row]:
    found = [table.row(symbol) for symbol in range(table.symbols)]
    return [list(zip(topics.tolist(), values.tolist(), strict=True)) for topics, values in found]


def shares_of_capitals(knowledge: Knowledge) -> dict[str, int]:
    """How often articles write words with a capital, in 255ths."""
    words = {word for title in knowledge.titles for word in re.findall(r"\w+", title.lower())}
    numbers = {each: lookup(knowledge.word_cases.table, token_hashes(each)[0] & ~FLAGS) for each in words}
    return {each: int(knowledge.word_cases.capital[number]) for each, number in numbers.items() if number >= 0}


def expected_answers(document: EncodedDocument, urn: Urn) -> tuple[list[dict[int, float]], list[float]]:
    """The formula, from the knowledge and the model on; and how probable it is that mentions mean nothing."""
    s, w, graph, titles = urn.settings, urn.weights, urn.knowledge.graph, urn.knowledge.titles
    topics = urn.model.topics
    out_links = [set(graph.out_topics[graph.out_offsets[k] : graph.out_offsets[k + 1]].tolist()) for k in range(topics)]
    in_links = [set(graph.in_topics[graph.in_offsets[k] : graph.in_offsets[k + 1]].tolist()) for k in range(topics)]
    symbols = np.asarray(document.mentions).tolist()
    mention_rows, word_rows = urn.model.mentions, rows_of(urn.model.words)
    priors = []
    for symbol in symbols:
        row = list(zip(*(part.tolist() for part in mention_rows.row(symbol)), strict=True)) if symbol >= 0 else []
        priors.append(reference.candidates(row, s.max_candidates))
    near = {
        k: reference.neighbours(out_links, in_links, k, s.max_neighbours) for k in {k for row in priors for k in row}
    }
    words = [word for word in np.asarray(document.words).tolist() if word >= 0]
    fit = dict(zip(near, reference.evidence(words, word_rows, near, topics, OVERLAP), strict=True))
    places = np.asarray(document.positions).tolist()
    order = np.argsort(places, kind="stable").tolist()
    lowered = [string.casefold() for string in document.strings]
    names = sorted(set(lowered))
    first = {lowered[at]: document.strings[at] for at in reversed(order)}
    rows, far = np.array([names.index(lowered[at]) for at in order], np.int64), 1 << 20
    distinct = names_of(Strings.of([first[each] for each in names]), characters(), folds())
    parents = parents_of(distinct, rows, far * np.arange(len(rows)))
    drawn_as = expected_antecedents(urn, document, order, lowered, first, symbols, priors, parents)
    before, cases = words_before(document.text, document.spans), shares_of_capitals(urn.knowledge)
    capitals = capitalised(document.strings, before, "en")
    mentions = []
    for token, place in enumerate(order):
        at = lowered.index(drawn_as[token])
        kinds = {k: reference.names(first[lowered[at]], titles[k]) for k in priors[at]}
        any_same, several = any(kind & reference.SAME for kind in kinds.values()), " " in first[lowered[at]]
        logs, others, against = [], [], []
        for k, prior in priors[at].items():
            popular, kind = float(np.log(urn.model.popularity[k])), kinds[k]
            same, unlike = bool(kind & reference.SAME), bool(kind & reference.UNLIKE)
            naming = w.naming * w.naming_shift * (np.log(prior) - popular)
            logs.append(float(naming + w.popularity * w.popularity_shift * popular))
            title = w.title * same + w.mismatch * (any_same and unlike and not same)
            capital = float(np.log(reference.capital_chance(titles[k], cases))) if capitals[place] else 0.0
            others.append(w.words * 10.0 * fit[k] + title + capital)
            against.append((w.nil_title + w.nil_full_title * several) * same + w.nil_mismatch * unlike
                           + w.nil_part * bool(kind & reference.PART) - capital)  # fmt: skip
        whole = float(np.logaddexp.reduce(logs)) if logs else 0.0
        counts = urn.knowledge.mentions.row(symbols[at])[1] if symbols[at] >= 0 else np.empty(0)
        chance = min((0.5 + 0.5 * len(counts)) / (0.5 + float(counts.sum())), 1.0)
        nil = w.nil_constant + w.nil_new_meaning * float(np.log(chance))
        span = slice(parents.offsets[token], parents.offsets[token + 1])
        own = [column[span].tolist() for column in parents[1:]]
        scores = [log - whole + other for log, other in zip(logs, others, strict=True)]
        mentions.append(Mention(
            list(priors[at]), scores, places[place], nil, against, names.index(lowered[at]),
            list(zip(*own, strict=True)),
        ))  # fmt: skip
    related = reference.relatedness(out_links, list(range(topics)), LINK, SHARED_NEIGHBOUR)
    naive = MeanField(
        mentions, related, ALONE, REPEATS, NEAR, REACH, COREFERENCE, w.graph, w.nil_parents, w.nil_same_string,
        w.nil_level, w.nil_fit, w.nil_mentions, w.usual_fit,
    )  # fmt: skip
    found = naive.run(s.tolerance)
    answer: list[dict[int, float]] = [{} for _ in symbols]
    unknown = [1.0] * len(symbols)
    for at, mention, shares, nil in zip(order, mentions, found.shares, found.nil, strict=True):
        answer[at], unknown[at] = dict(zip(mention.topics, shares, strict=True)), nil
    return answer, unknown


def expected_antecedents(
    urn: Urn, document: EncodedDocument, order: list[int], lowered: list[str], first: dict[str, str],
    symbols: list[int], priors: list[dict[int, float]], parents: Parents,
) -> list[str]:  # fmt: skip
    """By token: the string that it is drawn as, in lower case."""
    persons, bodies = (
        dict(zip(TYPES, urn.knowledge.types.shares, strict=True))[each] for each in ("person", "organisation")
    )
    senses = {}
    for at in order:
        topic = max(priors[at], key=lambda k: (priors[at][k], -k), default=-1)
        title = reference.without_note(urn.knowledge.titles[topic]).casefold() if topic >= 0 else ""
        links = float(urn.model.mentions.row(symbols[at])[1].sum()) if symbols[at] >= 0 else 0.0
        senses[lowered[at]] = reference.Sense(
            topic, priors[at].get(topic, 0.0), links, title == lowered[at],
            topic >= 0 and persons[topic] >= 128, topic >= 0 and bodies[topic] >= 128,
        )  # fmt: skip
    tokens = [list(parents.tokens[parents.offsets[t] : parents.offsets[t + 1]]) for t in range(len(order))]
    is_titled = titled(words_before(document.text, document.spans), "en")[order].tolist()
    words = {each: list(folded(first[each])) for each in senses}
    written = {each: first[each] for each in senses}
    found = reference.antecedents(
        [written[lowered[at]] for at in order], tokens, is_titled,
        {written[each]: sense for each, sense in senses.items()}, {written[each]: words[each] for each in senses},
    )  # fmt: skip
    return [each.casefold() for each in found]


def test_the_formula_from_beginning_to_end(urn: Urn, documents: list[EncodedDocument]) -> None:
    assert sum(len(document.strings) for document in documents) > 20
    ambiguous = 0
    for document in documents[: 2 if DISABLED else None]:
        drawn = urn.draw(document)
        found, (answer, nil) = answers(drawn, len(document.strings)), expected_answers(document, urn)
        assert drawn.nil.tolist() == pytest.approx(nil, abs=1e-4)
        for (topics, shares), expected in zip(found, answer, strict=True):
            assert dict(zip(topics, shares, strict=True)) == pytest.approx(expected, abs=1e-4)
            assert shares == sorted(shares, reverse=True)
            ambiguous += len(topics) > 1
    assert ambiguous


def test_the_order_in_which_mentions_are_given_does_not_matter(urn: Urn, documents: list[EncodedDocument]) -> None:
    document = documents[0]
    count = len(document.strings)
    plain = answers(urn.draw(document), count)
    order = np.random.default_rng(0).permutation(count)
    mixed = replace(
        document,
        words=np.random.default_rng(0).permutation(np.asarray(document.words)),
        mentions=np.asarray(document.mentions)[order],
        positions=np.asarray(document.positions)[order],
        spans=[document.spans[at] for at in order],
    )
    assert answers(urn.draw(mixed), count) == [plain[at] for at in order]


def test_mentions_without_candidates_get_none(urn: Urn, documents: list[EncodedDocument]) -> None:
    document = documents[0]
    known = next(symbol for symbol in np.asarray(document.mentions).tolist() if symbol >= 0)
    drawn = urn.draw(encoded([], [-1, known, -5], [0, 1, 2], ["Xyzzy", "known", "Plugh"]))
    first, second, third = answers(drawn, 3)
    assert first == third == ([], [])
    assert drawn.nil[0] == drawn.nil[2] == 1.0 > drawn.nil[1] > 0.0
    assert sum(second[1]) == pytest.approx(1.0)
    assert answers(urn.draw(encoded([], [-1], [0], ["Xyzzy"])), 1) == [([], [])]
    assert len(urn.draw(encoded([], [], [], [])).topics) == 0


@given(st.data())
def test_any_mix_of_known_and_unknown_names_is_drawn_in_parts(urn: Urn, sample: Knowledge, data: st.DataObject) -> None:
    """More unknown names than the model has strings, too: their numbers are negative and unbounded."""
    strings = sample.mention_strings
    known = data.draw(st.lists(st.sampled_from(range(len(strings))), max_size=30))
    unknown = data.draw(st.integers(0, 2 * len(strings)))
    names = [strings[number] for number in known] + [f"Zq{number}x" for number in range(unknown)]
    names = data.draw(st.permutations(names)) if len(names) < 50 else names[::-1]
    most = data.draw(st.integers(1, 200))
    document = _document_of(names, sample)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wikilda.urn.urn._MOST_TOPICS", most)
        drawn = urn.draw(document)
    chosen = [int(mention) for part in drawn.parts for mention in part.chosen]
    assert chosen == list(range(len(names)))
    assert all(len(drawn.mention(at)[0]) == 0 for at, name in enumerate(names) if name.startswith("Zq"))


def test_a_document_of_more_unknown_names_than_the_model_has_strings(model: Model, sample: Knowledge) -> None:
    names = [f"Zq{number}x" for number in range(4 * len(sample.mention_strings))]
    drawn = Urn(model, sample, UrnSettings()).draw(_document_of(names, sample))
    assert len(drawn.parts) > 1
    assert drawn.nil.shape == (len(names),)


def _document_of(names: list[str], knowledge: Knowledge) -> EncodedDocument:
    text, spans = "", []
    for name in names:
        spans.append((len(text), len(text) + len(name)))
        text += name + " "
    return encode(Document(text, spans, "names"), knowledge)


@pytest.mark.parametrize("most", [1, 5, 12])
def test_long_documents_are_drawn_in_parts(
    urn: Urn, documents: list[EncodedDocument], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = documents[0]
    count = len(document.strings)
    whole = urn.draw(document)
    monkeypatch.setattr("wikilda.urn.urn._MOST_TOPICS", most)
    drawn = urn.draw(document)
    assert len(whole.parts) == 1 < len(drawn.parts)
    assert all(
        len(part.topics) <= most or len(set(np.asarray(document.mentions)[part.chosen])) == 1 for part in drawn.parts
    )
    for (topics, shares), (expected, _) in zip(answers(drawn, count), answers(whole, count), strict=True):
        assert sorted(topics) == sorted(expected)
        assert sum(shares) == pytest.approx(1.0 if topics else 0.0)


def test_answers_are_deterministic(model: Model, sample: Knowledge, urn: Urn, documents: list[EncodedDocument]) -> None:
    document = max(documents, key=lambda each: len(each.strings))
    count = len(document.strings)
    first = answers(urn.draw(document), count)
    assert answers(urn.draw(document), count) == first
    assert answers(Urn(model, sample, SHORT).draw(document), count) == first
    assert answers(urn.draw(replace(document, id="another")), count) == first


def test_threads_share_an_urn(urn: Urn, documents: list[EncodedDocument]) -> None:
    many = documents * (1 if DISABLED else 10)
    expected = [answers(urn.draw(document), len(document.strings)) for document in documents]
    with ThreadPoolExecutor(4) as pool:
        found = [answers(drawn, len(each.strings)) for drawn, each in zip(pool.map(urn.draw, many), many, strict=True)]
    assert found == expected * (len(many) // len(documents))


def test_most_bounds_candidates(model: Model, sample: Knowledge, documents: list[EncodedDocument]) -> None:
    few = Urn(model, sample, replace(SHORT, max_candidates=1))
    for document in documents[:2]:
        for topics, shares in answers(few.draw(document), len(document.strings)):
            assert shares == ([1.0] if topics else [])


def test_weights_can_be_replaced(model: Model, sample: Knowledge, documents: list[EncodedDocument]) -> None:
    """With a very low constant nothing is NIL but what has no candidates; without naming, priors are those of fame."""
    never = Urn(model, sample, UrnSettings.from_mapping({"backoff_candidates": 0, "nil_constant": -1000.0}))
    drawn = never.draw(documents[0])
    assert ((drawn.nil == 1.0) == (np.asarray(documents[0].mentions) < 0)).all()
    assert set(drawn.nil.round(6).tolist()) == {0.0, 1.0}
    with pytest.raises(SettingsError, match="unknown weight"):
        Urn(model, sample, UrnSettings(weights=("fame=3",)))


@pytest.mark.skipif(DISABLED, reason="a long document is for the compiler")
@pytest.mark.parametrize("crowded", [False, True])
def test_five_thousand_mentions(urn: Urn, sample: Knowledge, crowded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """R, which tracemalloc does not see, is bounded by the topics of a part; what NumPy allocates is measured."""
    count = 5_000
    strings = sample.mention_strings
    symbols = np.random.default_rng(1).integers(0, len(strings), count)
    most = 256 if crowded else 4096
    monkeypatch.setattr("wikilda.urn.urn._MOST_TOPICS", most)
    words = np.random.default_rng(2).integers(0, urn.model.words.symbols, 50_000)
    document = encoded(words, symbols, np.arange(count) * 10, [strings[at] for at in symbols])
    tracemalloc.start()
    begun = time.process_time()
    drawn = urn.draw(document)
    spent = time.process_time() - begun
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(drawn.parts) > 1) == crowded
    assert max(len(part.topics) for part in drawn.parts) <= most
    assert np.diff(drawn.offsets).min() > 0
    np.testing.assert_allclose(np.add.reduceat(drawn.posterior, drawn.offsets[:-1]), 1.0)
    assert spent < 20
    assert peak < 100e6

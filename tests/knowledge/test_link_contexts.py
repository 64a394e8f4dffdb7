"""What a build counts next to links, against counting in Python."""

import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.wikis import FILLER, page, write_dump
from wikilda.documents.document import Document
from wikilda.documents.encoding import encode
from wikilda.knowledge import BuildSettings, Knowledge, build_from_dump
from wikilda.knowledge import link_contexts as contexts_module
from wikilda.knowledge.context_counts import UNIT
from wikilda.knowledge.held_out import MOST_BYTES, rank
from wikilda.model import create_model
from wikilda.urn.learning import counted_links

TEAMS, TOWNS = [f"Team {n}" for n in range(20)], [f"Town {n}" for n in range(20)]
LINK = re.compile(r"\[\[([^|\]]+)(?:\|([^\]]+))?\]\]")


def wikitexts() -> dict[str, str]:
    """Articles about teams and towns, whose links have contexts of their own; some names are ambiguous."""
    chance, found = random.Random(5), {}
    for title in TEAMS + TOWNS:
        kind = "sports team" if title in TEAMS else "market town"
        sentences = [f"{title} is a {kind} in the north."]
        for _ in range(12):
            team, town = chance.choice(TEAMS), chance.choice(TOWNS)
            name = f"Place {chance.randrange(6)}"
            sentences.append(f"In 1998 [[{team}|{name}]] beat [[{chance.choice(TEAMS)}]] by 2 goals, near [[Nowhere]].")
            sentences.append(f"People live near [[{town}|{name}]], naïvely, and in [[{town}]].")
        found[title] = " ".join(sentences) + "\n\n" + FILLER + " Ünïcode." * chance.choice([0, 900, 1500])
        found[title] += f" Late [[{TEAMS[0]}|Place 0]] beat it."
    return found


def plain(wikitext: str) -> tuple[str, list[tuple[int, int]], list[str]]:
    """The text as it is read, and its links."""
    text, spans, targets, at = "", list[tuple[int, int]](), list[str](), 0
    for found in LINK.finditer(wikitext):
        text += wikitext[at : found.start()]
        spans.append((len(text), len(text) + len(found[2] or found[1])))
        text += found[2] or found[1]
        targets.append(found[1])
        at = found.end()
    return text + wikitext[at:], spans, targets


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    place = tmp_path_factory.mktemp("contexts")
    pages = [page(title, text) for title, text in wikitexts().items()]
    return build_from_dump([write_dump(place / "wiki.xml", pages)], place / "knowledge", BuildSettings())


def naive(knowledge: Knowledge) -> tuple[Counter[tuple[int, int]], Counter[tuple[int, int]]]:
    """Counts and expected counts of pairs of context symbol and type word."""
    known = knowledge.context_counts
    assert known is not None
    titles = list(knowledge.titles)
    counts, expected = Counter[tuple[int, int]](), Counter[tuple[int, int]]()

    def add(into: Counter[tuple[int, int]], symbol: int, topic: int, times: float) -> None:
        words = known.types.words[known.types.offsets[topic] : known.types.offsets[topic + 1]].tolist()
        for word in words:
            into[symbol, word] += times / len(words)

    for title, wikitext in wikitexts().items():
        text, spans, targets = plain(wikitext)
        ends = np.cumsum([len(each.encode()) for each in text])
        kept = [at for at, (_, end) in enumerate(spans) if ends[end - 1] <= MOST_BYTES]
        document = Document(text[: int((ends <= MOST_BYTES).sum())], [spans[at] for at in kept])
        around = encode(document, knowledge, contexts=True).contexts
        for place, at in enumerate(kept):
            if targets[at] not in titles or targets[at] == title:
                continue
            row, meanings = knowledge.mentions.row(knowledge.find_mention(text[slice(*spans[at])]))
            for symbol in around.symbols[around.offsets[place] : around.offsets[place + 1]].tolist():
                add(counts, symbol, titles.index(targets[at]), 1.0)
                for topic, times in zip(row.tolist(), meanings.tolist(), strict=True):
                    add(expected, symbol, topic, round(times / meanings.sum() * UNIT) / UNIT)
    return counts, expected


def test_counts_are_those_of_the_links(built: Knowledge) -> None:
    """Every row has the counts of counting in Python; contexts that are hardly ever met have no row."""
    known = built.context_counts
    assert known is not None
    assert len(known.sums) > 20
    counts, expected = naive(built)
    sums = Counter[int]()
    for (symbol, _), times in counts.items():
        sums[symbol] += times
    assert set(known.keys.tolist()) == {symbol for symbol, times in sums.items() if times >= 2.5}
    for number, symbol in enumerate(known.keys.tolist()):
        row = slice(known.offsets[number], known.offsets[number + 1])
        words = known.words[row].tolist()
        assert set(words) == {word for each, word in counts | expected if each == symbol}
        assert known.counts[row] == pytest.approx([counts[symbol, word] for word in words], rel=1e-5)
        assert known.expected[row] == pytest.approx([expected[symbol, word] for word in words], rel=1e-5)


def test_an_article_can_be_taken_out(built: Knowledge) -> None:
    """What an article has added is what is counted of its links, but for parts of a count."""
    counts = Counter[tuple[int, int]]()
    titles = list(built.titles)
    for title, wikitext in wikitexts().items():
        text, spans, targets = plain(wikitext[: wikitext.index("\n\n")])
        encoded = encode(Document(text, spans), built, contexts=True)
        meant = np.array([titles.index(each) if each in titles and each != title else -1 for each in targets])
        own = counted_links(built, encoded, meant)
        assert encoded.contexts is not None
        assert built.context_counts is not None
        types, around = built.context_counts.types, encoded.contexts
        for mention, topic, share in zip(own.mentions.tolist(), own.topics, own.shares, strict=True):
            words = types.words[types.offsets[topic] : types.offsets[topic + 1]].tolist()
            for symbol in around.symbols[around.offsets[mention] : around.offsets[mention + 1]].tolist():
                for word in words if share else []:
                    counts[symbol, word] += share / UNIT / len(words)
    whole, _ = naive(built)
    late = sum(whole.values()) - sum(counts.values())
    assert 0 < late < 0.05 * sum(whole.values())  # the links of the last sentences
    assert all(counts[pair] <= whole[pair] + 1e-6 for pair in counts)


def test_a_bounded_number_of_articles_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contexts_module, "ARTICLES", 10)
    pages = [page(title, text) for title, text in wikitexts().items()]
    few = build_from_dump([write_dump(tmp_path / "wiki.xml", pages)], tmp_path / "few", BuildSettings())
    known = few.context_counts
    assert known is not None
    assert 0 < known.total < 0.4 * sum(naive(few)[0].values())


def test_a_model_takes_the_counts_of_its_wiki(built: Knowledge, tmp_path: Path) -> None:
    model = create_model(built, tmp_path / "model")
    assert model.contexts is not None
    assert built.context_counts is not None
    assert model.contexts.counts.tolist() == built.context_counts.counts.tolist()
    assert model.contexts.total == built.context_counts.total


def test_ranks_differ() -> None:
    """Articles are chosen by a hash that is not the order of their keys."""
    keys = np.arange(1, 1000, dtype=np.uint64)
    assert len(np.unique(rank(keys))) == len(keys)
    assert not (np.diff(rank(keys).astype(np.float64)) > 0).all()

"""Describe a term of the knowledge as plain values, for `wikilda show` and the API."""

from typing import Any

import numpy as np

from wikilda._core.errors import InputError
from wikilda.knowledge.graph import nearest
from wikilda.knowledge.knowledge import Knowledge, Table


def describe(knowledge: Knowledge, term: str, most: int = 10) -> dict[str, Any]:
    """Describe a term as mention string and topic; a string that is no title shows its most frequent topic."""
    mention, topic = knowledge.find_mention(term), knowledge.find_topic(term)
    found = {}
    if mention >= 0:
        found["mention"] = describe_mention(knowledge, mention, most)
        if topic < 0:
            topic = knowledge.find_topic(found["mention"]["topics"][0]["title"])
    if topic >= 0:
        found["topic"] = describe_topic(knowledge, topic, most)
    if not found:
        near = suggest(knowledge, term, 8)
        hint = f"There are: {', '.join(near)}." if near else "Check the spelling."
        raise InputError(f"{term!r} is neither a title nor a mention in {knowledge.path}. {hint}")
    return found


def describe_mention(knowledge: Knowledge, mention: int, most: int) -> dict[str, Any]:
    """Describe a mention string: its topics with P(k|v), and its link probability."""
    topics, counts = knowledge.mentions.row(mention)
    order = np.lexsort((topics, -counts.astype(np.int64)))[:most]
    total = int(counts.sum())
    return {
        "mention": knowledge.mention_strings[mention],
        "link_probability": knowledge.link_probability(mention),
        "linked": int(knowledge.linked[mention]),
        "occurrences": int(knowledge.occurrences[mention]),
        "ambiguity": len(topics),
        "topics": [
            {"title": knowledge.titles[topics[at]], "probability": int(counts[at]) / total, "count": int(counts[at]),
             "sentence": knowledge.sentences[topics[at]]}
            for at in order
        ],
    }  # fmt: skip


def describe_topic(knowledge: Knowledge, topic: int, most: int) -> dict[str, Any]:
    """Describe a topic: its sentence and types, its strings, words, links and nearest topics."""
    graph = knowledge.graph
    linkers = graph.in_topics[graph.in_offsets[topic] : graph.in_offsets[topic + 1]]
    linked = graph.out_topics[graph.out_offsets[topic] : graph.out_offsets[topic + 1]]
    best = linkers[np.argsort(-np.diff(graph.in_offsets)[linkers], kind="stable")]
    item = int(knowledge.wikidata[topic])
    return {
        "title": knowledge.titles[topic],
        "page_id": int(knowledge.page_ids[topic]),
        "wikidata": f"Q{item}" if item else None,
        "url": knowledge.url(topic),
        "sentence": knowledge.sentences[topic],
        "types": knowledge.types.of(topic),
        "categories": [knowledge.categories.names[each] for each in knowledge.categories.of(topic)],
        "mentions": _symbols(knowledge.mentions, topic, knowledge.mention_strings, most, by_count=True),
        "words": _symbols(knowledge.words, topic, knowledge.word_strings, most, by_count=False),
        "in_links": len(linkers),
        "out_links": len(linked),
        "linked_from": [knowledge.titles[each] for each in best[:most]],
        "nearest": [
            {"title": knowledge.titles[other], "similarity": score} for other, score in nearest(graph, topic, most)
        ],
    }  # fmt: skip


def _symbols(table: Table, topic: int, strings: Any, most: int, *, by_count: bool) -> list[dict[str, Any]]:
    """Return the symbols of a topic, best first: by count, or by P(k|v)."""
    places = np.flatnonzero(table.topics == topic)
    symbols = np.searchsorted(table.offsets, places, "right") - 1
    counts = table.counts[places].astype(np.int64)
    totals = np.array([table.row(symbol)[1].sum() for symbol in symbols], np.int64)
    share = counts / np.maximum(totals, 1)
    score = counts if by_count else counts * share
    order = np.lexsort((symbols, -score))[:most]
    return [{"string": strings[symbols[at]], "count": int(counts[at]), "probability": float(share[at])} for at in order]


def topic_of(knowledge: Knowledge, title: str) -> int:
    """Return the topic of a title or redirect; raise an error with similar titles if there is none."""
    topic = knowledge.find_topic(title)
    if topic < 0:
        near = ", ".join(suggest(knowledge, title, 8))
        raise InputError(f"there is no title {title!r}{'; there are: ' if near else ''}{near}.")
    return topic


def suggest(knowledge: Knowledge, term: str, most: int) -> list[str]:
    """Return titles and mentions that begin like an unknown term."""
    titles = [knowledge.titles[at] for at in knowledge.titles.beginning_with(term[:1].upper() + term[1:], most)]
    lowered = term.lower()
    mentions = [knowledge.mention_strings[at] for at in knowledge.mention_strings.beginning_with(lowered, most)]
    return list(dict.fromkeys(titles + mentions))[:most]

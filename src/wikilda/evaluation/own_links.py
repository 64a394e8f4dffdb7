"""Links of the wiki's own articles as gold, in a model of the rest of the wiki.

Half of the articles that the knowledge keeps with their links are taken out, in memory: out of the counts of names, of
words and of links, and as candidates. So the model is, but for the numbers of its topics, what a build of the other
articles gives. Links to topics that were taken out, and those that lead to no article, are NIL. The weights of the
evidence are learned from the other half.
"""

import copy
import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import offsets_of
from wikilda._core.errors import InputError
from wikilda.documents.document import Document
from wikilda.documents.encoding import encode
from wikilda.evaluation.datasets import Dataset
from wikilda.evaluation.gold import GoldDocument
from wikilda.evaluation.methods import Given
from wikilda.knowledge import Knowledge
from wikilda.knowledge.context_counts import CONTEXTS
from wikilda.knowledge.held_out import RED, Article, articles
from wikilda.knowledge.knowledge import Table
from wikilda.model import Model
from wikilda.model.create import initial, popularity_of
from wikilda.model.model import Parameters
from wikilda.model.writer import sum_by_topic, word_norms
from wikilda.urn.context_evidence import subtracted
from wikilda.urn.learning import learn, links_of

Numbers = NDArray[np.int64]
_LEAST_ARTICLES = 4


class HeldOutKnowledge(Knowledge):
    """Knowledge without some of its articles; its topics keep their numbers."""

    replaced: dict[str, NDArray[Any]]
    lost: NDArray[np.bool_]  # by mention string: whether only those articles linked it, or it only named them

    def array(self, name: str) -> NDArray[Any]:
        """Return an array of the rest of the knowledge."""
        return self.replaced[name] if name in self.replaced else super().array(name)

    def find_mention(self, text: str) -> int:
        """Return the mention that a string is; −1 if the other articles do not have it."""
        found = super().find_mention(text)
        return -1 if found >= 0 and self.lost[found] else found


def own_links(model: Model, knowledge: Knowledge) -> tuple[Given, Dataset]:
    """Return the model of a wiki without a sample of its articles, and their links."""
    if model.iteration:
        raise InputError(f"{model.path}: was trained on texts. Measure own links with the model that was built.")
    kept = list(articles(knowledge))
    if len(kept) < _LEAST_ARTICLES:
        raise InputError(
            f"{knowledge.path}: keeps {len(kept)} articles with links, which are too few to measure with. "
            "Build it from a dump with at least some dozen articles of three links."
        )
    taken, rest = kept[0::2], kept[1::2]
    hidden = np.zeros(model.topics, np.bool_)
    hidden[[each.topic for each in taken]] = True
    known = without_articles(knowledge, taken, hidden)
    made = model_of(model, known)
    learned = learn(made, known, [each._replace(targets=_shown(each.targets, hidden)) for each in rest])
    made.__dict__["weights"] = learned.weights if learned else None
    own = hashlib.blake2b(f"{model.identity} without own links".encode(), digest_size=16).hexdigest()
    made.manifest = model.manifest | {"identity": own, "learned": learned.to_mapping() if learned else {}}
    documents = [_gold(each, hidden, knowledge) for each in taken]
    return Given(made, known, documents), Dataset(f"own links of {model.path.name}", documents, [])


def without_articles(knowledge: Knowledge, taken: list[Article], hidden: NDArray[np.bool_]) -> HeldOutKnowledge:
    """Return the knowledge without some articles, whose topics are hidden."""
    found = HeldOutKnowledge(knowledge.path, knowledge.manifest)
    mentions = _fewer_links(knowledge, taken)
    lengths, mentions = _without(mentions, hidden)
    found.lost = lengths == 0
    arrays: dict[str, NDArray[Any]] = _columns("mentions", mentions)
    for name in ("mentions/trie_values", "names/variants_values"):
        if knowledge.has(name):
            values = np.array(knowledge.array(name))
            values[(values >= 0) & found.lost[np.maximum(values, 0)]] = -1
            arrays[name] = values
    _, words = _without(knowledge.words, hidden)
    arrays |= _columns("words", words)
    for way in ("out", "in"):
        arrays |= _without_rows(knowledge, f"links/{way}/", hidden)
    if knowledge.has("names/offsets"):
        arrays |= _names(knowledge, hidden)
    arrays |= _fewer_contexts(knowledge, taken)
    found.replaced = arrays
    return found


def model_of(model: Model, knowledge: Knowledge) -> Model:
    """Return the model at t = 0 of other knowledge of the same topics, in memory."""
    made, settings = copy.copy(model), model.settings
    none = np.empty(0, np.int64)
    tables = {
        "words": (knowledge.words, np.asarray(knowledge.word_totals, np.int64), settings.mass_words),
        "mentions": (knowledge.mentions, none, settings.mass_mentions),
    }
    for kind, (table, totals, mass) in tables.items():
        made.__dict__[kind] = Parameters(table.offsets, table.topics, initial(table, totals, mass))
    made.__dict__ |= {
        "word_sums": sum_by_topic(made.words, model.topics),
        "mention_sums": sum_by_topic(made.mentions, model.topics),
        "word_norms": word_norms(made.words, model.topics),
        "popularity": popularity_of(knowledge.mentions, model.topics),
        "base": made.mentions,
        "contexts": knowledge.context_counts,
        "weights": None,
        "sizes": model.sizes | {f"entries of {kind}/": len(table.topics) for kind, (table, _, _) in tables.items()},
    }
    return made


def _fewer_links(knowledge: Knowledge, taken: list[Article]) -> Table:
    """Count(v, k) without the links of some articles."""
    table = knowledge.mentions
    counts = np.array(table.counts, np.int64)
    for article in taken:
        for (start, end), target in zip(article.spans, article.targets.tolist(), strict=True):
            symbol = knowledge.find_mention(article.text[start:end])
            if symbol < 0 or target < 0:
                continue
            first, last = table.offsets[symbol], table.offsets[symbol + 1]
            at = int(first + np.searchsorted(table.topics[first:last], target))
            if at < last and table.topics[at] == target:
                counts[at] -= counts[at] > 0
    return Table(table.offsets, table.topics, counts.astype(np.uint32))


def _fewer_contexts(knowledge: Knowledge, taken: list[Article]) -> dict[str, NDArray[Any]]:
    """The context counts without the links of some articles."""
    known = knowledge.context_counts
    if known is None:
        return {}
    encoded = (encode(Document(each.text, each.spans), knowledge, contexts=True) for each in taken)
    links = [
        (each.contexts, links_of(knowledge, each, article))
        for each, article in zip(encoded, taken, strict=True) if each.contexts is not None
    ]  # fmt: skip
    left = subtracted(known, links)
    return {f"{CONTEXTS}/{name}": getattr(left, name) for name in ("counts", "expected", "sums")}


def _without(table: Table, hidden: NDArray[np.bool_]) -> tuple[Numbers, Table]:
    """A table without hidden topics and without counts of 0, and the lengths of its rows."""
    kept = (table.counts > 0) & ~hidden[table.topics]
    rows = np.repeat(np.arange(len(table.offsets) - 1), np.diff(table.offsets))
    lengths = np.bincount(rows[kept], minlength=len(table.offsets) - 1).astype(np.int64)
    return lengths, Table(offsets_of(lengths), np.asarray(table.topics)[kept], np.asarray(table.counts)[kept])


def _columns(name: str, table: Table) -> dict[str, NDArray[Any]]:
    return {f"{name}/offsets": table.offsets, f"{name}/topics": table.topics, f"{name}/counts": table.counts}


def _without_rows(knowledge: Knowledge, name: str, hidden: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Links without those from and to hidden topics."""
    offsets, topics = knowledge.array(f"{name}offsets"), knowledge.array(f"{name}topics")
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    kept = ~hidden[topics] & ~hidden[rows]
    lengths = np.bincount(rows[kept], minlength=len(offsets) - 1).astype(np.int64)
    return {f"{name}offsets": offsets_of(lengths), f"{name}topics": np.asarray(topics)[kept]}


def _names(knowledge: Knowledge, hidden: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """The index of the words of titles without hidden topics."""
    offsets, topics = knowledge.array("names/offsets"), knowledge.array("names/topics")
    rows, kept = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), ~hidden[topics]
    lengths = np.bincount(rows[kept], minlength=len(offsets) - 1).astype(np.int64)
    return {
        "names/offsets": offsets_of(lengths), "names/topics": np.asarray(topics)[kept],
        "names/sizes": np.asarray(knowledge.array("names/sizes"))[kept],
    }  # fmt: skip


def _shown(targets: Numbers, hidden: NDArray[np.bool_]) -> Numbers:
    """Topics of links, RED for hidden ones."""
    return np.where((targets >= 0) & ~hidden[np.maximum(targets, 0)], targets, RED)


def _gold(article: Article, hidden: NDArray[np.bool_], knowledge: Knowledge) -> GoldDocument:
    targets = _shown(article.targets, hidden).tolist()
    names: list[tuple[str, ...]] = [(knowledge.titles[topic],) if topic >= 0 else () for topic in targets]
    return GoldDocument(article.text, article.spans, knowledge.titles[article.topic], names, "own")

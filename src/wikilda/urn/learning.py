"""Learns the weights of the evidence from the wiki's own links.

The knowledge keeps a sample of articles. Each is read as if it were not part of the wiki: its links are taken out of
the counts, its topic out of the link graph. A sixth of all topics is hidden besides, so that links to them, and those
that lead to no article, are mentions whose meaning the knowledge lacks.

Two convex problems are solved, each with a Gaussian prior around the pooled weights:

- *candidates*: the log loss of the right topic among the candidates. A link counts P(v|k)^−NAMING: texts other than
  the wiki's own articles use other names, and a wiki links most topics by their titles. What is popular stays popular.
  (Weights of titles are fitted to the links as they are.)
- *NIL*: the log loss of whether the meaning is known. Unknown mentions count as much, together, as NIL_SHARE times
  the known ones, for a wiki says nothing about how often texts mention what it lacks.

One weight is not learned: a surname after an unknown full name is unknown, too (`nil_parents`). Wikis link a name once,
where it is first mentioned, so their links do not show it.

A wiki links a name where it is first mentioned. What the contexts of a name's other mentions say is learned from the
places of the article that have a link's string and are no links.

What other mentions contribute depends on the weights, so inference and fitting alternate a few times.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import Run, offsets_of
from wikilda.documents.document import Document
from wikilda.documents.encoding import EncodedDocument, encode
from wikilda.knowledge import Knowledge
from wikilda.knowledge.context_counts import UNIT
from wikilda.knowledge.held_out import RED, Article, articles
from wikilda.knowledge.link_contexts import expected_of
from wikilda.lda.packet import numbers
from wikilda.model import Model
from wikilda.model.weights import NIL, NIL_CANDIDATE, NIL_OTHERS, RANKING, Weights, pooled
from wikilda.text.contexts import Contexts
from wikilda.urn._candidates import Rows
from wikilda.urn._draw import WORDS_SCALE
from wikilda.urn._find import Found, Named
from wikilda.urn._title_match import PART, SAME, UNLIKE
from wikilda.urn._word_evidence import leave_topic_out
from wikilda.urn.context_evidence import of_other_mentions
from wikilda.urn.prior_shift import Exponents, Parts, maximise, softmax
from wikilda.urn.settings import UrnSettings
from wikilda.urn.statistics import Taught
from wikilda.urn.urn import Part, Urn

Numbers = NDArray[np.int64]
Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

NAMING = 1 / 3  # between the wiki's own naming (0) and none at all (1)
NIL_SHARE = 1 / 3
HIDDEN = 6  # one of this many topics is hidden
SPREAD = 0.3  # standard deviation of weights between wikis: of the prior around the pooled ones
ROUNDS = 3
_LEAST_LINKS = 30  # known and ambiguous, below which nothing is learned
_LEAST_PRIOR = 1e-12
_LEAST_NAMING = 1e-3
_NEWTON = 30  # steps at most
_WIDE = 1.0  # standard deviation of an exponent whose estimate is not to be held back
_MOST_REPEATS = 30  # occurrences of a string
_FIXED = 1e9  # the precision of a weight that is not learned


@dataclass(frozen=True)
class Learned:
    """Weights, and how good they are on links that they were not learned from."""

    weights: Weights
    articles: int
    links: int
    accuracy: float  # of the best candidate of known mentions
    prior_accuracy: float  # of the most common meaning
    nil_area: float  # under the ROC curve of NIL
    bias: Exponents  # by which factor exponents that are estimated without labels are too large

    def to_mapping(self) -> dict[str, object]:
        """Plain values for a manifest."""
        figures = {name: round(float(getattr(self, name)), 4) for name in ("accuracy", "prior_accuracy", "nil_area")}
        bias = [round(each, 4) for each in self.bias]
        return {"articles": self.articles, "links": self.links, **figures, "bias": bias}


class Prepared(NamedTuple):
    """Mentions of an article that was taken out of the knowledge."""

    named: Named
    found: Found
    fame: Vector
    contexts: Matrix  # by candidate of a mention: the evidence of its context, and of the string's other mentions
    gold: Numbers  # by mention: the place of the right topic among its candidates; UNKNOWN, or MISSED
    naming: Vector  # by mention: P(v|k) of the right topic


class Design(NamedTuple):
    """Rows of features: of candidates with the places of the right ones, and of mentions."""

    candidates: Matrix
    offsets: Numbers
    right: Numbers
    weights: Vector
    mentions: Matrix
    unknown: NDArray[np.bool_]


UNKNOWN, MISSED = -1, -2  # the knowledge lacks the topic; it has the topic, but not as a candidate


def learn(model: Model, knowledge: Knowledge, sample_of: Sequence[Article] | None = None) -> Learned | None:
    """Learn the weights of a newly built model; None if its wiki has too few links.

    The articles are by default those that the knowledge has kept.
    """
    urn = Urn(model, knowledge, UrnSettings())
    kept = list(articles(knowledge)) if sample_of is None else list(sample_of)
    sample = [part for article in kept for part in prepare(urn, article)]
    if _ambiguous(sample) < _LEAST_LINKS:
        return None
    nil = not knowledge.found_links  # only known names were looked for
    half = fit([(urn, sample[0::2])], pooled(), nil=nil)
    report = measure(urn.with_weights(half), sample[1::2])
    whole = fit([(urn, sample)], pooled(), start=half, nil=nil)
    links = sum(int((each.gold != UNKNOWN).sum()) for each in sample)
    return Learned(whole, len(kept), links, *report, shift_bias([(urn, sample)], pooled()))


def shift_bias(
    samples: Sequence[tuple[Urn, Sequence[Prepared]]], prior: Weights, spread: float = SPREAD, rounds: int = ROUNDS
) -> Exponents:
    """Measure by which factor exponents that are estimated without labels are too large (`wikilda.urn.prior_shift`).

    On the wiki's own links, the right ones are known: those that are fitted to the links as they are. One half of the
    articles has the labels, the other half is read without.
    """
    found = []
    for half in (0, 1):
        learned_from = [(urn, sample[half::2]) for urn, sample in samples]
        weights = fit(learned_from, prior, spread=spread, rounds=rounds)
        right = fit(learned_from, prior, start=weights, spread=spread, naming=0.0, rounds=rounds)
        rest = [(urn.with_weights(weights), _reader(sample[1 - half :: 2])) for urn, sample in samples]
        exponents, _ = maximise(rest, np.array([weights.naming, weights.popularity]), _WIDE)
        found.append([exponents.naming / right.naming, exponents.popularity / right.popularity])
    return Exponents(*np.mean(found, axis=0).tolist())


def _reader(sample: Sequence[Prepared]) -> Parts:
    return lambda urn: ((decide(urn, each), each.fame) for each in sample)


def prepare(urn: Urn, article: Article, *, hidden: int = HIDDEN) -> Iterator[Prepared]:
    """Read an article as if the knowledge lacked it; `hidden`: one of this many topics is unknown (0: none)."""
    encoded = encode(Document(article.text, article.spans, str(article.topic)), urn.knowledge, contexts=True)
    around = _Around.of(urn, encoded, article)
    targets = np.where(article.targets == article.topic, -1, article.targets)
    targets[is_hidden(targets, hidden)] = -1
    words = numbers(encoded.words)
    distinct = np.unique(words[words >= 0])
    for chosen, named in urn.read(encoded, urn.resolve(encoded)):
        own = {} if urn.knowledge.found_links else _own_links(named, article.targets[chosen])
        rest = _without(named, own, article.topic, hidden)
        by_words = _shown(urn.back_off(rest), article.topic, hidden)
        leave_topic_out(urn.words, distinct, article.topic)
        found = urn.find(rest, words, by_words, article.topic)
        urn.words.totals[distinct] = 0.0  # they are summed up again when they are needed
        fame, naming = _fame(urn, found, own, rest, targets[chosen])
        contexts = around.evidence(urn, chosen, rest.rows, found)
        yield Prepared(
            named=rest,
            found=found,
            fame=fame,
            contexts=contexts,
            gold=_gold(rest, found, targets[chosen]),
            naming=naming,
        )


def is_hidden(topics: Numbers | NDArray[np.uint32], hidden: int) -> NDArray[np.bool_]:
    """Return which topics are hidden: one of this many, by a hash of their number."""
    if not hidden:
        return np.zeros(len(topics), np.bool_)
    known = np.asarray(topics, np.int64)
    mixed = (known.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(33)
    found: NDArray[np.bool_] = (known >= 0) & (mixed % np.uint64(hidden) == 0)
    return found


def fit(
    samples: Sequence[tuple[Urn, Sequence[Prepared]]], prior: Weights, start: Weights | None = None,
    spread: float = SPREAD, naming: float = NAMING, rounds: int = ROUNDS, nil: bool = True,
) -> Weights:  # fmt: skip
    """Fit the weights to samples of wikis, with a Gaussian prior of standard deviation `spread`; those of NIL, too."""
    weights = start or prior
    for _ in range(rounds):
        design = _joined([_design(urn.with_weights(weights), sample, naming) for urn, sample in samples])
        ranking = fit_ranking(design, _values(prior, RANKING), _values(weights, RANKING), spread)
        before = _values(prior, NIL), _values(weights, NIL)
        unknown = fit_nil(design, *before, spread) if nil else before[0]
        known = design.mentions[~design.unknown]
        usual = float(known[:, NIL.index("nil_fit")].mean()) if len(known) else prior.usual_fit
        weights = weights.replaced([*zip(RANKING, ranking.tolist(), strict=True),
                                    *zip(NIL, unknown.tolist(), strict=True), ("usual_fit", usual)])  # fmt: skip
    return weights


def measure(urn: Urn, sample: Sequence[Prepared]) -> tuple[float, float, float]:
    """Accuracy over known mentions, that of the most common meaning, and the area under the ROC curve of NIL."""
    right = common = known = 0
    nil, unknown = list[Vector](), list[NDArray[np.bool_]]()
    for each in sample:
        part = decide(urn, each)
        offsets, priors = part.mentions.offsets, part.links_prior()
        nil.append(part.drawing.found.nil)
        unknown.append(each.gold == UNKNOWN)
        for mention in np.flatnonzero(each.gold != UNKNOWN).tolist():
            span = slice(offsets[mention], offsets[mention + 1])
            known += 1
            if each.gold[mention] >= 0:
                right += int(np.argmax(part.posterior[span])) == each.gold[mention]
                common += int(np.argmax(priors[span])) == each.gold[mention]
    area = roc_area(np.concatenate(nil), np.concatenate(unknown)) if nil else 0.5
    return right / max(known, 1), common / max(known, 1), float(area)


def roc_area(scores: Vector, positive: NDArray[np.bool_]) -> float:
    """The probability that a positive example has a higher score than a negative one; ties count half."""
    order = np.sort(scores)
    ranks = (np.searchsorted(order, scores, "left") + np.searchsorted(order, scores, "right")) / 2
    several, others = int(positive.sum()), int((~positive).sum())
    if not several or not others:
        return 0.5
    return float((ranks[positive].sum() - several * several / 2) / (several * others))


def decide(urn: Urn, prepared: Prepared) -> Part:
    """Infer the posterior of a prepared article's mentions."""
    chosen = np.arange(len(prepared.named.rows))
    contexts = prepared.contexts @ np.array([urn.weights.context, urn.weights.repeats])
    return urn.decide(prepared.named, prepared.found, chosen, contexts, fame=prepared.fame)


# -- an article that is taken out --------------------------------------------------------------------------------


class _Around(NamedTuple):
    """The contexts of an article's links, then those of their strings' other occurrences; and what it has counted."""

    contexts: Contexts | None
    own: Taught | None
    owners: Numbers  # by occurrence: the link that it repeats

    @classmethod
    def of(cls, urn: Urn, encoded: EncodedDocument, article: Article) -> "_Around":
        if urn.view.contexts is None:
            return cls(None, None, np.empty(0, np.int64))
        repeats = list(_repeats(article))
        document = Document(article.text, [*article.spans, *(span for span, _ in repeats)])
        contexts = encode(document, urn.knowledge, contexts=True).contexts
        owners = np.array([owner for _, owner in repeats], np.int64)
        return cls(contexts, links_of(urn.knowledge, encoded, article), owners)

    def evidence(self, urn: Urn, chosen: Numbers, rows: Numbers, found: Found) -> Matrix:
        """S of the candidates of chosen links, and its sums over the other occurrences of their strings."""
        offsets = found.candidates.offsets
        size = int(np.diff(offsets)[rows].sum())
        if self.contexts is None:
            return np.zeros((size, 2))
        row_of = dict(zip(chosen.tolist(), rows.tolist(), strict=True))
        here = [at for at, owner in enumerate(self.owners.tolist()) if owner in row_of]
        repeated = np.array([row_of[self.owners[at]] for at in here], np.int64)
        more = np.array(here, np.int64) + len(self.contexts.offsets) - 1 - len(self.owners)
        both = np.concatenate([chosen, more]), np.concatenate([rows, repeated])
        evidence = urn.context_evidence(self.contexts, *both, found, self.own)
        return np.column_stack([evidence, of_other_mentions(evidence, both[1], offsets)])[:size]


def _repeats(article: Article) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield the occurrences of linked strings that are not links, with the first link that has the string."""
    free = np.ones(len(article.text), np.bool_)
    for start, end in article.spans:
        free[start:end] = False
    seen = set[str]()
    for number, (start, end) in enumerate(article.spans):
        string = article.text[start:end]
        if string in seen:
            continue
        seen.add(string)
        for begin, finish in islice(_occurrences(article.text, string), _MOST_REPEATS):
            if free[begin:finish].all():
                free[begin:finish] = False
                yield (begin, finish), number


def _occurrences(text: str, string: str) -> Iterator[tuple[int, int]]:
    """Yield the places of a string that are no parts of words; they do not overlap."""
    at = text.find(string)
    while at >= 0:
        end = at + len(string)
        whole = not (at and _in_word(text[at - 1])) and not _in_word(text[end : end + 1])
        if whole:
            yield at, end
        at = text.find(string, end if whole else at + 1)


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def links_of(knowledge: Knowledge, encoded: EncodedDocument, article: Article) -> Taught:
    """Return what a build has counted of an article in the sample."""
    return counted_links(knowledge, encoded, np.where(article.targets == article.topic, RED, article.targets))


def counted_links(knowledge: Knowledge, encoded: EncodedDocument, targets: Numbers) -> Taught:
    """Return what a build has counted of an article's links (`wikilda.knowledge.link_contexts`)."""
    table = knowledge.mentions
    strings = np.asarray(encoded.mentions, np.int64)
    met = np.flatnonzero((targets >= 0) & (strings >= 0))
    each = Run(met, np.arange(len(met) + 1), strings[met].astype(np.uint32), np.ones(len(met), np.int64))
    expected = expected_of(each, table.offsets, table.topics, table.counts)
    linked = np.flatnonzero(targets >= 0)
    owners = np.concatenate([np.repeat(met, np.diff(expected.offsets)), linked])
    order = np.argsort(owners, kind="stable")
    topics = np.concatenate([expected.topics, targets[linked].astype(np.uint32)])[order]
    shares = np.zeros((2, len(owners)), np.uint32)
    shares[0, len(expected.topics) :], shares[1, : len(expected.topics)] = UNIT, expected.sweeps
    counted, by_string = shares[:, order]
    offsets = offsets_of(np.bincount(owners, minlength=len(targets)))
    return Taught(
        offsets=offsets,
        topics=topics,
        shares=counted,
        base=counted,
        prior=by_string,
        nil=np.zeros(len(targets), np.uint32),
    )


def _own_links(named: Named, targets: Numbers) -> dict[tuple[int, int], int]:
    """Return the article's own counts of links, by string and topic."""
    pairs, counts = np.unique(np.stack([named.rows, targets]), axis=1, return_counts=True)
    return {
        (row, topic): count for row, topic, count in zip(*pairs.tolist(), counts.tolist(), strict=True) if topic >= 0
    }


def _without(named: Named, own: dict[tuple[int, int], int], article: int, hidden: int) -> Named:
    """The strings without the article, its own links and hidden topics, as if the wiki had never had them."""
    offsets, topics = named.meanings.offsets, named.meanings.topics
    rows = np.repeat(np.arange(len(named.symbols)), np.diff(offsets))
    counts = named.meanings.priors * named.links[rows]
    for (row, topic), times in own.items():
        counts[(rows == row) & (topics == topic)] -= times
    kept = (counts > 0.5) & (topics != article) & ~is_hidden(topics, hidden)
    left = np.bincount(rows[kept], minlength=len(named.symbols))
    links = np.bincount(rows[kept], counts[kept], minlength=len(named.symbols)).astype(np.float64)
    priors = counts[kept] / links[rows[kept]]
    new = np.minimum((0.5 + 0.5 * left) / (0.5 + links), 1.0)
    meanings = Rows(np.concatenate(([0], np.cumsum(left))), topics[kept], priors)
    return named._replace(
        meanings=meanings, links=links, new_meanings=new, symbols=np.where(links > 0, named.symbols, -2)
    )


def _shown(rows: Rows, article: int, hidden: int) -> Rows:
    """Candidates by the words of titles that are neither hidden nor the article, whose words are the document's."""
    kept = (rows.topics != article) & ~is_hidden(rows.topics, hidden)
    before = np.concatenate(([0], np.cumsum(kept)))
    return Rows(before[rows.offsets], rows.topics[kept], rows.priors[kept])


def _fame(
    urn: Urn, found: Found, own: dict[tuple[int, int], int], named: Named, targets: Numbers
) -> tuple[Vector, Vector]:
    """Log P(k) of the candidates without the article's links, and P(v|k) of the right topics of mentions."""
    topics = found.candidates.topics
    scale = max(float(urn.knowledge.mentions.counts.sum()) + urn.model.topics, 1.0) / max(urn.model.topics, 1)
    counts = urn.model.popularity[topics].astype(np.float64) * scale
    for (_, topic), times in own.items():
        at = int(np.searchsorted(topics, topic))
        if at < len(topics) and topics[at] == topic:
            counts[at] = max(counts[at] - times, 1.0)
    naming = np.ones(len(targets))
    offsets, meant = named.meanings.offsets, named.meanings.topics
    for mention, target in enumerate(targets.tolist()):
        row = named.rows[mention]
        span = slice(offsets[row], offsets[row + 1])
        here = np.flatnonzero(meant[span] == target)
        links = named.meanings.priors[span][here[0]] * named.links[row] if len(here) else 0.0
        at = int(np.searchsorted(topics, target)) if target >= 0 else len(topics)
        total = counts[at] if at < len(topics) and topics[at] == target else 1.0
        naming[mention] = min((links + 0.1) / total, 1.0)
    return np.log(counts / scale), naming


def _gold(named: Named, found: Found, targets: Numbers) -> Numbers:
    """The places of the right topics among the candidates of mentions."""
    candidates = found.candidates
    gold = np.full(len(targets), UNKNOWN)
    for mention, target in enumerate(targets.tolist()):
        if target < 0:
            continue
        row = named.rows[mention]
        own = candidates.topics[candidates.numbers[candidates.offsets[row] : candidates.offsets[row + 1]]]
        at = np.flatnonzero(own == target)
        gold[mention] = at[0] if len(at) else MISSED
    return gold


# -- features ----------------------------------------------------------------------------------------------------


def choice_features(part: Part, fame: Vector, contexts: Matrix) -> Matrix:
    """What RANKING weigh, one row per candidate of a mention."""
    found, sources, drawing = part.found.candidates, part.sources, part.drawing
    kinds, topics = drawing.kinds[sources], part.mentions.numbers
    same = kinds & SAME > 0
    starts, lengths = part.mentions.offsets[:-1], np.diff(part.mentions.offsets)
    any_same = np.add.reduceat(np.append(same, 0), starts) > 0
    has_same = np.repeat(any_same & (lengths > 0), lengths)
    popular = fame[topics]
    return np.column_stack([
        np.log(np.maximum(found.priors[sources], _LEAST_PRIOR)) - popular, popular,
        WORDS_SCALE * part.found.evidence[topics], same, has_same & ~same & (kinds & UNLIKE > 0),
        contexts, np.log(drawing.found.content),
    ])  # fmt: skip


def nil_features(part: Part) -> Matrix:
    """What NIL weigh, one row per mention."""
    kinds, shares = part.drawing.kinds[part.sources], part.posterior
    several = np.array([" " in each for each in part.named.strings.to_list()])[part.rows]
    owners = np.repeat(np.arange(len(part.rows)), np.diff(part.mentions.offsets))
    same = (kinds & SAME > 0) * 1.0
    columns = (same, same * several[owners], (kinds & PART > 0) * 1.0, (kinds & UNLIKE > 0) * 1.0)
    expected = [np.bincount(owners, shares * each, minlength=len(part.rows)) for each in columns]
    assert len(columns) == len(NIL_CANDIDATE)
    assert part.drawing.found.features.shape[1] == len(NIL_OTHERS)
    return np.column_stack([part.nil_strings[part.rows], *expected, part.drawing.found.features])


def _design(urn: Urn, sample: Sequence[Prepared], naming: float) -> Design:
    """The features of all mentions of a sample, given what the other mentions mean by the current weights."""
    candidates, lengths, right, weights = list[Matrix](), list[int](), list[int](), list[float]()
    mentions, unknown, before = list[Matrix](), list[bool](), 0
    for each in sample:
        part = decide(urn, each)
        offsets = part.mentions.offsets
        chosen, own = choice_features(part, each.fame, each.contexts), nil_features(part)
        for mention in np.flatnonzero((np.diff(offsets) > 0) & (each.gold != MISSED)).tolist():
            span = slice(offsets[mention], offsets[mention + 1])
            mentions.append(own[mention])
            unknown.append(bool(each.gold[mention] == UNKNOWN))
            if each.gold[mention] >= 0 and span.stop - span.start > 1:
                candidates.append(chosen[span])
                right.append(before + int(each.gold[mention]))
                lengths.append(int(span.stop - span.start))
                weights.append(max(float(each.naming[mention]), _LEAST_NAMING) ** -naming)
                before += lengths[-1]
    scale, bounds = np.array(weights), np.concatenate(([0], np.cumsum(lengths))).astype(int)
    return Design(
        candidates=np.concatenate([np.empty((0, len(RANKING))), *candidates]), offsets=bounds,
        right=np.array(right, int), weights=scale * (len(scale) / max(scale.sum(), 1e-300)),
        mentions=np.array(mentions).reshape(-1, len(NIL)), unknown=np.array(unknown, np.bool_),
    )  # fmt: skip


def _joined(designs: Sequence[Design]) -> Design:
    """The rows of several designs."""
    before = np.cumsum([0] + [len(each.candidates) for each in designs[:-1]])
    return Design(
        np.concatenate([each.candidates for each in designs]),
        np.concatenate([[0], *(each.offsets[1:] + shift for each, shift in zip(designs, before, strict=True))]),
        np.concatenate([each.right + shift for each, shift in zip(designs, before, strict=True)]),
        *(np.concatenate([each[at] for each in designs]) for at in range(3, 6)),
    )


def _values(weights: Weights, names: Sequence[str]) -> Vector:
    return np.array([getattr(weights, name) for name in names])


# -- two convex problems -----------------------------------------------------------------------------------------


def fit_ranking(design: Design, prior: Vector, start: Vector, spread: float) -> Vector:
    """Weights of the evidence for candidates: titles by the links as they are, all others by the weighted links.

    A title that equals the string is a name, too: with weighted links it would take the place of naming.
    """
    plain = fit_choice(design._replace(weights=np.ones(len(design.weights))), prior, start, spread)
    titles = [RANKING.index(name) for name in ("title", "mismatch")]
    prior, start = prior.copy(), start.copy()
    prior[titles] = start[titles] = plain[titles]
    return fit_choice(design, prior, start, spread, titles)


def fit_choice(design: Design, prior: Vector, start: Vector, spread: float, fixed: Sequence[int] = ()) -> Vector:
    """The conditional logit of the right candidates, by Newton's method; `graph` stays above 0."""
    starts, found = design.offsets[:-1], start.copy()
    owners = np.repeat(np.arange(len(starts)), np.diff(design.offsets))
    precision = np.eye(len(prior)) / spread**2
    precision[list(fixed), list(fixed)] = _FIXED
    for _ in range(_NEWTON):
        if not len(starts):
            break
        shares = softmax(design.candidates @ found, starts, owners)
        weighted = shares * design.weights[owners]
        means = np.add.reduceat(design.candidates * shares[:, None], starts)
        gradient = design.weights @ (design.candidates[design.right] - means) - precision @ (found - prior)
        hessian = (design.candidates * weighted[:, None]).T @ design.candidates
        hessian -= (means * design.weights[:, None]).T @ means
        step = np.linalg.solve(hessian + precision, gradient)
        found += step * min(1.0, 1.0 / max(np.abs(step).max(), 1e-12))
        if np.abs(step).max() < 1e-6:
            break
    found[-1] = max(found[-1], 0.0)
    return found


def fit_nil(design: Design, prior: Vector, start: Vector, spread: float) -> Vector:
    """The logistic regression of NIL, by Newton's method; a title that equals the string never speaks for NIL."""
    known, unknown = int((~design.unknown).sum()), int(design.unknown.sum())
    found, features = start.copy(), design.mentions
    if not known or not unknown:
        return found
    weights = np.where(design.unknown, NIL_SHARE * known / unknown, 1.0)
    precision = np.eye(len(prior)) / spread**2
    fixed = NIL.index("nil_parents")
    precision[fixed, fixed] = _FIXED
    for _ in range(_NEWTON):
        odds = np.clip(features @ found, -30.0, 30.0)
        chance = 1.0 / (1.0 + np.exp(-odds))
        gradient = (weights * (design.unknown - chance)) @ features - precision @ (found - prior)
        hessian = (features * (weights * chance * (1.0 - chance))[:, None]).T @ features + precision
        step = np.linalg.solve(hessian, gradient)
        found += step * min(1.0, 1.0 / max(np.abs(step).max(), 1e-12))
        if np.abs(step).max() < 1e-6:
            break
    titles = [NIL.index(name) for name in ("nil_title", "nil_full_title")]
    found[titles] = np.minimum(found[titles], 0.0)
    return found


def _ambiguous(sample: Sequence[Prepared]) -> int:
    """The number of known mentions with several candidates."""
    found = 0
    for each in sample:
        lengths = np.diff(each.found.candidates.offsets)[each.named.rows]
        found += int(((each.gold >= 0) & (lengths > 1)).sum())
    return found

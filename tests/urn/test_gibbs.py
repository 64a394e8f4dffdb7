"""The sampler of the urn, draw by draw against the reference, and its frequencies against the joint."""

from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.urn.reference import Dense, Mention, Sampler, SplitMix
from wikilda._core.jit import njit
from wikilda._core.random import uniform
from wikilda.urn._coreference import Parents
from wikilda.urn._gibbs import Mentions, Rules, gibbs
from wikilda.urn._relatedness import Gains, Relations

Chain = tuple[list[list[float]], list[list[float]]]


def chain(sampler: Sampler, sweeps: int, burn_in: int, seed: int, tolerance: float = 0.0) -> Chain:
    """Shares, that of NIL at their ends, and base shares by the kernel: the one place where the tests call it."""
    sizes = [len(mention.topics) for mention in sampler.mentions]
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    weights = np.array([weight for mention in sampler.mentions for weight in mention.weights], np.float64)
    priors = np.array([prior for mention in sampler.mentions for prior in mention.priors], np.float64)
    mentions = Mentions(
        offsets,
        np.array([topic for mention in sampler.mentions for topic in mention.topics], np.int32),
        weights * priors**sampler.exponent,
        sampler.base * priors ** (1.0 - sampler.exponent),
        np.array([mention.place for mention in sampler.mentions], np.int64),
        np.array([each for m in sampler.mentions for each in m.nil or [0.0] * len(m.topics)], np.float64),
        np.array([max(mention.name, 0) for mention in sampler.mentions], np.int64),
        _parents(sampler),
    )
    s = sampler
    rules = Rules(sweeps, burn_in, s.base, s.repeats, s.near, s.reach, s.coreference, s.level, tolerance)
    found = gibbs(mentions, _relations(sampler.related), rules, np.array([seed], np.uint64))
    shares, from_base = (
        [each[start:end].tolist() for start, end in pairwise(offsets.tolist())]
        for each in (found.shares, found.from_base)
    )
    return [[*row, nil] for row, nil in zip(shares, found.nil.tolist(), strict=True)], from_base


def _relations(related: Dense) -> Relations:
    """R as given: every two topics that are related share a page of that weight."""
    size = len(related)
    pairs = [(i, j) for i in range(size) for j in range(i) if related[i, j] > 0]
    owned = [[size + at for at, pair in enumerate(pairs) if topic in pair] for topic in range(size)]
    return Relations(
        np.ones(size),
        np.concatenate(([0], np.cumsum([len(each) for each in owned]))).astype(np.int64),
        np.array([page for each in owned for page in each], np.int32),
        np.concatenate((np.zeros(size), 2 * np.arange(len(pairs) + 1))).astype(np.int64),
        np.array(pairs, np.int32).ravel(),
        np.concatenate((np.zeros(size), [related[pair] for pair in pairs])),
        np.zeros(1),
        Gains(np.zeros(size + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32)),
    )


def _parents(sampler: Sampler) -> Parents:
    lists = [mention.parents for mention in sampler.mentions]
    tokens, weights, surnames = ([each[part] for row in lists for each in row] for part in range(3))
    return Parents(
        np.concatenate(([0], np.cumsum([len(row) for row in lists]))).astype(np.int64),
        np.array(tokens, np.int64),
        np.array(weights, np.float64),
        np.array(surnames, np.bool_),
    )


def posterior_of(sampler: Sampler, sweeps: int, burn_in: int, seed: int) -> list[list[float]]:
    return [each[:-1] for each in chain(sampler, sweeps, burn_in, seed)[0]]


def random_sampler(seed: int, mentions: int = 6, topics: int = 7) -> Sampler:
    rng = np.random.default_rng(seed)
    related = np.triu(rng.random((topics, topics)) * (rng.random((topics, topics)) < 0.5), 1)
    places = np.sort(rng.integers(0, 60, mentions)).tolist()
    made = []
    for place in places:
        some = sorted(rng.choice(topics, rng.integers(1, topics), replace=False).tolist())
        priors, weights = rng.dirichlet(np.full(len(some), 0.5)), rng.gamma(0.5, 1.0, len(some))
        made.append(Mention(some, priors.tolist(), weights.tolist(), place))
    exact = (related + related.T).astype(np.float32).astype(np.float64)
    return Sampler(made, exact)


def with_unknown(sampler: Sampler, seed: int) -> Sampler:
    """The same with NIL, names that are alike, parents, and a mention without candidates."""
    rng = np.random.default_rng(seed)
    names = rng.integers(0, 3, len(sampler.mentions)).tolist()
    made = []
    for at, (mention, name) in enumerate(zip(sampler.mentions, names, strict=True)):
        others = [int(each) for each in rng.choice(len(names), 2, replace=False) if each != at]
        parents = [(each, 0.5, bool(rng.random() < 0.7)) for each in others]
        made.append(
            replace(mention, nil=rng.gamma(0.5, 20.0, len(mention.topics)).tolist(), name=name, parents=parents)
        )
    made[0] = replace(made[0], topics=[], priors=[], weights=[], nil=[])
    return replace(sampler, mentions=made)


def agree(found: list[list[float]], expected: list[list[float]], within: float = 1e-9) -> None:
    for first, second in zip(found, expected, strict=True):
        assert first == pytest.approx(second, abs=within)


def test_random_numbers_are_those_of_the_reference() -> None:
    stream, expected = np.array([77], np.uint64), SplitMix(77)
    assert [_uniform(stream) for _ in range(50)] == [expected.uniform() for _ in range(50)]


@njit
def _uniform(stream):  # type: ignore[no-untyped-def]
    return uniform(stream)


@given(st.integers(0, 10**6))
def test_the_first_conditionals(seed: int) -> None:
    """With one sweep the posterior of the first mention is its conditional at the start, that of the next follows."""
    sampler = random_sampler(seed, mentions=3)
    found = posterior_of(sampler, 1, 0, seed)
    assert found[0] == pytest.approx(sampler.conditional(sampler.start(), 0)[:-1], abs=1e-12)
    agree(found, sampler.run(1, 0, seed), 1e-12)


@given(
    st.integers(0, 10**6),
    st.sampled_from([(1, 0), (2, 1), (5, 0), (5, 2), (5, 4)]),
    st.sampled_from(
        [
            {},
            {"near": 0.0},
            {"repeats": 0.0},
            {"reach": 0.5},
            {"reach": 1000.0},
            {"base": 5.0},
            {"exponent": 1.0},
            {"coreference": 9.0},
            {"level": 0.0},
        ]
    ),
)
def test_the_whole_chain(seed: int, sweeps: tuple[int, int], changes: dict[str, float]) -> None:
    sampler = replace(random_sampler(seed), **changes)
    for each in (sampler, with_unknown(sampler, seed)):
        found, from_base = chain(each, *sweeps, seed)
        expected, expected_base = each.chain(*sweeps, seed)
        agree(found, expected)
        agree(from_base, expected_base)
        for shares in found:
            assert sum(shares) == pytest.approx(1.0)
            assert min(shares) >= 0


def test_a_long_chain_stays_with_the_reference() -> None:
    """What is kept by adding and taking away does not drift."""
    sampler = random_sampler(3, mentions=4, topics=5)
    agree(posterior_of(sampler, 200, 50, 1), sampler.run(200, 50, 1))
    unknown = with_unknown(sampler, 3)
    agree(chain(unknown, 200, 50, 1)[0], unknown.chain(200, 50, 1)[0])


def test_sweeps_end_when_the_means_stand_still() -> None:
    """At the first look at which no mean has changed by as much as the tolerance: looks are ten sweeps apart."""
    sampler = with_unknown(random_sampler(11), 11)

    def means(sweeps: int) -> list[float]:
        return [each for row in sampler.chain(5 + sweeps, 5, 2)[0] for each in row]

    looks = [means(sweeps) for sweeps in range(10, 101, 10)]
    changes = [max(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in pairwise(looks)]
    for tolerance in (0.05, 0.02):
        still = next((at + 1 for at, change in enumerate(changes) if change < tolerance), len(looks) - 1)
        found = [each for row in chain(sampler, 105, 5, 2, tolerance)[0] for each in row]
        assert found == pytest.approx(looks[still], abs=1e-9)
        assert still < len(looks) - 1


def test_nil_stops_pulling_and_is_passed_on() -> None:
    """A surname after an unknown name is unknown; a topic that is not meant speaks for none."""
    related: Dense = np.zeros((2, 2))
    related[0, 1] = related[1, 0] = 5.0
    parent = Mention([], [], [], 0, name=0)
    child = Mention([0], [1.0], [1.0], 9, nil=[0.3], name=1, parents=[(0, 1.0, True)])
    other = Mention([1], [0.001], [1.0], 12, nil=[0.3], name=2)
    (_, passed, alone), _ = chain(Sampler([parent, child, other], related), 400, 50, 1)
    stranger = replace(child, parents=[(0, 1.0, False)])
    (_, kept, supported), _ = chain(Sampler([parent, stranger, other], related), 400, 50, 1)
    assert passed[-1] > 5 * kept[-1]
    assert alone[-1] > 2 * supported[-1]


def test_a_burn_in_only_says_which_sweeps_count() -> None:
    sampler = random_sampler(8)
    sums = [np.array(row) * 0 for row in posterior_of(sampler, 1, 0, 5)]
    for sweep in range(6):
        for at, row in enumerate(posterior_of(sampler, sweep + 1, sweep, 5)):
            sums[at] += row
    agree([(each / 6).tolist() for each in sums], posterior_of(sampler, 6, 0, 5))


def test_nothing_to_draw() -> None:
    assert posterior_of(Sampler([], np.zeros((0, 0))), 3, 1, 0) == []
    assert posterior_of(Sampler([Mention([0], [1.0], [1.0], 4)], np.zeros((1, 1))), 3, 1, 0) == [[1.0]]


def test_a_candidate_of_weight_zero_is_never_drawn() -> None:
    first, second = Mention([0, 1], [0.5, 0.5], [0.0, 1.0], 0), Mention([0, 1], [0.5, 0.5], [1.0, 0.0], 1)
    shares, from_base = chain(Sampler([first, second], np.zeros((2, 2))), 20, 0, 3)
    assert shares == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    assert from_base == [[0.0, 1.0], [1.0, 0.0]]


@dataclass
class Joint:
    """The joint that a sampler's conditionals belong to, where there is one: by adding mentions one at a time."""

    sampler: Sampler

    def marginals(self) -> list[list[float]]:
        found = [[0.0] * len(mention.topics) for mention in self.sampler.mentions]
        total = 0.0
        for which in product(*(range(len(mention.topics)) for mention in self.sampler.mentions)):
            chance = self.chance(which)
            total += chance
            for i, at in enumerate(which):
                found[i][at] += chance
        return [[each / total for each in row] for row in found]

    def chance(self, which: tuple[int, ...]) -> float:
        chance, before = 1.0, list[int]()
        for mention, at in zip(self.sampler.mentions, which, strict=True):
            topic = mention.topics[at]
            held = self.sampler.base + self.sampler.repeats * before.count(topic)
            chance *= mention.weights[at] * mention.priors[at] * held
            before.append(topic)
        return chance


@pytest.mark.parametrize("seed", range(3))
def test_frequencies_are_those_of_the_joint(seed: int) -> None:
    """An urn of repeats alone is Pólya's: the order of draws does not matter, and all can be enumerated."""
    drawn = replace(random_sampler(seed, mentions=4, topics=4), near=0.0, base=0.2, exponent=1.0, repeats=0.4)
    drawn.related = np.zeros((4, 4))
    agree(posterior_of(drawn, 20_000, 100, seed), Joint(drawn).marginals(), 0.02)


def test_related_topics_are_drawn_together() -> None:
    related: Dense = np.zeros((4, 4))
    related[0, 2] = related[2, 0] = 1.0
    sampler = Sampler([Mention([0, 1], [0.5, 0.5], [1.0, 1.0], 0), Mention([2, 3], [0.5, 0.5], [1.0, 1.0], 5)], related)
    (first, _), (second, _) = posterior_of(sampler, 400, 100, 1)
    assert min(first, second) > 0.9

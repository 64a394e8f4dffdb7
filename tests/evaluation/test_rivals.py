"""Methods of the related work, each against a slow and obvious one."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from benchmarks.rivals import RIVALS, TUNED, everything, make
from benchmarks.rivals._entity_topic import draw, train, word_probabilities
from benchmarks.rivals.aida._keyphrases import Phrases, Places, phrases_of, similarities
from benchmarks.rivals.aida._subgraph import Edges, densest
from benchmarks.rivals.articles import Articles, Context, articles_of, context_of, overlaps
from benchmarks.rivals.kataria import Tokens, Ways
from benchmarks.rivals.kataria import draw as draw_categories
from benchmarks.rivals.kulkarni import climb
from benchmarks.rivals.pagerank import edges, walks

from wikilda.evaluation.methods import Given, make_method
from wikilda.evaluation.methods.base import UNKNOWN
from wikilda.evaluation.metrics import accuracy
from wikilda.evaluation.run import Gold, run
from wikilda.knowledge import Knowledge
from wikilda.knowledge.graph import Graph, similarity
from wikilda.lda.similarity import Likeness
from wikilda.linking import marked
from wikilda.model import Model

CRICKET = marked("[[Croft]] bowled for [[England]] at [[The Oval]] against [[Pakistan]]; [[Croft]] and [[zzyzx]].", "x")


@pytest.mark.parametrize("name", RIVALS)
def test_every_rival_links_the_sample(name: str, model: Model, sample: Knowledge, gold: Gold) -> None:
    method = make(name, Given(model, sample, gold.documents))
    assert method.name == name
    one, two = run(method, gold, threads=1), run(method, gold, threads=3)
    assert one.verdicts == two.verdicts
    assert accuracy(one).recall == 100
    assert accuracy(one).micro > 60
    answers = method.link(CRICKET)
    assert answers[0] == answers[4]
    assert answers[5] == UNKNOWN
    for answer in answers[:5]:
        assert len(set(answer.topics)) == len(answer.topics) == len(answer.scores) > 0
        assert answer.nil == 0


def test_rivals_are_plug_ins(model: Model, sample: Knowledge, tmp_path: Path) -> None:
    file = tmp_path / "aida.toml"
    file.write_text("rho = 0.7\n")
    method = make_method(f"benchmarks.rivals:Aida:{file}", Given(model, sample))
    assert (method.name, method.settings.rho) == (f"aida:{file}", 0.7)
    assert make("aida:tuned", Given(model, sample)).settings.to_mapping().items() >= TUNED["aida"].items()
    assert make("tagme:tuned", Given(model, sample)).settings.to_mapping() == TUNED["tagme"]
    assert {"prior", "aida:tuned", "tagme:tuned", "pagerank", "urn", "trained"} <= set(everything())


def test_aida_beats_the_prior(model: Model, sample: Knowledge, gold: Gold) -> None:
    prior, aida = (accuracy(run(make(name, Given(model, sample)), gold)).micro for name in ("prior", "aida"))
    assert aida > prior


def test_articles_are_the_word_table_turned_round(sample: Knowledge) -> None:
    articles = articles_of(sample)
    for word in range(0, len(sample.word_totals), 50):
        for topic, count in zip(*sample.words.row(word), strict=True):
            row = slice(articles.offsets[topic], articles.offsets[topic + 1])
            assert articles.counts[row][articles.words[row] == word].tolist() == [count]
    assert len(articles.words) == len(sample.words.topics)


@pytest.mark.parametrize("seed", range(5))
def test_overlaps(seed: int) -> None:
    generator = np.random.default_rng(seed)
    rows = [np.sort(generator.choice(20, size=size, replace=False)) for size in (0, 3, 8, 12)]
    counts = [generator.integers(1, 5, size=len(row)) for row in rows]
    rarity = generator.random(20) + 0.1
    vectors = np.zeros((4, 20))
    for vector, row, count in zip(vectors, rows, counts, strict=True):
        vector[row] = (1 + np.log(count)) * rarity[row]
    offsets = np.cumsum([0, *map(len, rows)])
    articles = Articles(
        offsets, np.concatenate(rows).astype(np.int32), np.concatenate(counts).astype(np.float32), rarity,
        np.linalg.norm(vectors, axis=1),
    )  # fmt: skip
    words, times = np.unique(generator.integers(0, 20, size=9), return_counts=True)
    own = np.zeros(20)
    own[words] = (1 + np.log(times)) * rarity[words]
    shared, rare, cosine = overlaps(articles, np.arange(4, dtype=np.uint32), Context(words, times))
    assert shared.tolist() == [len(set(row) & set(words)) for row in rows]
    assert rare == pytest.approx([sum(rarity[w] for w in set(row) & set(words)) for row in rows])
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(own)
    assert cosine == pytest.approx(np.divide(vectors @ own, norms, out=np.zeros(4), where=norms > 0))


def test_the_context_leaves_the_mention_out(sample: Knowledge) -> None:
    text = marked("Croft took five wickets as [[England]] beat Pakistan in cricket")
    assert text.mentions is not None
    near, whole = (context_of(text, text.mentions[0], sample, window) for window in (4, 0))
    word = sample.word_strings.find
    assert word("england") not in whole.words
    assert word("wickets") in whole.words
    assert word("wickets") not in near.words


def test_wikify_counts_shared_words(model: Model, sample: Knowledge) -> None:
    text = marked("the wickets fell when [[Croft]] bowled off spin for Glamorgan")
    [answer] = make("wikify", Given(model, sample)).link(text)
    assert sample.titles[answer.topics[0]] == "Robert Croft"
    assert sum(answer.scores) == pytest.approx(1)


def test_milne_witten_by_hand(model: Model, sample: Knowledge) -> None:
    method = make("milne-witten", Given(model, sample))
    strings = sorted({sample.find_mention(each) for each in ("croft", "england", "the oval", "pakistan")})
    rows = {symbol: dict(zip(*sample.mentions.row(symbol), strict=True)) for symbol in strings}
    context = [(symbol, next(iter(row))) for symbol, row in rows.items() if len(row) == 1]
    assert context

    def alike(a: int, b: int) -> float:
        return 1.0 if a == b else similarity(sample.graph, a, b)

    weights = []
    for symbol, topic in context:
        others = [alike(topic, other) for of, other in context if of != symbol]
        weights.append((sample.link_probability(symbol) + sum(others) / max(len(others), 1)) / 2)
    share = sum(weights) / (sum(weights) + 1)
    croft = rows[sample.find_mention("croft")]
    wanted = {}
    for topic, count in croft.items():
        related = sum(w * alike(topic, other) for w, (_, other) in zip(weights, context, strict=True)) / sum(weights)
        prior = count / sum(croft.values())
        wanted[topic] = (1 - share) * prior + share * related - (2.0 if prior < 0.02 else 0.0)
    answer = method.link(CRICKET)[0]
    assert dict(zip(answer.topics, answer.scores, strict=True)) == pytest.approx(wanted, abs=1e-6)


def matrix(size: int, generator: np.random.Generator) -> np.ndarray:
    upper = np.triu(generator.random((size, size)) * (generator.random((size, size)) < 0.5), 1)
    return upper + upper.T


def as_likeness(full: np.ndarray) -> Likeness:
    rows = [np.flatnonzero(row) for row in full]
    values = np.concatenate([full[at, row] for at, row in enumerate(rows)]).astype(np.float32)
    neighbours = np.concatenate(rows).astype(np.int32)
    return Likeness(np.arange(len(full), dtype=np.uint32), np.cumsum([0, *map(len, rows)]), neighbours, values)


@pytest.mark.parametrize("seed", range(20))
def test_kulkarni_climbs_as_far_as_single_changes_lead(seed: int) -> None:
    generator = np.random.default_rng(seed)
    sizes = [3, 0, 2, 4, 1]
    offsets = np.cumsum([0, *sizes])
    places = generator.integers(0, 7, size=offsets[-1])
    nodes, full = generator.random(offsets[-1]), matrix(7, generator) + np.eye(7)
    clique = 3.0

    def objective(chosen: list[int]) -> float:
        labels = [places[at] for at in chosen if at >= 0]
        pairs = sum(np.float32(full[a, b]) for a, b in itertools.combinations(labels, 2))
        local = sum(nodes[at] for at in chosen if at >= 0)
        return float(local / len(sizes) + clique * pairs / (len(sizes) * (len(sizes) - 1) / 2))

    best = [int(a + np.argmax(nodes[a:b])) if b > a else -1 for a, b in itertools.pairwise(offsets)]
    while True:
        changes = [
            (objective([*best[:string], at, *best[string + 1 :]]), string, at)
            for string in range(len(sizes))
            for at in range(offsets[string], offsets[string + 1])
        ]
        most, string, at = max(changes)
        if most <= objective(best) + 1e-9:
            break
        best[string] = at
    assert climb(offsets, places, nodes, as_likeness(full - np.eye(7)), clique).tolist() == best


def test_pagerank_against_a_dense_walk() -> None:
    generator = np.random.default_rng(1)
    links = generator.random((9, 9)) < 0.25
    np.fill_diagonal(links, False)
    out, into = ([np.flatnonzero(row) for row in each] for each in (links, links.T))
    graph = Graph(
        np.cumsum([0, *map(len, out)]), np.concatenate(out).astype(np.uint32),
        np.cumsum([0, *map(len, into)]), np.concatenate(into).astype(np.uint32),
    )  # fmt: skip
    topics = np.array([0, 1, 2, 3, 4, 2, 5, 6], np.uint32)  # topic 2 is a candidate of two strings
    offsets, priors = np.array([0, 3, 5, 8]), generator.random(8)
    owners = np.repeat(np.arange(3), np.diff(offsets))
    joined = np.zeros((8, 8))
    for a, b in itertools.product(range(8), range(8)):
        same = topics[a] == topics[b]
        linked = links[topics[a], topics[b]] or links[topics[b], topics[a]]
        joined[a, b] = owners[a] != owners[b] and (same or linked)
    starts, neighbours = edges(graph, topics, owners)
    for node in range(8):
        assert sorted(neighbours[starts[node] : starts[node + 1]]) == np.flatnonzero(joined[node]).tolist()
    steps = joined / np.maximum(joined.sum(axis=1, keepdims=True), 1)
    reached = 0.2 * np.linalg.inv(np.eye(8) - 0.8 * steps)
    reached[joined.sum(axis=1) == 0] = 0
    coherence = np.zeros(8)
    for string in range(3):
        own = slice(offsets[string], offsets[string + 1])
        best = (reached * priors[:, None])[own].max(axis=0)
        best[own] = 0
        coherence += best
    found, mean = walks(starts, neighbours, offsets, priors, 0.2, 1e-9)
    assert found == pytest.approx(coherence, abs=1e-6)
    assert mean > 0


def test_a_document_is_drawn_from_the_entity_topic_model() -> None:
    """Two mentions, two topics, two words: the posterior is enumerated."""
    generator = np.random.default_rng(3)
    mentions, offsets, places = np.array([0, 1]), np.array([0, 2, 4]), np.array([0, 1, 1, 2])
    names = np.log(generator.random(4))
    drawn = generator.dirichlet(np.ones(3), size=2).T.copy()  # [entity, topic]
    emitted = generator.dirichlet(np.ones(2), size=3).astype(np.float32)
    words, alpha = np.array([0, 1, 1]), 0.4
    wanted = np.zeros(4)
    for z1, z2, e1, e2 in itertools.product((0, 1), (0, 1), (0, 1), (2, 3)):
        theta = alpha / (2 * alpha) * ((z1 == z2) + alpha) / (1 + 2 * alpha)
        weight = theta * drawn[places[e1], z1] * drawn[places[e2], z2] * np.exp(names[e1] + names[e2])
        for word in words:
            weight *= (emitted[places[e1], word] + emitted[places[e2], word]) / 2
        wanted[[e1, e2]] += weight
    wanted /= wanted[:2].sum()
    stream = np.array([7], np.uint64)
    found = draw(mentions, offsets, places, names, drawn, emitted, words, alpha, 40000, 100, stream)
    assert found == pytest.approx(wanted, abs=0.012)


def test_training_finds_planted_topics_and_loses_nothing() -> None:
    """Articles of two worlds link to each other only within their world, and share a word with it."""
    size = 40
    linked = [
        [other for other in range(size) if other != article and other % 2 == article % 2] for article in range(size)
    ]
    rows = [[article % 2, 2 + article] for article in range(size)]
    articles = Articles(
        np.arange(0, 2 * size + 1, 2), np.concatenate(rows).astype(np.int32), np.full(2 * size, 3, np.float32),
        np.ones(size + 2), np.ones(size),
    )  # fmt: skip
    links = np.cumsum([0, *map(len, linked)])
    stream = np.array([5], np.uint64)
    flat = np.concatenate(linked).astype(np.uint32)
    trained = train(articles, links, flat, size + 2, 2, 0.1, 0.01, 0.1, 30, stream)
    assert trained.entities.sum() == len(flat) + size
    assert trained.sizes.tolist() == trained.entities.sum(axis=0).tolist()
    assert trained.lengths.sum() == pytest.approx(6 * size)
    assert trained.words.counts[trained.words.counts > 0].sum() == pytest.approx(6 * size)
    topics = trained.entities.argmax(axis=1)
    assert len(set(topics[::2])) == len(set(topics[1::2])) == 1
    assert topics[0] != topics[1]
    found = word_probabilities(trained, np.arange(size, dtype=np.uint32), np.arange(size + 2), size + 2, 0.1)
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert found[::2, 0].sum() > 2 * found[::2, 1].sum()


def test_a_document_is_drawn_from_the_category_model() -> None:
    """Two mentions and a word, three entities in two categories: the posterior is enumerated."""
    generator = np.random.default_rng(4)
    ways = Ways(np.array([0, 1, 3, 4]), np.array([0, 0, 1, 1]), np.array([5, 3]))
    tokens = Tokens(
        np.array([0, 2, 4, 6]), np.array([0, 2, 1, 2, 0, 1]), generator.random(6), np.array([0.0, 0.0, 0.2])
    )
    alpha, eta = 0.3, 0.5
    wanted = np.zeros(6)
    options = []
    for token in range(3):
        entries = range(tokens.offsets[token], tokens.offsets[token + 1])
        entity = [
            (at, way)
            for at in entries
            for way in range(ways.offsets[tokens.entities[at]], ways.offsets[tokens.entities[at] + 1])
        ]
        options.append(entity + ([(-1, -1)] if tokens.background[token] else []))
    for state in itertools.product(*options):
        weight, categories, taken = 1.0, [0, 0, 0], [0] * 4  # the third is the background
        for token, (at, way) in enumerate(state):  # Pólya's urns: the order does not matter
            category = 2 if way < 0 else int(ways.categories[way])
            weight *= categories[category] + alpha
            if way >= 0:
                weight *= (taken[way] + eta) / (categories[category] + eta * ways.sizes[category]) * tokens.emitted[at]
                taken[way] += 1
            else:
                weight *= tokens.background[token]
            categories[category] += 1
        for at, _ in state:
            if at >= 0:
                wanted[at] += weight
    wanted /= wanted[:2].sum()
    found = draw_categories(tokens, ways, alpha, eta, 60000, 100, np.array([3], np.uint64))
    assert found == pytest.approx(wanted, abs=0.012)


def test_aida_without_coherence_looks_at_each_mention_alone(model: Model, sample: Knowledge) -> None:
    aida = make("aida-local", Given(model, sample))
    whole = aida.link(marked("[[Croft]] bowled for [[England]]."))
    alone = aida.link(marked("[[Croft]] bowled for England."))
    assert whole[0] == alone[0]


def naive_score(words: list[int], text: list[int], inside: list[int], mention: int, weights: list[float]) -> float:
    places = [[at for at, word in enumerate(text) if word == each and inside[at] != mention] for each in words]
    there = [each for each in places if each]
    if not there:
        return 0.0
    cover = min(max(choice) - min(choice) + 1 for choice in itertools.product(*there))
    whole = sum(weights[word] for word in words)
    part = sum(weights[word] for word, each in zip(words, places, strict=True) if each)
    return len(there) / cover * (part / whole) ** 2 * whole / len(words)


@pytest.mark.parametrize("seed", range(20))
def test_keyphrases_against_all_covers(seed: int) -> None:
    generator = np.random.default_rng(seed)
    titles = [generator.choice(8, size=generator.integers(1, 5), replace=False).tolist() for _ in range(6)]
    weights = generator.random(8) + 0.1
    text = generator.integers(0, 12, size=25).tolist()  # 8 to 11 are in no title
    inside = np.where(generator.random(25) < 0.3, 7, -1)
    offsets = np.cumsum([0, *map(len, titles)])
    phrases = Phrases(offsets, np.concatenate(titles).astype(np.int32), np.arange(8, dtype=np.uint64), weights)
    known = [at for at, word in enumerate(text) if word < 8]
    order = sorted(known, key=lambda at: (text[at], at))
    places = Places(np.array([text[at] for at in order]), np.array(order), inside)
    # Topic 0 links to 1 and 2; 3 links to it.
    out, into = np.array([0, 2, 2, 2, 3, 3, 3]), np.array([0, 1, 2, 3, 3, 3, 3])
    graph = Graph(out, np.array([1, 2, 0], np.uint32), into, np.array([3, 0, 0], np.uint32))
    found = similarities(phrases, graph, places, 7, np.array([0, 4], np.uint32))
    naive = [naive_score(title, text, inside.tolist(), 7, weights.tolist()) for title in titles]
    assert found == pytest.approx([naive[0] + naive[1] + naive[2] + naive[3], naive[4]])


def test_words_of_titles_stop_at_a_parenthesis(sample: Knowledge) -> None:
    phrases = phrases_of(sample)
    sizes = np.diff(phrases.offsets)
    assert sizes[sample.titles.find("Croft (land)")] == 1
    assert sizes[sample.titles.find("Robert Croft")] == 2
    # A word that more titles have tells less.
    croft, robert = (
        phrases.weights[phrases.words[phrases.offsets[sample.titles.find("Robert Croft")] + at]] for at in (1, 0)
    )
    assert croft < robert


def alike(size: int, pairs: dict[tuple[int, int], float]) -> Likeness:
    rows: list[list[tuple[int, float]]] = [[] for _ in range(size)]
    for (a, b), value in pairs.items():
        rows[a].append((b, value))
        rows[b].append((a, value))
    offsets = np.cumsum([0, *map(len, rows)])
    flat = [each for row in rows for each in sorted(row)]
    neighbours = np.array([number for number, _ in flat], np.int32)
    return Likeness(np.arange(size, dtype=np.uint32), offsets, neighbours, np.array([v for _, v in flat], np.float32))


def test_densest_subgraph_follows_coherence() -> None:
    # Two mentions; 0 and 2 are a little better by themselves, 1 and 3 belong together.
    edges = Edges(np.array([0, 2, 4]), np.array([0, 1, 2, 3]), np.array([0.55, 0.45, 0.55, 0.45]))
    assert densest(edges, alike(4, {(1, 3): 0.8}), 0.4).tolist() == [1, 3]
    assert densest(edges, alike(4, {(1, 3): 0.8}), 0.0).tolist() == [0, 2]
    assert densest(edges, alike(4, {}), 0.4).tolist() == [0, 2]


def test_densest_subgraph_never_leaves_a_mention_without_an_entity() -> None:
    for seed in range(30):
        generator = np.random.default_rng(seed)
        sizes = generator.integers(0, 6, size=8)
        offsets = np.cumsum([0, *sizes])
        chosen = [generator.choice(20, size=size, replace=False) for size in sizes]
        edges = Edges(offsets, np.concatenate(chosen).astype(np.int64), generator.random(offsets[-1]))
        pairs = {(a, b): float(generator.random()) for a in range(20) for b in range(a) if generator.random() < 0.2}
        for mention, place in enumerate(densest(edges, alike(20, pairs), 0.4).tolist()):
            if sizes[mention]:
                assert offsets[mention] <= place < offsets[mention + 1]
            else:
                assert place == -1

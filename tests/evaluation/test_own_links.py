"""Own links of a wiki as gold, and what is learned from wikis that hardly have any."""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from benchmarks.weights import pool
from click.testing import CliRunner

from tests.wikis import FILLER, page, write_dump
from wikilda import BuildSettings, Knowledge, Linker, Model, build, evaluate_own_links
from wikilda._core.errors import InputError
from wikilda.cli.evaluate import command
from wikilda.cli.show import command as show
from wikilda.documents.document import Document
from wikilda.evaluation.own_links import own_links
from wikilda.knowledge.held_out import articles
from wikilda.model.weights import pooled

SETTINGS = BuildSettings(max_word_share=1.0, min_word_topics=1)
FACTS = {
    "river": "Its water flows through a valley with bridges and boats to the delta.",
    "painter": "Her canvas and brush made portraits for the gallery and its exhibition.",
}
FIELDS = tuple(FACTS)
NAMES = [
    f"{first}{last}" for first in ("Bel", "Cor", "Dan", "Fen", "Gor", "Hal") for last in ("aro", "imo", "ura", "eso")
]


def wiki(size: int = 120) -> list[str]:
    """Every name means a river or a painter; an article is of one field, and links names of it nine times of ten."""
    generator = np.random.default_rng(2)
    pages = [
        page(f"{name} ({field})", f"'''{name}''' is a {field}. {FILLER} {FACTS[field]} " * 3)
        for name in NAMES
        for field in FIELDS
    ]
    for number in range(size):
        field = FIELDS[number % 2]
        chosen = generator.choice(NAMES, 8, replace=False)
        fields = [field if generator.random() < 0.9 else FIELDS[1 - number % 2] for _ in chosen]
        links = [f"The {kind} [[{name} ({kind})|{name}]] is here." for name, kind in zip(chosen, fields, strict=True)]
        text = " ".join([*links, f"[[Nowhere {number}]] is not. {FILLER} {FACTS[field]} " * 8])
        pages.append(page(f"Story {number}", text))
    return pages


def built(pages: list[str], place: Path) -> Model:
    place.mkdir(parents=True, exist_ok=True)
    return build(write_dump(place / "wiki.xml", pages), place / "model", settings=SETTINGS, workers=1)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return built(wiki(), tmp_path_factory.mktemp("own"))


def counts_of(knowledge: Knowledge) -> Counter[tuple[str, int]]:
    found: Counter[tuple[str, int]] = Counter()
    for symbol in range(len(knowledge.mention_strings)):
        topics, counts = knowledge.mentions.row(symbol)
        found.update(
            dict(
                zip(
                    [(knowledge.mention_strings[symbol], topic) for topic in topics.tolist()],
                    counts.tolist(),
                    strict=True,
                )
            )
        )
    return found


def test_articles_are_taken_out_of_all_counts(made: Model) -> None:
    """Against a count with dictionaries: no hidden topic, no link of the articles, is left anywhere."""
    known = made.knowledge()
    given, dataset = own_links(made, known)
    rest = given.knowledge
    taken = list(articles(known))[0::2]
    hidden = {each.topic for each in taken}
    assert len(dataset.documents) == len(taken) > 20
    wanted = counts_of(known)
    for article in taken:
        for (start, end), target in zip(article.spans, article.targets.tolist(), strict=True):
            symbol = known.find_mention(article.text[start:end])
            if symbol >= 0 and target >= 0:
                wanted[known.mention_strings[symbol], target] -= 1
    assert counts_of(rest) == Counter({pair: n for pair, n in wanted.items() if n > 0 and pair[1] not in hidden})
    assert not hidden & set(rest.words.topics.tolist())
    for topic in range(given.model.topics):
        there, rests = known.graph, rest.graph
        out = set(there.out_topics[there.out_offsets[topic] : there.out_offsets[topic + 1]].tolist())
        left = set(rests.out_topics[rests.out_offsets[topic] : rests.out_offsets[topic + 1]].tolist())
        assert left == (set() if topic in hidden else out - hidden)
    for title in (known.titles[topic] for topic in hidden):
        assert rest.find_mention(title) == -1
        means = Linker(given.model, rest).link(Document(title, [(0, len(title))])).mentions[0].candidates
        assert not hidden & {each.entity.topic for each in means}


def test_the_model_is_not_changed(made: Model) -> None:
    before = counts_of(made.knowledge())
    given, _ = own_links(made, made.knowledge())
    assert given.model.identity != made.identity
    assert counts_of(made.knowledge()) == before
    assert Model.open(made.path).weights == made.weights


def test_the_urn_beats_the_prior_where_words_tell_the_meaning(made: Model) -> None:
    found = evaluate_own_links(made.path, workers=1)
    [runs] = found.runs
    assert [each.method for each in runs] == ["prior", "tagme", "lda", "urn"]
    right = {each.method: float(each.right[each.gold.known].mean()) for each in runs}
    assert right["urn"] > right["prior"] + 0.1
    nil = runs[-1].gold.topics < 0
    assert nil.sum() > 50


def test_the_command_needs_no_gold(made: Model, tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    result = CliRunner().invoke(
        command, [str(made.path), "--own-links", "--method", "prior", "--method", "urn", "-o", str(file)]
    )
    assert result.exit_code == 0, result.output
    assert "own links of model" in result.output
    assert "urn − prior" in result.output
    assert json.loads(file.read_text("utf-8"))
    for arguments in ([], ["--own-links", str(file)]):
        assert CliRunner().invoke(command, [str(made.path), *arguments]).exit_code == 2


def test_methods_with_a_model_of_their_own_are_refused(made: Model) -> None:
    with pytest.raises(InputError, match="paper makes a model of its own"):
        evaluate_own_links(made.path, methods=["paper"])


def test_weights_are_pooled_over_wikis_by_a_script(
    made: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script behind the file that ships, on wikis that are here: same models, same file."""
    for name in ("a.json", "b.json"):
        monkeypatch.setattr(sys, "argv", ["pool", str(made.path), str(made.path), "-o", str(tmp_path / name)])
        pool.main()
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    found = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert found["weights"].keys() == pooled().to_mapping().keys()
    assert found["wikis"][0]["accuracy"] > found["wikis"][0]["prior"]
    assert len(found["bias"]) == 2


LISTS = [
    page(f"List {at}", f"{FILLER} " + "\n".join(f"* [[{name} (river)|{name}]]" for name in NAMES[at:]))
    for at in range(8)
]
LONG = f"{FILLER} " * 20
POOR = {
    "no links": [page(f"Story {at}", f"Story {at} of {NAMES[at]}. {LONG}") for at in range(20)],
    "ten pages": wiki(10)[-10:] + wiki()[:4],
    "one link, repeated": [page("Story", f"{LONG} " + "[[Belaro (river)|Belaro]] runs. " * 3000), *wiki()[:8]],
    "links in lists": [*LISTS, *wiki()[:48]],
}


@pytest.mark.parametrize("kind", POOR)
def test_poor_wikis_have_pooled_weights_and_answer_like_the_prior(kind: str, tmp_path: Path) -> None:
    """A message says where the weights are from; the most common meaning wins where nothing else is known."""
    made = built(POOR[kind], tmp_path)
    assert made.weights is None
    assert made.learned_weights == {}
    shown = CliRunner().invoke(show, [str(made.path)])
    assert "too few links to learn its own" in shown.output
    known, linker = made.knowledge(), Linker.open(made.path)
    for symbol in range(min(len(known.mention_strings), 30)):
        string = known.mention_strings[symbol]
        topics, counts = known.mentions.row(symbol)
        [mention] = linker.link(Document(string, [(0, len(string))])).mentions
        chosen = [each.entity.topic for each in mention.candidates]
        assert chosen[0] in set(topics[counts == counts.max()].tolist())

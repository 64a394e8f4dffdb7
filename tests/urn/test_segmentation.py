"""Which of the spans that overlap are mentions."""

from itertools import pairwise

import numpy as np
import pytest

from wikilda.documents.detection import DictionaryDetector
from wikilda.documents.document import marked
from wikilda.documents.encoding import EncodedDocument
from wikilda.knowledge import Knowledge
from wikilda.linking import Linker
from wikilda.linking.results import is_nil
from wikilda.model import Model, create_model
from wikilda.text.characters import characters
from wikilda.text.folding import folds
from wikilda.text.tokens import Strings, tokens_of
from wikilda.urn import segment
from wikilda.urn._coreference import names_of, parents_of

UNKNOWN = "Deputy Chairman Zebulon Robert Croft"


TITLES = {7: "Building society", 8: "Secretary of state", 9: "Nationwide Building Society"}
Names = list[tuple[str, float]] | list[tuple[str, float, int]]


def chosen(text: str, names: Names, *, known: bool = False, nested: bool = False) -> list[str]:
    """The names that are mentions, given how probably each is NIL and, if it matters, the topic that it means.

    The dictionary has all but the first, and that if it is `known`.
    """
    spans = [(text.index(name), text.index(name) + len(name)) for name, *_ in names]
    symbols = [at if at or known else -1 for at in range(len(names))]
    encoded = EncodedDocument([], symbols, text=text, spans=spans)
    topics = np.array([each[2] if len(each) == 3 else at for at, each in enumerate(names)], np.int64)
    unknown = np.array([is_nil(each[1], 1.0) for each in names], np.bool_)
    kept = segment(encoded, topics, unknown, lambda topic: TITLES.get(topic, "Robert Croft"), nested=nested)
    return [text[start:end] for (start, end), keep in zip(spans, kept.tolist(), strict=True) if keep]


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("Deputy Robert Croft", [("Deputy Robert Croft", 0.9), ("Robert Croft", 0.1)], ["Robert Croft"]),
        ("Deputy Robert Croft", [("Deputy Robert Croft", 0.2), ("Robert Croft", 0.1)], ["Deputy Robert Croft"]),
        ("Deputy Robert Croft", [("Deputy Robert Croft", 0.9), ("Robert Croft", 0.8)], ["Deputy Robert Croft"]),
        ("Vermont Hospital", [("Vermont Hospital", 0.9), ("Vermont", 0.0)], ["Vermont Hospital"]),
        ("Howard Hughes", [("Howard Hughes", 0.9), ("Hughes", 0.0)], ["Howard Hughes"]),
        ("Bank of America", [("Bank of America", 0.1), ("America", 0.0)], ["Bank of America"]),
        ("President of Russia", [("President of Russia", 0.9), ("Russia", 0.0)], ["Russia"]),
        ("University of Russia", [("University of Russia", 0.9), ("Russia", 0.0)], ["University of Russia"]),
        ("Wolf met Russia", [("Wolf met Russia", 0.9), ("Russia", 0.0)], ["Russia"]),
        ("Dutch Judge Mark Wolf left Ghent",
         [("Dutch Judge Mark Wolf", 0.9), ("Dutch", 0.1), ("Mark Wolf", 0.1), ("Ghent", 0.9)],
         ["Dutch", "Mark Wolf", "Ghent"]),
        ("Essex Building Society", [("Essex Building Society", 0.9), ("Building Society", 0.0, 7)],
         ["Essex Building Society"]),
        ("Mr Nationwide Society", [("Mr Nationwide Society", 0.9), ("Nationwide Society", 0.0, 9)],
         ["Nationwide Society"]),
        ("Essex Secretary of State", [("Essex Secretary of State", 0.9), ("Secretary of State", 0.0, 8)],
         ["Essex Secretary of State"]),
        ("", [], []),
    ],
)  # fmt: skip
def test_what_spans_mean_decides(text: str, names: Names, expected: list[str]) -> None:
    assert chosen(text, names) == expected


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("Minister David Levy", [("Minister David Levy", 0.1, 7), ("David Levy", 0.1, 7)], ["David Levy"]),
        ("Minister David Levy", [("Minister David Levy", 0.1, 7), ("David Levy", 0.1, 8)], ["Minister David Levy"]),
        ("Anton Drobnjak", [("Anton Drobnjak", 0.1, 7), ("Drobnjak", 0.1, 7)], ["Anton Drobnjak"]),
        ("Evans c Healy", [("Evans c Healy", 0.1, 7), ("Healy", 0.1, 7)], ["Healy"]),
        ("Acme Anvils Inc", [("Acme Anvils Inc", 0.1, 7), ("Acme Anvils", 0.1, 7)], ["Acme Anvils Inc"]),
    ],
)
def test_a_name_that_the_dictionary_lacks_gives_way_to_the_full_name_that_it_ends_with(
    text: str, names: Names, expected: list[str]
) -> None:
    assert chosen(text, names) == expected


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("Bank of America", [("Bank of America", 0.1), ("America", 0.0)], ["Bank of America"]),
        ("Hong Kong dollar", [("Hong Kong dollar", 0.1, 7), ("Hong Kong", 0.0, 8)], ["Hong Kong dollar"]),
        ("Catholic church", [("Catholic church", 0.1, 7), ("Catholic", 0.0, 7)], ["Catholic"]),
        ("Catholic Church", [("Catholic Church", 0.1, 7), ("Catholic", 0.0, 7)], ["Catholic Church"]),
        ("Texas 3", [("Texas 3", 0.9), ("Texas", 0.0)], ["Texas"]),
        ("1994 Wimbledon", [("1994 Wimbledon", 0.9), ("Wimbledon", 0.0)], ["Wimbledon"]),
        ("Texas 3", [("Texas 3", 0.9), ("Texas", 0.9)], ["Texas 3"]),
        ("Euro 96", [("Euro 96", 0.1, 7), ("Euro", 0.1, 8)], ["Euro 96"]),
        ("Islamic Museum", [("Islamic Museum", 0.9), ("Islamic", 0.0)], ["Islamic Museum"]),
    ],
)
def test_a_known_name_beats_its_parts_unless_its_end_is_no_name_and_adds_nothing(
    text: str, names: Names, expected: list[str]
) -> None:
    assert chosen(text, names, known=True) == expected


def test_nested_mentions_are_the_parts_that_have_a_meaning() -> None:
    names = [("Vermont State Hospital", 0.9), ("Vermont", 0.0), ("State", 0.8)]
    assert chosen("Vermont State Hospital", names, nested=True) == ["Vermont State Hospital", "Vermont"]


def test_a_name_is_not_the_parent_of_its_own_part() -> None:
    names = names_of(Strings.of(["Zebulon Croft", "Croft"]), characters(), folds())
    assert parents_of(names, np.arange(2), np.array([4, 5])).tokens.tolist() == []
    assert parents_of(names, np.arange(2), np.array([4, 9])).tokens.tolist() == [0]


@pytest.fixture(scope="module")
def linker(sample: Knowledge, tmp_path_factory: pytest.TempPathFactory) -> Linker:
    target = tmp_path_factory.mktemp("segmentation") / "model"
    create_model(sample, target)
    return Linker(Model.open(target))


def test_a_known_name_at_the_end_of_an_unknown_one_is_found(linker: Linker) -> None:
    """The sample's articles lack the word *deputy*, which may be a name then, but is never linked."""
    found = {each.text: each.entity and each.entity.title for each in linker.link(f"We met {UNKNOWN}.").mentions}
    assert found.pop("Robert Croft") == "Robert Croft"
    assert found in ({}, {"Deputy": None})


@pytest.mark.parametrize("before", ["Chairman", "Prime Minister", "Mr", "Zebulon", "Chairman Zebulon"])
def test_words_before_a_known_name_are_no_mention(linker: Linker, before: str) -> None:
    mentions = linker.link(f"We met {before} Robert Croft.").mentions
    found = [(each.text, each.entity and each.entity.title) for each in mentions]
    assert found == [("Robert Croft", "Robert Croft")]


def test_nested_is_on_request(linker: Linker) -> None:
    text = f"We met {UNKNOWN} in Cardiff."
    plain, nested = ([each.text for each in linker.link(text, nested=each).mentions] for each in (False, True))
    assert set(plain) < set(nested)
    assert "Robert Croft" in nested
    assert next(iter(linker.link_many([text], nested=True))).mentions == linker.link(text, nested=True).mentions


def test_given_spans_stay(linker: Linker) -> None:
    document = marked(f"We met [[{UNKNOWN}]].")
    assert [each.text for each in linker.link(document).mentions] == [UNKNOWN]


def test_proposals_are_linear_in_the_text(sample: Knowledge) -> None:
    """One name many times, a list of names, a page in capitals, a script without capitals: no more proposals a token."""
    detector = DictionaryDetector(sample)
    for piece in (
        "Robert Croft ",
        "Zyx Robert Croft ",
        "Robert Croft, Zyx Quux\n",
        "ROBERT CROFT ",
        "東京 クリケット ",
    ):
        few, many = (len(detector.propose_tokens(tokens_of(piece * times), nested=True)) for times in (50, 500))
        assert many <= 10 * few + 10
        assert many <= 3 * 500


def test_mentions_do_not_overlap_and_are_in_order(linker: Linker) -> None:
    text = "Zyx Robert Croft of England, Deputy Zyx Brian Lara. ROBERT CROFT OF ENGLAND " * 40
    spans = [(each.start, each.end) for each in linker.link(text, topics=0).mentions]
    assert spans
    assert all(before[1] <= after[0] for before, after in pairwise(spans))

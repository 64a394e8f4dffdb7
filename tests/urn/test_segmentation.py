"""Which of the spans that overlap are mentions."""

from itertools import pairwise

import numpy as np
import pytest

from tests.urn.test_coreference import marked
from wikilda.documents.detection import DictionaryDetector
from wikilda.knowledge import Knowledge
from wikilda.linking import Linker
from wikilda.linking.results import is_nil
from wikilda.model import Model, create_model
from wikilda.text.tokens import tokens_of
from wikilda.urn import segment
from wikilda.urn._coreference import Name, parents_of

UNKNOWN = "Deputy Chairman Zebulon Robert Croft"


def chosen(text: str, names: list[tuple[str, float]], *, nested: bool = False) -> list[str]:
    """The names that are mentions, given how probably each is NIL."""
    spans = [(text.index(name), text.index(name) + len(name)) for name, _ in names]
    kept = segment(text, spans, np.array([is_nil(nil) for _, nil in names]), nested=nested)
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
        ("Dutch Judge Mark Wolf left Ghent",
         [("Dutch Judge Mark Wolf", 0.9), ("Dutch", 0.1), ("Mark Wolf", 0.1), ("Ghent", 0.9)],
         ["Dutch", "Mark Wolf", "Ghent"]),
        ("", [], []),
    ],
)  # fmt: skip
def test_what_spans_mean_decides(text: str, names: list[tuple[str, float]], expected: list[str]) -> None:
    assert chosen(text, names) == expected


def test_nested_mentions_are_the_parts_that_have_a_meaning() -> None:
    names = [("Vermont State Hospital", 0.9), ("Vermont", 0.0), ("State", 0.8)]
    assert chosen("Vermont State Hospital", names, nested=True) == ["Vermont State Hospital", "Vermont"]


def test_a_name_is_not_the_parent_of_its_own_part() -> None:
    names = [Name.of("Zebulon Croft"), Name.of("Croft")]
    assert parents_of(names, [0, 1], [4, 5]).tokens.tolist() == []
    assert parents_of(names, [0, 1], [4, 9]).tokens.tolist() == [0]


@pytest.fixture(scope="module")
def linker(sample: Knowledge, tmp_path_factory: pytest.TempPathFactory) -> Linker:
    target = tmp_path_factory.mktemp("segmentation") / "model"
    create_model(sample, target)
    return Linker(Model.open(target))


def test_a_known_name_at_the_end_of_an_unknown_one_is_found(linker: Linker) -> None:
    found = [
        (each.text, each.entity.title if each.entity else None) for each in linker.link(f"We met {UNKNOWN}.").mentions
    ]
    assert found in ([("Robert Croft", "Robert Croft")], [(UNKNOWN, "Robert Croft")])


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

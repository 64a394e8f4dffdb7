"""The rules of the paper, on wikis small enough to count by hand."""

from pathlib import Path

import numpy as np
import pytest

from tests.knowledge.conftest import EASY, ONE, build, compiled
from tests.knowledge.contents import arrays, counts_of, links_of, topics_of
from tests.mediawiki.dumps import multistream
from tests.wikis import FILLER, dump, page, write_dump
from wikilda._core.errors import ArtifactError, InputError, SettingsError, WikildaError
from wikilda.knowledge import BuildSettings, Knowledge, Resources, build_from_dump


def test_topics_are_the_admissible_articles_in_order(cricket: Knowledge) -> None:
    assert list(cricket.titles) == ["Cricket", "Croft (cricketer)", "Lara Croft", "Tomb Raider", "Wales"]
    summary = cricket.manifest["summary"]
    assert summary["articles"] == 8
    assert summary["redirects"] == 5
    assert (summary["disambiguation pages"], summary["list pages"], summary["too short"]) == (1, 1, 1)
    assert summary["redirects to topics"] == 2
    assert summary["redirects in circles"] == 2
    assert summary["redirects elsewhere"] == 1


def test_mentions_come_from_titles_redirects_and_anchors(cricket: Knowledge) -> None:
    # Title without its parenthesis once; anchors: one in Lara Croft, two in Cricket; three to Lara Croft.
    assert topics_of(cricket, "croft") == {"Croft (cricketer)": 4, "Lara Croft": 3}
    assert topics_of(cricket, "Croft (cricketer)") == {"Croft (cricketer)": 2}  # title, disambiguation page's link
    assert topics_of(cricket, "robert croft") == {"Croft (cricketer)": 1}
    assert topics_of(cricket, "R. Croft") == {"Croft (cricketer)": 1}  # through two redirects
    assert topics_of(cricket, "the heroine") == {"Lara Croft": 1}  # anchors of list pages count
    assert topics_of(cricket, "lara croft") == {"Lara Croft": 2}
    assert topics_of(cricket, "game") == {"Cricket": 1}  # in a template
    assert cricket.find_mention("wickets") == -1  # a link to no topic names none
    assert cricket.find_mention("loop a") == -1


def test_link_probability_counts_links_among_occurrences(cricket: Knowledge) -> None:
    croft = cricket.find_mention("croft")
    assert cricket.linked[croft] == 6
    # 3 in the cricketer's article (its title is not text), 2 in Lara Croft's, 2 in Cricket, 3 in Tomb Raider, and in
    # the disambiguation page: bold, "Lara Croft", "Croft (cricketer)".
    assert cricket.occurrences[croft] == 2 + 2 + 2 + 3 + 3
    assert cricket.link_probability(croft) == 6 / 12
    game = cricket.find_mention("game")
    assert (cricket.linked[game], cricket.occurrences[game]) == (0, 1)  # a link in a template is not in running text


def test_words_are_counted_by_topic(cricket: Knowledge) -> None:
    assert counts_of(cricket, "bowls") == {"Croft (cricketer)": 1}
    assert counts_of(cricket, "croft") == {"Croft (cricketer)": 2, "Lara Croft": 2, "Cricket": 2, "Tomb Raider": 3}
    assert counts_of(cricket, "game") == {"Tomb Raider": 1}
    croft = cricket.word_strings.find("croft")
    assert (cricket.word_totals[croft], cricket.word_frequencies[croft]) == (9, 4)
    assert cricket.word_strings.find("infobox") == -1


def test_links_are_distinct_and_sorted_and_resolved(cricket: Knowledge) -> None:
    assert links_of(cricket, "Cricket", "out") == {"Croft (cricketer)"}
    assert links_of(cricket, "Cricket", "in") == {"Croft (cricketer)", "Wales"}
    assert links_of(cricket, "Tomb Raider", "out") == {"Lara Croft"}
    assert links_of(cricket, "Croft (cricketer)", "in") == {"Lara Croft", "Cricket"}
    for offsets, targets in (
        (cricket.graph.out_offsets, cricket.graph.out_topics),
        (cricket.graph.in_offsets, cricket.graph.in_topics),
    ):
        assert offsets[-1] == len(targets)
        for topic in range(len(cricket.titles)):
            row = targets[offsets[topic] : offsets[topic + 1]].astype(int)
            assert (np.diff(row) > 0).all()


def test_titles_are_found_through_redirects_and_spellings(cricket: Knowledge) -> None:
    croft = cricket.titles.find("Croft (cricketer)")
    for spelled in ("Croft (cricketer)", "croft_(cricketer)", "Robert Croft", "R. Croft"):
        assert cricket.find_topic(spelled) == croft
    assert cricket.find_topic("Nowhere") == -1
    assert cricket.url(croft) == "https://test.example/wiki/Croft_(cricketer)"
    assert cricket.sentences[croft] == "Croft is a Welsh cricketer."


def test_stop_words_rare_words_and_the_best_topics(tmp_path: Path) -> None:
    def text(at: int) -> str:
        rare = "onlytwice" if at < 2 else ""
        return f"everywhere {'fifth ' * (at + 1) if at < 4 else ''} {rare} {FILLER}"

    pages = [page(f"Topic {at:02d}", text(at)) for at in range(20)]
    known = build(tmp_path, pages, BuildSettings(max_word_share=0.2, min_word_topics=3, topics_per_word=2))
    assert known.word_strings.find("everywhere") == -1  # in more than a fifth of the topics
    assert known.word_strings.find("onlytwice") == -1  # in fewer than three
    assert counts_of(known, "fifth") == {"Topic 02": 3, "Topic 03": 4}  # in exactly a fifth; the two best of four
    assert known.word_totals[known.word_strings.find("fifth")] == 10


def test_single_characters_are_no_mentions(tmp_path: Path) -> None:
    known = build(tmp_path, [page("C", f"A [[C (language)|C]]. {FILLER}"), page("C (language)", FILLER)])
    assert known.find_mention("c") == -1
    assert topics_of(known, "c (language)") == {"C (language)": 1}


def test_another_language_brings_its_own_words(tmp_path: Path) -> None:
    pages = [
        page("Kohl", f"'''Kohl''' ist ein Gemüse. {FILLER}"),
        page("Kohl (Begriffsklärung)", f"{{{{Begriffsklärung}}}} [[Kohl]] {FILLER}"),
        page("Liste der Gemüse", f"[[Kohl]]köpfe und [[Datei:Kohl.jpg|mini|Ein [[Kohl|Krautkopf]]]] {FILLER}"),
        page("Kraut", "#WEITERLEITUNG [[Kohl]]"),
    ]
    known = build(tmp_path, pages, language="de", namespaces={"": 0, "Datei": 6, "Vorlage": 10, "Kategorie": 14})
    assert list(known.titles) == ["Kohl"]
    assert topics_of(known, "kohlköpfe") == {"Kohl": 1}
    assert topics_of(known, "krautkopf") == {"Kohl": 1}
    assert known.find_topic("Kraut") == 0  # a redirect that only its text shows
    assert counts_of(known, "gemüse") == {"Kohl": 1}


def test_disambiguation_is_found_by_template_magic_category_and_setting(tmp_path: Path) -> None:
    pages = [
        page("By magic", f"__DISAMBIG__ {FILLER}"),
        page("By a template that says so", f"{{{{Mehrdeutig}}}} {FILLER}"),
        page("By a template that uses it", f"{{{{Outer|x}}}} {FILLER}"),
        page("By a template's redirect", f"{{{{alias}}}} {FILLER}"),
        page("By category", f"{FILLER} [[Category:All disambiguation pages]]"),
        page("By suffix (disambiguation)", FILLER),
        page("By setting", f"{{{{Own mark}}}} {FILLER}"),
        page(
            "Not one", f"[[:Category:All disambiguation pages]] <nowiki>{{{{Disambig}}}}</nowiki> {{{{Stub}}}} {FILLER}"
        ),
        page("Template:Mehrdeutig", "<includeonly>x __DISAMBIG__</includeonly>", namespace=10),
        page("Template:Stub", "A stub. <noinclude>Not for {{Mehrdeutig}} __DISAMBIG__</noinclude>", namespace=10),
        page("Template:Outer", "{{mehrdeutig}}", namespace=10),
        page("Template:Alias", redirect="Template:Outer", namespace=10),
    ]
    assert list(build(tmp_path, pages).titles) == ["By setting", "Not one"]
    marked = BuildSettings(disambiguation_templates=("own mark",), disambiguation_suffixes=("nothing",))
    assert "By setting" not in list(build(tmp_path, pages, marked).titles)
    assert len(build(tmp_path, pages, BuildSettings(keep_disambiguation=True)).titles) == 8


def test_the_first_of_two_pages_with_one_title_counts(tmp_path: Path) -> None:
    pages = [page("Twice", f"first {FILLER}"), page("Twice", f"second {FILLER}"), page("Other", f"[[Twice]] {FILLER}")]
    known = build(tmp_path, pages)
    assert list(known.titles) == ["Other", "Twice"]
    assert known.manifest["summary"]["duplicate titles"] == 1
    assert counts_of(known, "first") == {"Twice": 1}
    assert known.word_strings.find("second") == -1
    assert topics_of(known, "twice") == {"Twice": 2}


def test_case_sensitive_wikis_keep_their_letters_apart(tmp_path: Path) -> None:
    pages = [page("may", f"A verb. {FILLER}"), page("May", f"A month, not [[may]]. {FILLER}")]
    known = build(tmp_path, pages, case="case-sensitive")
    assert list(known.titles) == ["May", "may"]
    assert links_of(known, "May", "out") == {"may"}


def test_page_props_bring_wikidata_and_disambiguation(tmp_path: Path) -> None:
    import gzip

    pages = [page("Douglas", f"A writer. {FILLER}", number=8091), page("Adams", f"Names. {FILLER}", number=7)]
    wiki = write_dump(tmp_path / "w.xml", pages)
    rows = "(8091,'displaytitle','it\\'s, (1,','1'),(8091,'wikibase_item','Q42',NULL),(7,'disambiguation','',NULL),(7,'wikibase_item','Q9',NULL)"
    props = tmp_path / "w-page_props.sql.gz"
    props.write_bytes(gzip.compress(f"-- dump\nINSERT INTO `page_props` VALUES {rows};\n".encode()))
    known = build_from_dump([wiki], tmp_path / "kb", EASY, page_props=props, resources=ONE)
    assert list(known.titles) == ["Douglas"]
    assert known.wikidata[0] == 42
    assert known.page_ids[0] == 8091
    props.write_bytes(gzip.compress(b"-- nothing"))
    with pytest.raises(InputError, match="page_props"):
        build_from_dump([wiki], tmp_path / "kb2", EASY, page_props=props, resources=ONE)


@pytest.mark.skipif(not compiled(), reason="worker processes would run uncompiled")
def test_the_result_is_the_same_for_any_form_of_dump_and_number_of_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wikilda.knowledge.build.PIECE_SIZE", 2000)
    pages = [page(f"Topic {at}", f"word{at % 7} [[Topic {at * 3 % 50}|name {at % 5}]] {FILLER}") for at in range(50)]
    plain = write_dump(tmp_path / "a.xml", pages)
    packed = write_dump(tmp_path / "b.xml.bz2", pages)
    streams = multistream(tmp_path, dump(pages).encode(), 7)
    made = [
        build_from_dump([plain], tmp_path / "one", EASY, resources=ONE),
        build_from_dump([packed], tmp_path / "two", EASY, resources=ONE),
        build_from_dump([streams], tmp_path / "three", EASY, resources=Resources(2, "300MB")),
    ]
    assert len(list((tmp_path / "one").iterdir())) > 3
    assert arrays(made[0].path) == arrays(made[1].path) == arrays(made[2].path)
    assert made[0].identity == made[1].identity == made[2].identity


def test_parts_of_one_wiki_are_read_together_and_of_two_refused(tmp_path: Path) -> None:
    first = write_dump(tmp_path / "p1.xml", [page("One", f"[[Two]] {FILLER}", number=1)])
    second = write_dump(tmp_path / "p2.xml", [page("Two", FILLER, number=2)])
    known = build_from_dump([first, second], tmp_path / "kb", EASY, resources=ONE)
    assert links_of(known, "One", "out") == {"Two"}
    second.write_text(second.read_text().replace("testwiki", "otherwiki"))
    with pytest.raises(InputError, match="otherwiki"):
        build_from_dump([first, second], tmp_path / "kb2", EASY, resources=ONE)


def test_a_bad_page_is_counted_and_does_not_stop_the_rest(tmp_path: Path) -> None:
    good = [page("Good", FILLER), page("Better", f"[[Good]] {FILLER}")]
    bad = "<page><title>Bad</title><ns>0</ns><id>x</id><revision><text>a & b</text></revision></page>"
    endless = page("Endless", FILLER).replace("</page>", "")
    long = page("L" * 10_000, FILLER)
    known = build(tmp_path, [good[0], bad, endless, long, page("Empty", ""), good[1]])
    summary, complaints = known.manifest["summary"], known.manifest["complaints"]
    assert list(known.titles) == ["Better", "Good"]
    assert summary["unreadable pages"] == 2
    assert summary["bad titles"] == 1
    assert summary["pages without text"] == 1
    assert any("'Bad'" in each and "wiki.xml" in each for each in complaints)


def test_a_wiki_without_topics_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(WikildaError, match=r"no page is a topic.*too short"):
        build(tmp_path, [page("A", "short")])
    assert not (tmp_path / "kb").exists()
    assert not (tmp_path / "kb.writing").exists()


def test_existing_files_are_overwritten_only_on_request(tmp_path: Path) -> None:
    wiki = write_dump(tmp_path / "w.xml", [page("A", FILLER)])
    build_from_dump([wiki], tmp_path / "kb", EASY, resources=ONE)
    with pytest.raises(ArtifactError, match="exists already"):
        build_from_dump([wiki], tmp_path / "kb", EASY, resources=ONE)
    build_from_dump([wiki], tmp_path / "kb", EASY, resources=ONE, overwrite=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(ArtifactError, match="will not be overwritten"):
        build_from_dump([wiki], tmp_path / "mine", EASY, resources=ONE, overwrite=True)
    assert (tmp_path / "mine" / "thesis.txt").exists()


def test_settings_out_of_range_are_refused() -> None:
    for wrong in ({"max_word_share": 0.0}, {"max_word_share": 2.0}, {"min_text": -1}):
        with pytest.raises(SettingsError):
            BuildSettings(**wrong)


@pytest.mark.parametrize(
    ("template", "is_topic"),
    [
        ("TLAdisambig", False),
        ("2CC", False),
        ("disambig-cleanup", False),
        ("disambiguation needed", True),
        ("Stub", True),
    ],
)
def test_templates_tell_disambiguation_by_their_names(tmp_path: Path, template: str, is_topic: bool) -> None:
    """AWK and ACN of 2006, whose templates are not in the dump."""
    pages = [
        page("AWK", f"AWK may be a station. {FILLER} {{{{{template}}}}}"),
        page("Rock", f"A rock is hard. {FILLER}"),
    ]
    assert (build(tmp_path, pages).find_topic("AWK") >= 0) == is_topic


def test_too_little_disk_is_reported_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikilda.knowledge.build.DISK_A_BYTE", 1e12)
    with pytest.raises(WikildaError, match=r"needs about \d+\.\d GB of disk, but \d+\.\d GB are free"):
        build(tmp_path, [page("Rock", f"A rock is hard. {FILLER}")])


@pytest.mark.parametrize("topics", [3, 20, 60])
def test_a_small_wiki_has_words(tmp_path: Path, topics: int) -> None:
    """With the settings of large ones, 20 topics had none."""
    pages = [page(f"Rock {n}", f"Rock {n} is a kind{n % 3} of stone{n % 7}. {FILLER}") for n in range(topics)]
    made = build(tmp_path, pages, BuildSettings())
    assert len(made.word_strings) > 0
    assert "only" not in list(made.word_strings)  # which every page has

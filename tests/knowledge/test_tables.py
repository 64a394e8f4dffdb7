"""Knowledge from plain tables."""

import gzip
import json
import lzma
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.knowledge.conftest import EASY, ONE
from tests.knowledge.contents import arrays, counts_of, links_of, topics_of
from wikilda._core.errors import InputError
from wikilda.knowledge import BuildSettings, Knowledge, build_from_tables
from wikilda.knowledge._from_tables import COLUMNS, read_batches

TABLES = {
    "topics": 'title\tid\twikidata\tdescription\nJava\t7\tQ251\tA language.\n"Java" coffee\t8\t\tA drink.\nSun\t9\tQ9\t\n',
    "redirects": "title\ttarget\nJava language\tJava\n",
    "mentions": 'mention\ttitle\tcount\nJava\tJava\t3\njava\tJava\t2\nJAVA\t"Java" coffee\t1\njava language\tJava language\t1\nx\tNowhere\t4\n',
    "links": 'source\ttarget\nSun\tJava\nSun\tJava\nJava\tSun\n"Java" coffee\tJava language\n',
    "categories": "title\tcategory\nSun\tCompanies\nJava\tLanguages\nSun\tCompanies\n",
    "parents": "category\tparent\nLanguages\tThings\nCompanies\tThings\n",
}
ARTICLES = [
    {"title": "Java", "text": "Java is made by Sun. Java compiles."},
    {"title": "Sun", "text": "The company named Sun sold Java."},
    {"title": "Not a topic", "text": "java java java"},
]


def write(directory: Path, tables: dict[str, str] = TABLES, articles: list[dict[str, str]] | None = None) -> Path:
    directory.mkdir(exist_ok=True)
    for name, text in tables.items():
        (directory / f"{name}.tsv").write_text(text, "utf-8")
    lines = ARTICLES if articles is None else articles
    (directory / "articles.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return directory


def build(directory: Path, settings: BuildSettings = EASY) -> Knowledge:
    return build_from_tables(directory, directory.with_name("kb"), settings, resources=ONE, overwrite=True)


def test_tables_become_knowledge(tmp_path: Path) -> None:
    known = build(write(tmp_path / "t"))
    assert list(known.titles) == ['"Java" coffee', "Java", "Sun"]
    assert topics_of(known, "java") == {"Java": 5, '"Java" coffee': 1}
    assert topics_of(known, "java language") == {"Java": 1}
    assert known.find_mention("x") == -1  # of a title that is no topic
    assert known.find_topic("Java language") == 1
    assert links_of(known, "Java", "in") == {"Sun", '"Java" coffee'}
    assert counts_of(known, "java") == {"Java": 2, "Sun": 1}
    assert (list(known.page_ids), list(known.wikidata)) == ([8, 7, 9], [0, 251, 9])
    assert list(known.sentences) == ["A drink.", "A language.", ""]
    java = known.find_mention("java")
    assert (known.linked[java], known.occurrences[java]) == (6, 6)
    assert "Nowhere" not in list(known.titles)


def test_compressed_tables_and_parquet_give_the_same(tmp_path: Path) -> None:
    plain = build(write(tmp_path / "t"))
    kept = arrays(plain.path)
    packed = write(tmp_path / "t")
    for name, pack, ending in (("topics", gzip.compress, "gz"), ("mentions", lzma.compress, "xz")):
        source = packed / f"{name}.tsv"
        (packed / f"{name}.tsv.{ending}").write_bytes(pack(source.read_bytes()))
        source.unlink()
    (packed / "links.tsv").unlink()
    rows = [line.split("\t") for line in TABLES["links"].splitlines()[1:]]
    pq.write_table(pa.table({"source": [a for a, _ in rows], "target": [b for _, b in rows]}), packed / "links.parquet")
    (packed / "articles.jsonl").unlink()
    columns = {key: [each[key] for each in ARTICLES] for key in ("title", "text")}
    pq.write_table(pa.table(columns), packed / "articles.parquet")
    assert arrays(build(packed).path) == kept


def test_words_may_be_given_instead_of_articles(tmp_path: Path) -> None:
    directory = write(tmp_path / "t")
    (directory / "articles.jsonl").unlink()
    (directory / "words.tsv").write_text(
        "word\ttitle\tcount\nBytecode\tJava\t4\ntwo words\tJava\t1\nbytecode\tSun\t1\n"
    )
    known = build(directory)
    assert counts_of(known, "bytecode") == {"Java": 4, "Sun": 1}
    assert known.manifest["summary"]["words of several tokens"] == 1


def test_without_mentions_titles_and_redirects_name_topics(tmp_path: Path) -> None:
    directory = write(tmp_path / "t", {name: TABLES[name] for name in ("topics", "redirects")})
    known = build(directory)
    assert topics_of(known, "JAVA") == {"Java": 1}
    assert topics_of(known, "java language") == {"Java": 1}


def test_articles_describe_topics_that_have_no_description(tmp_path: Path) -> None:
    known = build(write(tmp_path / "t", TABLES | {"topics": "title\nJava\nSun\n"}))
    assert list(known.sentences) == ["Java is made by Sun.", "The company named Sun sold Java."]


def test_link_probabilities_that_say_nothing_are_reported(tmp_path: Path) -> None:
    """A text in which each name is a link once in ten times says something; counts without texts do not."""
    counts = "mention\ttitle\tcount\njava\tJava\t100\nsun\tSun\t100\n"
    for name, times, said in (("few", 1, True), ("many", 1000, False)):
        tables = {"topics": "title\nSun\nJava\n", "mentions": counts}
        known = build(write(tmp_path / name, tables, [{"title": "Java", "text": "Java by Sun. " * times}]))
        assert any("link probabilities say little" in each for each in known.complaints) == said


def test_a_title_given_twice_counts_once(tmp_path: Path) -> None:
    known = build(write(tmp_path / "t", TABLES | {"topics": "title\nSun\nJava\nSun\n"}))
    assert list(known.titles) == ["Java", "Sun"]
    assert known.manifest["summary"]["duplicate titles"] == 1
    assert any("'Sun'" in each for each in known.manifest["complaints"])


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"topics": "name\nJava\n"}, r"topics\.tsv: has no column title"),
        ({"mentions": "mention\ttitle\njava\tJava\n"}, r"mentions\.tsv: has no column count"),
        ({"mentions": "mention\ttitle\tcount\njava\tJava\tmany\n"}, r"mentions\.tsv.*many"),
        ({"mentions": "mention\ttitle\tcount\njava\tJava\n"}, r"mentions\.tsv.*[Ee]xpected 3 columns"),
        ({"links": "source\ttarget\nA\tB\tC\n"}, r"links\.tsv.*[Ee]xpected 2 columns"),
        ({"topics": ""}, r"topics\.tsv: has no column title"),
    ],
)
def test_bad_tables_are_named_with_what_is_wrong(tmp_path: Path, tables: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        build(write(tmp_path / "t", TABLES | tables))
    assert not (tmp_path / "kb").exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{broken", "line 2: is not JSON"),
        ('{"title": "Java"}', 'line 2: needs "title" and "text"'),
        ("[1]", "line 2: needs"),
    ],
)
def test_a_bad_article_is_named_by_its_line(tmp_path: Path, line: str, words: str) -> None:
    directory = write(tmp_path / "t")
    (directory / "articles.jsonl").write_text(json.dumps(ARTICLES[0]) + "\n" + line + "\n")
    with pytest.raises(InputError, match=words):
        build(directory)


def test_no_topics_no_directory_two_tables_of_a_kind(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such directory"):
        build(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no table of topics"):
        build(tmp_path / "empty")
    directory = write(tmp_path / "t")
    (directory / "topics.tsv.gz").write_bytes(gzip.compress(TABLES["topics"].encode()))
    with pytest.raises(InputError, match="which one"):
        build(directory)


def test_a_cut_short_table_is_an_error(tmp_path: Path) -> None:
    directory = write(tmp_path / "t")
    for name, pack, ending in (("mentions", gzip.compress, "gz"), ("topics", lzma.compress, "xz")):
        source = directory / f"{name}.tsv"
        whole = pack(source.read_bytes())
        (directory / f"{name}.tsv.{ending}").write_bytes(whole[: len(whole) // 2])
        source.unlink()
        with pytest.raises(InputError, match=name):
            build(directory)
        (directory / f"{name}.tsv.{ending}").unlink()
        source.write_text(TABLES[name], "utf-8")


def test_tables_read_in_small_batches_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "word\ttitle\tcount\nBytecode\tJava\t4\nBYTECODE\tSun\t1\nstar\tSun\t2\n"
    names = TABLES["mentions"] + "J.V.\tJava\t1\nj. v.\tSun\t2\nJ .V .\tSun\t2\n" * 3
    topics = TABLES["topics"] + "Sun\t10\tQ10\tAgain.\n"
    directory = write(tmp_path / "t", TABLES | {"words": words, "mentions": names, "topics": topics})
    whole = build(directory)
    kept, complaints = arrays(whole.path), whole.manifest["complaints"]
    monkeypatch.setattr("wikilda.knowledge._from_tables._BLOCK_BYTES", 64)
    batches = list(read_batches(directory / "mentions.tsv", *COLUMNS["mentions"]))
    assert len(batches) > 3
    assert sum(map(len, batches)) == names.count("\n") - 1
    small = build(directory)
    assert arrays(small.path) == kept
    assert small.manifest["complaints"] == complaints
    for name in COLUMNS:
        pq.write_table(pa.Table.from_batches(read_batches(directory / f"{name}.tsv", *COLUMNS[name])),
                       directory / f"{name}.parquet")  # fmt: skip
        (directory / f"{name}.tsv").unlink()
    monkeypatch.setattr("wikilda.knowledge._from_tables.BATCH_ROWS", 2)
    assert arrays(build(directory).path) == kept


def test_a_row_without_a_needed_value_is_named_by_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = write(tmp_path / "t")
    (directory / "links.tsv").unlink()
    columns = {"source": ["Sun", "Java", "Sun", "Sun"], "target": ["Java", "Sun", None, "Java"]}
    pq.write_table(pa.table(columns), directory / "links.parquet")
    monkeypatch.setattr("wikilda.knowledge._from_tables.BATCH_ROWS", 2)
    with pytest.raises(InputError, match=r"links\.parquet: row 3 has no target"):
        build(directory)


def test_tables_may_have_no_rows(tmp_path: Path) -> None:
    headers = {name: TABLES[name].splitlines()[0] + "\n" for name in ("redirects", "mentions", "links")}
    known = build(write(tmp_path / "t", TABLES | headers))
    assert (len(known.titles), len(known.mention_strings), len(known.graph.out_topics)) == (3, 0, 0)


def test_a_redirect_may_have_the_title_of_a_topic_or_come_twice(tmp_path: Path) -> None:
    redirects = "title\ttarget\nSun\tJava\nJava language\tJava\nJava language\tSun\n"
    known = build(write(tmp_path / "t", TABLES | {"redirects": redirects}))
    assert list(known.titles) == ['"Java" coffee', "Java", "Sun"]
    assert known.titles[known.find_topic("Sun")] == "Sun"
    assert known.titles[known.find_topic("Java language")] == "Java"  # the first row counts


def test_topics_may_share_an_id(tmp_path: Path) -> None:
    topics = "title\tid\twikidata\nJava\t7\tQ251\nSun\t7\t\nTea\t\tQ6\n"
    known = build(write(tmp_path / "t", TABLES | {"topics": topics}))
    assert (list(known.page_ids), list(known.wikidata)) == ([7, 7, 0], [251, 0, 6])


def test_rows_without_a_count_are_left_out_and_counted(tmp_path: Path) -> None:
    mentions = TABLES["mentions"] + "tea\tSun\t0\ntea\tSun\t-1\n"
    known = build(write(tmp_path / "t", TABLES | {"mentions": mentions}))
    assert known.find_mention("tea") == -1
    assert known.manifest["summary"]["mention rows with no count"] == 2

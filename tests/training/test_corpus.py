"""A corpus holds what its documents say, in any format; bad documents are counted."""

import bz2
import gzip
import json
import lzma
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.training.conftest import write_lines
from tests.wikis import FILLER, page, write_dump
from wikilda._core.errors import ArtifactError, InputError
from wikilda.documents.reading import ReadSettings
from wikilda.knowledge import Knowledge
from wikilda.sample import WIKI, texts
from wikilda.training.corpus import Corpus, CorpusSettings, key_of, make_corpus
from wikilda.training.corpus._build import LONGEST
from wikilda.training.settings import is_held_out

TEXT = (
    "England took control of the final Test at The Oval when Croft, the Glamorgan off-spinner, removed three batsmen."
)
SPANS = [[0, 7], [42, 50], [56, 61]]
OTHER = "Croft is from Glamorgan. At The Oval he bowled for England, and Pakistan lost wickets to him all day."
ALONE = CorpusSettings(detect=False)


def made(sample: Knowledge, target: Path, *inputs: Path, settings: CorpusSettings = CorpusSettings()) -> Corpus:  # noqa: B008
    return make_corpus(list(inputs), sample.path, target, settings, workers=1)


def read(corpus: Corpus, knowledge: Knowledge) -> dict[str, tuple[list[str], list[str]]]:
    """Words and mentions by id, as strings."""
    documents = corpus.between(0, 2**64)
    found = {}
    for number, key in enumerate(documents.keys):
        document = documents.document(number)
        words = [knowledge.word_strings[int(v)] for v in np.asarray(document.words)]
        found[corpus.id(int(key))] = words, [knowledge.mention_strings[int(v)] for v in np.asarray(document.mentions)]
    return found


def counts(corpus: Corpus) -> dict[str, int]:
    return dict(corpus.manifest["summary"])


def test_a_document_is_its_words_and_mentions(sample: Knowledge, tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "a.jsonl", [{"id": "x", "text": TEXT, "mentions": SPANS}])
    words, mentions = read(made(sample, tmp_path / "corpus", lines), sample)["x"]
    assert mentions == ["england", "the oval", "croft"]
    assert "batsmen" in words
    assert "england" not in words


@pytest.mark.parametrize("pack", ["jsonl", "jsonl.gz", "jsonl.bz2", "jsonl.xz", "parquet"])
def test_every_form_gives_the_same_corpus(sample: Knowledge, tmp_path: Path, pack: str) -> None:
    rows = [
        {"id": each["id"], "text": each["text"], "mentions": [[m["start"], m["end"]] for m in each["mentions"]]}
        for each in texts()
    ]
    plain = made(sample, tmp_path / "plain", write_lines(tmp_path / "plain.jsonl", list(rows)))
    file = tmp_path / f"other.{pack}"
    if pack == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), file, row_group_size=3)
    else:
        pressers = {"jsonl": bytes, "jsonl.gz": gzip.compress, "jsonl.bz2": bz2.compress, "jsonl.xz": lzma.compress}
        file.write_bytes(pressers[pack]((tmp_path / "plain.jsonl").read_bytes()))
    assert made(sample, tmp_path / "other", file).identity == plain.identity


def test_text_files_are_detected_in(sample: Knowledge, tmp_path: Path) -> None:
    folder = tmp_path / "texts" / "deep"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text(TEXT, "utf-8")
    (folder / "b.txt").write_bytes("﻿".encode() + OTHER.encode() + b"\n")
    (folder / "c.txt").write_bytes("Caf\xe9 in England, Croft at The Oval".encode("latin-1"))
    (folder / "picture.png").write_bytes(b"\x00")
    corpus = made(sample, tmp_path / "corpus", tmp_path / "texts")
    found = read(corpus, sample)
    assert sorted(found) == ["deep/a.txt", "deep/b.txt"]
    assert "england" in found["deep/a.txt"][1]
    assert found["deep/b.txt"][1][0] == "croft", "the mark at the beginning is no part of the text"
    assert counts(corpus)["documents that cannot be read"] == 2
    assert "c.txt: is not UTF-8" in corpus.manifest["complaints"][0]
    latin = ReadSettings(encoding="latin-1")
    other = make_corpus([folder / "c.txt"], sample.path, tmp_path / "latin", reading=latin, workers=1)
    assert counts(other)["documents"] == 1


def test_without_detection_there_are_no_mentions(sample: Knowledge, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT, "utf-8")
    corpus = made(sample, tmp_path / "corpus", tmp_path / "a.txt", settings=ALONE)
    words, mentions = read(corpus, sample)["a.txt"]
    assert mentions == []
    assert "england" in words or counts(corpus)["words not in the knowledge"] > 0


def test_articles_have_their_links_as_mentions(sample: Knowledge, tmp_path: Path) -> None:
    dump = write_dump(
        tmp_path / "w.xml",
        [
            page("One", f"The Übung of [[England cricket team|England]] and [[Croft]] batsmen {FILLER} " * 3),
            page("Two", redirect="One"),
            page("Three", "{{unclosed [[Pakistan"),
        ],
    )
    corpus = made(sample, tmp_path / "corpus", dump)
    _, mentions = read(corpus, sample)["One"]
    assert mentions == ["england", "croft"] * 3
    assert "Two" not in read(corpus, sample)


def test_bad_documents_are_counted(sample: Knowledge, tmp_path: Path) -> None:
    rows: list[object] = [
        {"id": "good", "text": TEXT, "mentions": SPANS},
        {"id": "empty", "text": "  \n"},
        {"id": "nothing known", "text": "qqxyz zzqyx", "mentions": []},
        {"id": "overlap", "text": OTHER, "mentions": [[0, 5], [3, 9], {"start": 28, "end": 36}]},
        {"id": "spans", "text": TEXT, "mentions": [[0, 7], [50, 5000]]},
        {"id": "no text"},
        ["a list"],
        {"id": "half", "text": "England \ud800 batsmen"},
    ]
    file = write_lines(tmp_path / "a.jsonl", rows)
    with file.open("ab") as more:
        more.write(b"{not json\n" + '{"text": "Caf\xe9"}\n'.encode("latin-1") + b"\n" + b"[" * 5000 + b"\n")
    corpus = made(sample, tmp_path / "corpus", file)
    assert sorted(read(corpus, sample)) == ["good", "half", "overlap"]
    assert read(corpus, sample)["overlap"][1] == ["croft", "the oval"]
    found = counts(corpus)
    assert found["documents read"] == 11
    assert found["empty documents"] == 1
    assert found["documents without known words"] == 1
    assert found["overlapping mentions"] == 1
    assert found["documents that cannot be read"] == 6
    assert len(corpus.manifest["complaints"]) == 8


def test_long_documents_are_cut(sample: Knowledge, tmp_path: Path) -> None:
    many = "England batsmen took wickets. " * 250_000
    file = write_lines(tmp_path / "a.jsonl", [{"id": "long", "text": many, "mentions": [[0, 7]]}])
    corpus = made(sample, tmp_path / "corpus", file)
    documents = corpus.between(0, 2**64)
    assert counts(corpus)["words"] + counts(corpus)["mentions"] > 700_000
    assert counts(corpus)["documents cut"] == 1
    assert np.diff(documents.word_offsets).max() <= LONGEST
    assert documents.tokens == counts(corpus)["tokens"]
    assert "long#2" in read(corpus, sample)


def test_the_number_of_workers_changes_nothing(
    sample: Knowledge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[object] = [
        {"id": f"{each['id']}-{turn}", "text": each["text"]} for turn in range(20) for each in texts()
    ]
    file = write_lines(tmp_path / "a.jsonl", rows)
    monkeypatch.setattr("wikilda.documents.reading._batches.BATCH_BYTES", 20_000)
    one = make_corpus([file, WIKI], sample.path, tmp_path / "one", workers=1)
    two = make_corpus([file, WIKI], sample.path, tmp_path / "two", workers=2)
    assert one.identity == two.identity
    monkeypatch.setattr("wikilda.training.corpus._build.SHARD_TOKENS", 3_000)
    cut = make_corpus([file, WIKI], sample.path, tmp_path / "cut", workers=1)
    assert len(cut.firsts) > 3
    for number in range(7):
        for mine, theirs in zip(one.shard(number, 7), cut.shard(number, 7), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_what_cannot_be_read_at_all_is_an_error(sample: Knowledge, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        made(sample, tmp_path / "corpus", tmp_path / "nowhere")
    empty = write_lines(tmp_path / "a.jsonl", [{"text": ""}])
    with pytest.raises(InputError, match="no document to take"):
        made(sample, tmp_path / "corpus", empty)
    short = tmp_path / "b.jsonl.gz"
    short.write_bytes(gzip.compress(b'{"text": "x"}\n' * 5000)[:-20])
    with pytest.raises(InputError, match="cut short"):
        made(sample, tmp_path / "corpus", short)
    (tmp_path / "c.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match="not a Parquet file"):
        made(sample, tmp_path / "corpus", tmp_path / "c.parquet")
    pq.write_table(pa.table({"body": ["x"]}), tmp_path / "d.parquet")
    with pytest.raises(InputError, match="no column 'text'"):
        made(sample, tmp_path / "corpus", tmp_path / "d.parquet")
    assert not (tmp_path / "corpus").exists()


def test_a_corpus_knows_its_knowledge_and_whether_it_is_whole(corpus: Path, tmp_path: Path, sample: Knowledge) -> None:
    with pytest.raises(ArtifactError, match="other knowledge"):
        Corpus.open(corpus, "0123456789")
    copy = made(sample, tmp_path / "corpus", write_lines(tmp_path / "a.jsonl", [{"text": TEXT}]))
    shard = copy.path / "00000" / "words.npy"
    shard.write_bytes(shard.read_bytes()[:-4])
    with pytest.raises(ArtifactError, match="wrong size"):
        Corpus.open(copy.path)


def test_ids_that_are_not_given_are_places(sample: Knowledge, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "a.jsonl", [{"text": TEXT}, {"text": OTHER, "id": 7}])
    assert sorted(read(made(sample, tmp_path / "corpus", file), sample)) == ["7", "a.jsonl:1"]
    assert json.loads((tmp_path / "corpus" / "manifest.json").read_text())["knowledge"] == sample.identity


WORDS = [
    "croft",
    "bowled",
    "spin",
    "wicket",
    "test",
    "oval",
    "glamorgan",
    "match",
    "captain",
    "over",
    "run",
    "batsman",
    "pitch",
    "field",
    "ball",
    "day",
    "team",
    "win",
]


def resemblance(one: str, other: str) -> float:
    """The naive one: the share of sequences of five words that two texts have in common."""
    sets = [{tuple(words[at : at + 5]) for at in range(len(words) - 4)} for words in (one.split(), other.split())]
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def test_near_copies_count_once(sample: Knowledge, tmp_path: Path) -> None:
    generator = random.Random(1)
    texts_: list[str] = []
    for _ in range(25):
        words = generator.choices(WORDS, k=generator.randrange(12, 300))
        texts_.append(" ".join(words))
        for changes in (1, 3, 10, 40):
            new = [generator.choice(WORDS) if generator.random() < changes / len(words) else word for word in words]
            texts_.append(" ".join(new))
    corpus = made(sample, tmp_path / "corpus", write_lines(tmp_path / "a.jsonl", [{"text": each} for each in texts_]))
    kept = [int(name.rpartition(":")[2]) - 1 for name in read(corpus, sample)]
    dropped = sorted(set(range(len(texts_))) - set(kept))
    assert len(dropped) == counts(corpus).get("near-copies of other documents", 0) + counts(corpus).get(
        "copies of other documents", 0
    )
    nearest = {
        at: max(resemblance(texts_[at], texts_[other]) for other in kept if other != at) for at in range(len(texts_))
    }
    assert all(nearest[at] > 0.3 for at in dropped), "what is dropped resembles a document that is kept"
    assert all(nearest[at] < 0.7 for at in kept), "no two documents that are kept are near-copies"
    assert 10 < len(dropped) < 100


def test_near_copies_do_not_depend_on_files_or_workers(sample: Knowledge, tmp_path: Path) -> None:
    rows: list[object] = [{"id": f"{at}", "text": f"{TEXT} {OTHER} {WORDS[at]}"} for at in range(12)]
    one = made(sample, tmp_path / "one", write_lines(tmp_path / "a.jsonl", rows))
    files = [write_lines(tmp_path / f"{at}.jsonl", rows[at::3]) for at in range(3)]
    three = make_corpus(files, sample.path, tmp_path / "three", workers=2)
    assert one.documents == three.documents == 1
    assert list(read(one, sample)) == list(read(three, sample))


def test_boilerplate_does_not_make_near_copies(sample: Knowledge, tmp_path: Path) -> None:
    generator = random.Random(2)
    rows: list[object] = [
        {"text": " ".join([*generator.choices(WORDS, k=60), "all rights are reserved by the county board of Croft"])}
        for _ in range(100)
    ]
    assert made(sample, tmp_path / "corpus", write_lines(tmp_path / "a.jsonl", rows)).documents == 100


def sourced(sample: Knowledge, place: Path, sources: list[str]) -> tuple[list[bool], dict[str, int]]:
    """Whether the mention of each document counts, by the order of keys, and the summary."""
    place.mkdir()
    rows: list[object] = [
        {"id": str(at), "publisher": source, "text": f"Croft {' '.join(random.Random(at).choices(WORDS, k=20))}.",
         "mentions": [[0, 5]]}
        for at, source in enumerate(sources)
    ]  # fmt: skip
    reading = ReadSettings(source_column="publisher")
    lines = write_lines(place / "a.jsonl", rows)
    corpus = make_corpus([lines], sample.path, place / "corpus", reading=reading, workers=1)
    documents = corpus.between(0, 2**64)
    by_key = [sources[int(corpus.id(int(key)))] for key in documents.keys]
    assert [by_key[at] for at in np.flatnonzero(~documents.counted)] == ["one"] * int((~documents.counted).sum())
    return documents.counted.tolist(), counts(corpus)


def test_no_source_dominates_a_string(sample: Knowledge, tmp_path: Path) -> None:
    few, summary = sourced(sample, tmp_path / "few", ["one"] * 40 + ["two"] * 3)
    assert few.count(True) == 10 + 3, "ten, where the others have fewer"
    assert summary["mentions that do not count: too many of one source"] == 30
    many, _ = sourced(sample, tmp_path / "many", ["one"] * 40 + ["two"] * 12 + ["three"] * 11)
    assert many.count(True) == 2 * 23, "as many as all others together"
    alone, summary = sourced(sample, tmp_path / "alone", ["one"] * 40)
    assert all(alone), "a corpus of one source is the user's own"
    assert "mentions that do not count: too many of one source" not in summary


def test_a_missing_column_of_sources_is_named(sample: Knowledge, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"text\n{TEXT}\n", "utf-8")
    reading = ReadSettings(source_column="publisher")
    with pytest.raises(InputError, match="has no column 'publisher'"):
        make_corpus([tmp_path / "a.csv"], sample.path, tmp_path / "corpus", reading=reading, workers=1)


def test_a_corpus_has_a_sample_of_its_texts(sample: Knowledge, tmp_path: Path) -> None:
    rows: list[object] = [
        {"id": str(at), "text": f"Croft {' '.join(random.Random(at).choices(WORDS, k=20))}.", "mentions": [[0, 5]]}
        for at in range(300)
    ]
    corpus = made(sample, tmp_path / "corpus", write_lines(tmp_path / "a.jsonl", rows))
    found = corpus.sample()
    assert len(found) == 200
    assert [each.text for each in found] == [rows[int(each.id)]["text"] for each in found]  # type: ignore[index]
    keys = np.array([key_of(each.id) for each in found], np.uint64)
    documents = corpus.between(0, 2**64)
    held_out = is_held_out(documents.keys, 0.1)
    assert set(keys[: held_out.sum()].tolist()) == set(documents.keys[held_out].tolist())
    assert found[0].mentions == [[0, 5]]

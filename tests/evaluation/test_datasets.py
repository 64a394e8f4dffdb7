"""Readers: small files in the shape of the real ones."""

import gzip
import json
from pathlib import Path

import pytest

from wikilda._core.errors import InputError
from wikilda.evaluation.datasets import Dataset, read_dataset
from wikilda.evaluation.gold import place

AIDA = """-DOCSTART- (1 EU)
EU\tB\tEU\t--NME--
rejects
German\tB\tGerman\tGermany\thttp://en.wikipedia.org/wiki/Germany\t11867\t/m/0345h
call

Peter\tB\tPeter Blackburn\t--NME--
Blackburn\tI\tPeter Blackburn\t--NME--
-DOCSTART- (947testa CRICKET)
LONDON\tB\tLONDON\tLondon\thttp://en.wikipedia.org/wiki/London
England\tB\tEngland\tEngland_cricket_team
"""

NIF = """@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
# a comment
<http://x.org/kore#char=0,25> a nif:Context, nif:RFC5147String ;
    nif:beginIndex "0"^^xsd:nonNegativeInteger ;
    nif:isString \"\"\"He said "\\u00e9" \U0001f600 & Brad,
Acme, Bo.\"\"\"@en ; .

<http://x.org/kore#char=17,21>
    a nif:Phrase ;
    nif:anchorOf "Brad"^^xsd:string ;
    nif:beginIndex "17"^^xsd:nonNegativeInteger ; nif:endIndex "21"^^xsd:nonNegativeInteger ;
    nif:referenceContext <http://x.org/kore#char=0,25> ;
    itsrdf:taIdentRef <http://dbpedia.org/resource/Brad_Pitt> , <http://www.wikidata.org/entity/Q35332> .
<http://x.org/kore#char=22,26> nif:anchorOf "Acme" ; nif:beginIndex 22 ; nif:endIndex 26 ;
    nif:referenceContext <http://x.org/kore#char=0,25> ; itsrdf:taIdentRef <http://aksw.org/notInWiki/Acme> .
<http://x.org/kore#char=28,30> a nif:Phrase ; nif:anchorOf "Bo" ; nif:beginIndex "28" ; nif:endIndex "30" ;
    nif:referenceContext <http://x.org/kore#char=0,25> .
<http://x.org/kore#char=0,2> a nif:Word ; nif:anchorOf "He" ; nif:beginIndex "0" ; nif:endIndex "2" ;
    nif:referenceContext <http://x.org/kore#char=0,25> .
"""

WNED = """<?xml version="1.0" encoding="UTF-8"?>
<msnbc.entityAnnotation>
  <document docName="Bus16451112">
    <annotation><mention>Home Depot</mention><wikiName>The Home Depot</wikiName><offset>0</offset><length>10</length></annotation>
    <annotation><mention>S&amp;amp;P</mention><wikiName>S&amp;P 500</wikiName><offset>22</offset><length>3</length></annotation>
    <annotation><mention>Nobody</mention><wikiName>NIL</wikiName><offset>27</offset><length>6</length></annotation>
    <annotation><mention>elsewhere</mention><wikiName/><offset>2</offset><length>9</length></annotation>
  </document>
</msnbc.entityAnnotation>
"""


def surfaces(dataset: Dataset) -> list[list[tuple[str, tuple[str, ...]]]]:
    return [
        [(each.text[start:end], names) for (start, end), names in zip(each.mentions, each.gold, strict=True)]
        for each in dataset.documents
    ]


def test_aida(tmp_path: Path) -> None:
    file = tmp_path / "AIDA-YAGO2-dataset.tsv"
    file.write_text(AIDA)
    train, dev = read_dataset(file)
    assert train.documents[0].text == "EU rejects German call\nPeter Blackburn"
    germany = ("Germany", "http://en.wikipedia.org/wiki/Germany")
    assert surfaces(train) == [[("EU", ()), ("German", germany), ("Peter Blackburn", ())]]
    assert [each.split for each in dev.documents] == ["testa"]
    assert surfaces(dev)[0][1] == ("England", ("England_cricket_team",))
    assert [each.name for each in read_dataset(file, splits=["testa"])] == ["AIDA-YAGO2-dataset.tsv testa"]
    with pytest.raises(InputError, match="no split testb"):
        read_dataset(file, splits=["testb"])


@pytest.mark.parametrize(
    ("line", "message"),
    [("x\tI\tx\tX", "line 2: a mention continues"), ("x\tB\tx", "too few columns"), ("x\tQ\tx\tX", "'Q'")],
)
def test_aida_that_is_wrong(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "a.tsv"
    file.write_text(f"-DOCSTART- (1 EU)\n{line}\n")
    with pytest.raises(InputError, match=message):
        read_dataset(file)


def test_nif(tmp_path: Path) -> None:
    file = tmp_path / "kore.ttl"
    file.write_text(NIF, "utf-8")
    [dataset] = read_dataset(file)
    assert dataset.documents[0].text == 'He said "é" 😀 & Brad,\nAcme, Bo.'
    # Brad is counted in UTF-16 units, Acme in characters, Bo is one too far.
    brad = ("http://dbpedia.org/resource/Brad_Pitt", "http://www.wikidata.org/entity/Q35332")
    assert surfaces(dataset) == [[("Brad", brad), ("Acme", ()), ("Bo", ())]]
    assert dataset.documents[0].split == "test"
    assert dataset.complaints == []


def test_nif_with_undeclared_prefixes(tmp_path: Path) -> None:
    file = tmp_path / "kore.ttl"
    declared = NIF.replace("<http://dbpedia.org/resource/Brad_Pitt>", "dbr:Brad_Pitt")
    file.write_text(declared.split("\n", 3)[3] + "<a> ex:b <c> .", "utf-8")
    [dataset] = read_dataset(file)
    assert surfaces(dataset)[0][0] == (
        "Brad",
        ("http://dbpedia.org/resource/Brad_Pitt", "http://www.wikidata.org/entity/Q35332"),
    )
    assert len(dataset.complaints) == 5  # nif, itsrdf, xsd, dbr, ex: each once
    assert (
        f"{file}: line 2: the prefix 'nif' is not declared; it is read as <http://persistence" in dataset.complaints[0]
    )
    assert "'ex' is not declared; it is read as <ex:>" in dataset.complaints[-1]


@pytest.mark.parametrize("text", ["<a> <b> [ <c> ] .", "<a> <b> [ <c> <d> .", "<a> <b> .", '<a> <b> "c" <d> .'])
def test_turtle_that_is_not_known_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.ttl"
    file.write_text(f"@prefix y: <http://y/> .\n{text}\n")
    with pytest.raises(InputError, match="line 2"):
        read_dataset(file)


KORE50 = """\ufeff@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .<http://kore/AIDA.tsv#char=0,>
\ta nif:String , nif:Context , nif:RFC5147String ;
\tnif:sourceUrl <http://kore/AIDA.tsv> .

<http://kore/AIDA.tsv/CEL08#char=0,>
\ta nif:String , nif:Context , nif:RFC5147String ;
\tnif:broaderContext <http://kore/AIDA.tsv#char=0,> ;
\tnif:isString "Heidi met Seal and \\"Weird Al\\"."^^xsd:string .

<http://kore/AIDA.tsv/CEL08#char=10,14>
\ta nif:String , nif:RFC5147String ;
\tnif:referenceContext <http://kore/AIDA.tsv/CEL08#char=0,> ;
\tnif:anchorOf "Seal"^^xsd:string ;
\tnif:beginIndex "10"^^xsd:long ;
\tnif:endIndex "14"^^xsd:long ;
\ta nif:Phrase ;
\titsrdf:taClassRef <> ;
\titsrdf:taIdentRef <http://dbpedia.org/resource/Seal_%28musician%29> .

<http://kore/AIDA.tsv/CEL08#char=20,28> a nif:Phrase ; nif:anchorOf "Weird Al" ; nif:beginIndex "20" ; nif:endIndex "28" ;
\tnif:referenceContext <http://kore/AIDA.tsv/CEL08#char=0,> ;
\titsrdf:taIdentRef <http://dbpedia.org/resource/"Weird_Al"_Yankovic> .
"""

OKE = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix oke: <http://oke/task-1/> .
@prefix dbpedia: <http://dbpedia.org/resource/> .
[] a owl:Ontology ; owl:versionInfo [ owl:note "a", ( "b" 3 ) ; ] .
<http://oke/s-1#char=0,27> a nif:Context ; nif:isString "The senator saw Al Gore go."@en .
<http://oke/s-1#char=4,11> nif:anchorOf "senator"@en ; nif:beginIndex 4 ; nif:endIndex 11 ;
  nif:referenceContext <http://oke/s-1#char=0,27> ; itsrdf:taIdentRef oke:Senator_1 .
<http://oke/s-1#char=16,23> nif:anchorOf "Al Gore"@en ; nif:beginIndex 16 ; nif:endIndex 23 ;
  nif:referenceContext <http://oke/s-1#char=0,27> ; itsrdf:taIdentRef oke:Al_Gore .
<http://oke/s-1#char=19,23> nif:anchorOf "Gore"@en ; nif:beginIndex 19 ; nif:endIndex 23 ;
  nif:referenceContext <http://oke/s-1#char=0,27> ; itsrdf:taIdentRef <http://en.wikipedia.org/wiki/Gore_(surname)> .
oke:Al_Gore a owl:Individual ; owl:sameAs dbpedia:Al_Gore .
oke:Senator_1 a owl:Individual .
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_nif_as_kore50_has_it(tmp_path: Path, ends: str) -> None:
    (tmp_path / "kore50.ttl").write_text(KORE50, "utf-8", newline=ends)
    [dataset] = read_dataset(tmp_path / "kore50.ttl")
    seal = ("http://dbpedia.org/resource/Seal_%28musician%29",)
    assert surfaces(dataset) == [[("Seal", seal), ("Weird Al", ('http://dbpedia.org/resource/"Weird_Al"_Yankovic',))]]
    assert dataset.complaints == []


def test_nif_as_the_oke_sets_have_it(tmp_path: Path) -> None:
    """Meanings are nodes of their own, the same as one of DBpedia or new; mentions may lie in others."""
    (tmp_path / "oke.ttl").write_text(OKE)
    [dataset] = read_dataset(tmp_path / "oke.ttl")
    gore = ("http://dbpedia.org/resource/Al_Gore",)
    inner = ("http://en.wikipedia.org/wiki/Gore_(surname)",)
    assert surfaces(dataset) == [[("senator", ()), ("Al Gore", gore), ("Gore", inner)]]


def test_a_directory_is_one_set(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(KORE50, "utf-8")
    (tmp_path / "b.ttl").write_text(OKE, "utf-8")
    (tmp_path / ".hidden").write_text("x")
    [dataset] = read_dataset(tmp_path)
    assert [each.id for each in dataset.documents] == [
        "http://kore/AIDA.tsv/CEL08#char=0,",
        "http://oke/s-1#char=0,27",
    ]
    (tmp_path / "nothing").mkdir()
    with pytest.raises(InputError, match="no files"):
        read_dataset(tmp_path / "nothing")


PROBLEM = """<ReferenceProblem>
<ReferenceFileName>
Bus1.txt
</ReferenceFileName>
<ReferenceInstance>
<SurfaceForm>
Home Depot
</SurfaceForm>
<Offset>
0
</Offset>
<Length>
10
</Length>
<ChosenAnnotation>
http://en.wikipedia.org/wiki/Home_Depot
</ChosenAnnotation>
<NumAnnotators>
1
</NumAnnotators>
<Annotation>
Home Depot
</Annotation>
</ReferenceInstance>
<ReferenceInstance>
<SurfaceForm>Jos\u00e9</SurfaceForm><Offset>14</Offset><Length>4</Length><ChosenAnnotation>*null*</ChosenAnnotation>
</ReferenceInstance>
</ReferenceProblem>
"""


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_wned_in_its_first_form(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "Problems").mkdir()
    (tmp_path / "Problems" / "Bus1.txt").write_text(PROBLEM, "utf-8")
    (tmp_path / "RawTextsSimpleChars_utf8").mkdir()
    (tmp_path / "RawTextsSimpleChars_utf8" / "Bus1.txt").write_text("Home\nDepot of José.", encoding)
    [dataset] = read_dataset(tmp_path / "Problems")
    depot = ("http://en.wikipedia.org/wiki/Home_Depot",)
    assert surfaces(dataset) == [[("Home\nDepot", depot), ("José", ())]]
    assert dataset.complaints == []


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_wned(tmp_path: Path, ends: str) -> None:
    file = tmp_path / "msnbc.xml"
    file.write_text(WNED)
    (tmp_path / "RawText").mkdir()
    (tmp_path / "RawText" / "Bus16451112").write_bytes(f"Home Depot{ends}fell with S&P. Nobody spoke.".encode())
    [dataset] = read_dataset(file)
    assert surfaces(read_dataset(tmp_path)[0]) == surfaces(dataset)  # by its directory
    expected = [("Home Depot", ("The Home Depot",)), ("S&P", ("S&P 500",)), ("Nobody", ())]
    assert surfaces(dataset) == [expected]
    assert len(dataset.complaints) == 1
    assert "'elsewhere'" in dataset.complaints[0]
    (tmp_path / "RawText" / "Bus16451112").unlink()
    with pytest.raises(InputError, match="RawText"):
        read_dataset(file)


def test_elevant(tmp_path: Path) -> None:
    text = "Angelina, her father Jon, and Brad met in May. Later, Bo."
    labels = [
        {"span": [21, 24], "entity_id": "Q167520", "name": "Jon Voight", "parent": None, "optional": False},
        {"span": [0, 8], "entity_id": "Unknown1", "name": "?", "parent": None, "optional": False},
        {"span": [42, 45], "entity_id": "Q119", "name": "May", "parent": None, "optional": True},
        {"span": [54, 56], "entity_id": "Q1", "name": "Bo", "parent": None, "optional": False},
        {
            "id": 1,
            "span": [10, 46],
            "entity_id": "Q2",
            "name": "her",
            "parent": None,
            "children": [2],
            "optional": True,
        },
        {"id": 2, "span": [30, 34], "entity_id": "Q35332", "name": "Brad Pitt", "parent": 1, "optional": False},
        {"id": 3, "span": [30, 32], "entity_id": "Q3", "name": "?", "parent": 2, "optional": False},
        {"id": 4, "span": [35, 38], "entity_id": "Unknown", "name": "?", "type": "DATETIME", "optional": False},
    ]
    simple = {"text": "Heidi and Seal", "labels": [{"entity_reference": "Heidi Klum", "start_char": 0, "end_char": 5}]}
    file = tmp_path / "x.benchmark.jsonl"
    rows = [{"id": 7, "text": text, "evaluation_span": [0, 47], "labels": labels}, simple]
    file.write_text("\n".join(map(json.dumps, rows)))
    [dataset] = read_dataset(file)
    jon = ("Jon", ("Q167520", "label:Jon Voight"))
    brad = ("Brad", ("Q35332", "label:Brad Pitt"))  # in a label that is optional itself
    assert surfaces(dataset) == [[("Angelina", ()), jon, brad], [("Heidi", ("Heidi Klum",))]]
    assert [each.id for each in dataset.documents] == ["7", "2"]


def test_own_lines(tmp_path: Path) -> None:
    mentions = [{"start": 6, "end": 11, "title": "Kate Bush"}, {"start": 0, "end": 5, "title": None}]
    row = {"id": "a", "text": "Croft heard Bush", "mentions": [{**mentions[0], "start": 12, "end": 16}, mentions[1]]}
    file = tmp_path / "gold.jsonl"
    file.write_text(json.dumps(row) + "\n" + json.dumps({**row, "split": "dev"}) + "\n" + json.dumps(row))
    first, dev = read_dataset(file)
    assert surfaces(first)[0] == [("Croft", ()), ("Bush", ("Kate Bush",))]
    assert [each.id for each in first.documents] == ["a", "a#2"]
    assert [each.split for each in dev.documents] == ["dev"]
    file.write_text(json.dumps({**row, "mentions": [{"start": 9, "end": 99}]}))
    with pytest.raises(InputError, match=r"line 1: .*not inside its text"):
        read_dataset(file)


def test_what_is_no_gold(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_text("hello")
    with pytest.raises(InputError, match="--format"):
        read_dataset(file)
    file.write_text('{"text": "x", "mentions": []}')
    with pytest.raises(InputError, match="no mentions"):
        read_dataset(file)
    file.write_bytes(b'{"text": "\xff", "mentions": []}')
    with pytest.raises(InputError, match="UTF-8"):
        read_dataset(file)


def test_place() -> None:
    assert place("a b a", 4, 5, "a") == (4, 5)
    assert place("a b a", 3, 4, "a") == (4, 5)
    assert place("ab", 1, 9, "") is None
    assert place("😀x", 2, 3, "x") == (1, 2)


ZELDA = (
    '{"id": 7, "text": "Croft bowled to Lara.", "index": [[16, 20], [0, 5]], '
    '"wikipedia_ids": [1, 2], "wikipedia_titles": ["Brian Lara", ""]}\n'
)


def test_zelda(tmp_path: Path) -> None:
    file = tmp_path / "test_reddit-posts.jsonl"
    file.write_text(ZELDA)
    [dataset] = read_dataset(file)
    assert surfaces(dataset) == [[("Croft", ()), ("Lara", ("Brian Lara",))]]
    assert (dataset.documents[0].id, dataset.documents[0].split) == ("7", "test")
    train = tmp_path / "zelda_train.jsonl"
    train.write_text(ZELDA)
    assert read_dataset(train)[0].documents[0].split == "train"
    file.write_text(ZELDA.replace(', ""', ""))
    with pytest.raises(InputError, match='line 1: needs "index"'):
        read_dataset(file)


HIPE = """TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-FINE-METO\tNE-FINE-COMP\tNE-NESTED\tNEL-LIT\tNEL-METO\tMISC
# hipe2022:document_id = sn83-i0004
# hipe2022:language = en
The\tB-pers\tO\tO\tO\tO\tO\tQ1\t_\tNoSpaceAfter
Duke\tI-pers\tO\tO\tO\tO\tO\tQ1\t_\tEndOfLine
left\tO\tO\tO\tO\tO\tO\t_\t_\tLED0.00

Paris\tB-loc\tO\tO\tO\tO\tO\tQ90\tQ142\tNoSpaceAfter|EndOfSentence
Smith\tB-pers\tO\tO\tO\tO\tO\tNIL\t_\t_
Lyon\tB-loc\tO\tO\tO\tO\tO\t_\t_\t_
# hipe2022:document_id = b
Rome\tB-loc\tO\tO\tO\tO\tO\tQ220\t_\t_
"""


def test_hipe(tmp_path: Path) -> None:
    file = tmp_path / "HIPE-2022-v2.1-topres19th-dev-en.tsv"
    file.write_text(HIPE)
    [dataset] = read_dataset(file)
    assert dataset.documents[0].text == "TheDuke\nleft Paris\nSmith Lyon"
    first = [("TheDuke", ("Q1",)), ("Paris", ("Q90",)), ("Smith", ()), ("Lyon", ())]
    assert surfaces(dataset) == [first, [("Rome", ("Q220",))]]
    assert [(each.id, each.split) for each in dataset.documents] == [("sn83-i0004", "dev"), ("b", "dev")]


@pytest.mark.parametrize(("line", "message"), [("x\tQ\t" + "O\t" * 7, "'Q'"), ("x\tB-loc", "2 columns")])
def test_hipe_that_is_wrong(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "a.tsv"
    file.write_text(HIPE + line + "\n")
    with pytest.raises(InputError, match=f"line 13: .*{message}"):
        read_dataset(file)


def test_own_lines_may_be_compressed(gold_file: Path, tmp_path: Path) -> None:
    packed = tmp_path / "gold.jsonl.gz"
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + gold_file.read_bytes()))
    assert read_dataset(packed)[0].documents == read_dataset(gold_file)[0].documents


def test_a_bad_record_is_reported_and_skipped(tmp_path: Path) -> None:
    """One record of many with a span outside of its text, or that is no JSON, does not stop the others."""
    good = {"text": "Croft took five wickets", "index": [[0, 5]], "wikipedia_titles": ["Robert Croft"]}
    outside = {**good, "index": [[20, 99]]}
    file = tmp_path / "test.jsonl"
    file.write_text("\n".join([json.dumps(good), json.dumps(outside), "{broken", json.dumps(good)]) + "\n", "utf-8")
    [found] = read_dataset(file)
    assert [each.gold for each in found.documents] == [[("Robert Croft",)]] * 2
    assert len(found.complaints) == 2
    assert "line 2: " in found.complaints[0]
    assert found.complaints[0].endswith("Skipped.")
    assert "line 3: " in found.complaints[1]

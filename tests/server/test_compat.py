"""The shapes of other services, asked by their own clients."""

import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import rdflib
import spotlight
import tagme

from tests.server.serving import Served, serving
from wikilda.sample import texts
from wikilda.urn import UrnSettings

CROFT = texts()[0]["text"]
SMILING = "😀 Croft bowled for England and Pakistan at The Oval. 😀 Wasim Akram won."
NIF = rdflib.Namespace("http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#")
ITSRDF = rdflib.Namespace("http://www.w3.org/2005/11/its/rdf#")


def linked(client: httpx.Client, text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.post("/v1/link", json={"text": text}).json()["mentions"]
    return found


def confidence(mention: dict[str, Any]) -> float:
    """That a mention means its entity, and not another one or nothing that is known."""
    return float(mention["probability"] * (1 - mention["nil"]))


def test_rel_finds_mentions(client: httpx.Client) -> None:
    for spans in ({"spans": []}, {}, {"spans": None, "tagger": "ner-fast"}):
        found = client.post("/", json={"text": SMILING, **spans}).json()
        mentions = linked(client, SMILING)
        assert [each[:4] for each in found] == [
            [each["start"], each["end"] - each["start"], each["text"], each["title"].replace(" ", "_")]
            for each in mentions
        ]
        assert [each[4] for each in found] == pytest.approx([confidence(each) for each in mentions], abs=2e-6)
        assert all(0 < each[5] <= 1 and each[6] in ("PER", "ORG", "LOC", "MISC") for each in found)


def test_rel_links_given_spans(client: httpx.Client) -> None:
    at = CROFT.index("Croft")
    found = client.post("/", json={"text": CROFT, "spans": [[at, 5], [0, 7], [10, 3]]}).json()
    assert [each[:3] for each in found] == [[at, 5, "Croft"], [0, 7, "England"]]  # as REL: what is unknown is left out
    assert found[0][5:] == [0.0, "PER"]
    for spans in ([[0, 0]], [[-1, 3]], [[5, 10_000]], [[1]], ["x"]):
        assert client.post("/", json={"text": CROFT, "spans": spans}).status_code == 422


def test_rel_says_that_it_is_up(client: httpx.Client) -> None:
    assert client.get("/").json()["message"] == "up"


@pytest.fixture
def no_unescape(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client uses a method that Python 3.9 took away."""
    monkeypatch.setattr(tagme.HTML_PARSER, "unescape", html.unescape, raising=False)


def test_the_tagme_client_annotates(served: Served, client: httpx.Client) -> None:
    answer = tagme.annotate(SMILING, gcube_token="any", api=served.url + "/tag")
    wanted = linked(client, SMILING)
    assert [(each.begin, each.end, each.mention, each.entity_title) for each in answer.annotations] == [
        (each["start"], each["end"], each["text"], each["title"]) for each in wanted
    ]
    scores = [each.score for each in answer.get_annotations(0.0)]
    assert scores == pytest.approx([confidence(each) for each in wanted], abs=2e-6)
    assert [each.entity_id for each in answer.annotations] == [each["page_id"] for each in wanted]
    assert answer.lang == "en"


@pytest.mark.parametrize("path", ["/spot", "/tagme/spot"])
def test_the_tagme_client_finds_mentions(served: Served, client: httpx.Client, path: str) -> None:
    answer = tagme.mentions(SMILING, gcube_token="any", api=served.url + path)
    assert [(each.begin, each.end, each.mention) for each in answer.mentions] == [
        (each["start"], each["end"], each["text"]) for each in linked(client, SMILING)
    ]
    assert all(0 < each.linkprob <= 1 for each in answer.mentions)


@pytest.mark.usefixtures("no_unescape")
def test_the_tagme_client_relates(served: Served, client: httpx.Client) -> None:
    pairs = [("Robert Croft", "The Oval"), ("Wasim Akram", "Waqar Younis"), ("Robert Croft", "Nobody At All")]
    answer = tagme.relatedness_title(pairs, gcube_token="any", api=served.url + "/rel")
    near = client.get("/v1/topics/Robert Croft").json()["nearest"]
    assert answer.get_relatedness(0) == pytest.approx(
        next(each["similarity"] for each in near if each["title"] == "The Oval"), abs=1e-5
    )
    assert answer.get_relatedness(2) is None
    pages = [client.get(f"/v1/topics/{title}").json()["page_id"] for title in pairs[1]]
    by_number = tagme.relatedness_wid(tuple(pages), gcube_token="any", api=served.url + "/tagme/rel")
    assert by_number.get_relatedness(0) == answer.get_relatedness(1) > 0


def test_tagme_parameters(client: httpx.Client) -> None:
    plain = client.get("/tag", params={"text": CROFT}).json()["annotations"]
    rich = client.get("/tag", params={"text": CROFT, "include_abstract": "true", "lang": "en"}).json()["annotations"]
    assert "abstract" not in plain[0]
    assert all(each["abstract"] for each in rich)
    assert client.get("/tag").status_code == 400
    assert client.get("/rel").status_code == 400
    assert client.get("/rel", params={"id": "1 x"}).json()["result"][0]["err"] == "Entity not found: x"


def test_the_spotlight_client_annotates(served: Served, client: httpx.Client) -> None:
    found = spotlight.annotate(served.url + "/rest/annotate", SMILING, confidence=0.0)
    wanted = linked(client, SMILING)
    assert [(each["offset"], each["surfaceForm"]) for each in found] == [
        (each["start"], each["text"]) for each in wanted
    ]
    assert found[-1]["URI"] == "http://dbpedia.org/resource/Wasim_Akram"
    assert found[-1]["support"] == client.get("/v1/topics/Wasim Akram").json()["in_links"]
    assert found[-1]["similarityScore"] == pytest.approx(confidence(wanted[-1]), abs=2e-6)


def test_the_spotlight_client_gets_candidates(served: Served) -> None:
    found = spotlight.candidates(served.url + "/candidates", SMILING)
    croft = next(each for each in found if each["name"] == "Croft")
    assert [each["label"] for each in croft["resource"]][:2]
    assert sum(each["finalScore"] for each in croft["resource"]) == pytest.approx(1)
    assert {each["uri"] for each in croft["resource"]} >= {"Robert_Croft", "Lara_Croft"}
    alone = spotlight.candidates(served.url + "/candidates", "Wasim Akram")
    assert alone[0]["resource"]["label"] == "Wasim Akram"  # a list of one is that one
    with pytest.raises(spotlight.SpotlightException, match="No Resources"):
        spotlight.annotate(served.url + "/annotate", "nothing here")


def test_all_of_spotlights_values_are_strings(client: httpx.Client) -> None:
    def walk(value: Any) -> None:
        if isinstance(value, dict | list):
            for each in value.values() if isinstance(value, dict) else value:
                walk(each)
        else:
            assert isinstance(value, str)

    for path in ("/annotate", "/spot", "/candidates", "/en/annotate"):
        answer = client.post(path, data={"text": CROFT}, headers={"accept": "application/json"}).json()
        assert len(json.dumps(answer)) > len(CROFT)
        walk(answer)


def test_spotlights_filters(client: httpx.Client) -> None:
    def offsets(**more: object) -> list[str]:
        answer = client.post("/annotate", data={"text": CROFT, **more}).json()
        return [each["@offset"] for each in answer.get("Resources", [])]

    wanted = linked(client, CROFT)
    assert offsets(confidence=0) == [str(each["start"]) for each in wanted]
    assert offsets(confidence=0.9) == [str(each["start"]) for each in wanted if confidence(each) >= 0.9]
    assert offsets(support=10_000) == []
    people = [str(each["start"]) for each in wanted if each["type"] == "person"]
    others = [str(each["start"]) for each in wanted if each["title"] and each["type"] != "person"]
    assert people
    assert offsets(confidence=0, types="DBpedia:Person") == people
    assert offsets(confidence=0, types="person", policy="blacklist") == others
    for more in ({"types": "DBpedia:Persona"}, {"confidence": "x"}, {"support": ""}, {"sparql": "select"}):
        assert client.post("/annotate", data={"text": CROFT, **more}).status_code == 422


def test_spotlight_disambiguates_given_mentions(client: httpx.Client) -> None:
    at = CROFT.index("Croft")
    escaped = html.escape(CROFT)
    xml = f'<annotation text="{escaped}"><surfaceForm name="Croft" offset="{at}"/></annotation>'
    found = client.post("/disambiguate", data={"text": xml, "confidence": 0}).json()["Resources"]
    assert [(each["@surfaceForm"], each["@offset"]) for each in found] == [("Croft", str(at))]
    marked = client.post("/disambiguate", data={"text": CROFT.replace("Croft", "[[Croft]]"), "confidence": 0}).json()
    assert len(marked["Resources"]) == 2
    bad = (
        "<annotation", '<annotation text="a"><surfaceForm name="b" offset="0"/></annotation>', "<x/>",
        '<!DOCTYPE a [<!ENTITY b "c">]><annotation text="&b;"/>', '<annotation text="a"><surfaceForm/></annotation>',
    )  # fmt: skip
    for each in bad:
        assert client.post("/disambiguate", data={"text": each}).status_code in (400, 422), each


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", ["annotate", "spot"])
def test_the_spacy_component_for_spotlight(served: Served, client: httpx.Client, way: str) -> None:
    spacy = pytest.importorskip("spacy")
    pytest.importorskip("spacy_dbpedia_spotlight")
    nlp = spacy.blank("en")
    nlp.add_pipe("dbpedia_spotlight", config={"dbpedia_rest_endpoint": served.url, "process": way, "confidence": 0.0})
    document = nlp("Croft bowled to Wasim Akram at The Oval.")
    assert [each.text for each in document.ents] == ["Croft", "Wasim Akram", "The Oval"]
    if way == "annotate":
        assert document.ents[1].kb_id_ == "http://dbpedia.org/resource/Wasim_Akram"


def context(text: str, uri: str = "http://example.org/doc/1#char=0,9") -> rdflib.Graph:
    graph = rdflib.Graph()
    node = rdflib.URIRef(uri)
    graph.add((node, rdflib.RDF.type, NIF.Context))
    graph.add((node, NIF.isString, rdflib.Literal(text)))
    return graph


def asked(
    client: httpx.Client, graph: rdflib.Graph, kind: str | None = "application/x-turtle", kb: str = ""
) -> rdflib.Graph:
    headers = {"content-type": kind} if kind else {}
    answer = client.post(
        "/nif", content=graph.serialize(format="turtle").encode(), headers=headers, params={"kb": kb} if kb else {}
    )
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith(kind or "application/x-turtle")
    return rdflib.Graph().parse(data=answer.content, format="turtle")


@pytest.mark.parametrize("kind", ["application/x-turtle", "text/turtle", "text/turtle; charset=utf-8", None])
def test_nif_without_phrases(client: httpx.Client, kind: str | None) -> None:
    text = SMILING + '\n"quoted" \\ back\tslash'
    found = asked(client, context(text), kind)
    node = rdflib.URIRef("http://example.org/doc/1#char=0,9")
    assert str(found.value(node, NIF.isString)) == text
    wanted = linked(client, text)
    spans = {
        (int(found.value(each, NIF.beginIndex)), int(found.value(each, NIF.endIndex)), str(found.value(each, NIF.anchorOf)),
         str(found.value(each, ITSRDF.taIdentRef)), str(each))
        for each in found.subjects(NIF.referenceContext, node)
    }  # fmt: skip
    assert spans == {
        (each["start"], each["end"], each["text"], "http://dbpedia.org/resource/" + each["title"].replace(" ", "_"),
         f"http://example.org/doc/1#char={each['start']},{each['end']}")
        for each in wanted
    }  # fmt: skip


def test_nif_answers_given_phrases_exactly(client: httpx.Client) -> None:
    graph = context(CROFT)
    node = rdflib.URIRef("http://example.org/doc/1#char=0,9")
    given = {}
    for number, string in enumerate(("Croft", "Moin Khan", "off-spinner")):
        phrase, at = rdflib.URIRef(f"http://example.org/phrase/{number}?x=a b".replace(" ", "%20")), CROFT.index(string)
        given[phrase] = (at, at + len(string))
        graph.add((phrase, rdflib.RDF.type, NIF.Phrase))
        graph.add((phrase, NIF.referenceContext, node))
        graph.add((phrase, NIF.beginIndex, rdflib.Literal(at, datatype=rdflib.XSD.nonNegativeInteger)))
        graph.add((phrase, NIF.endIndex, rdflib.Literal(at + len(string), datatype=rdflib.XSD.int)))
    found = asked(client, graph)
    phrases = list(found.subjects(NIF.referenceContext, node))
    assert {
        each: (int(found.value(each, NIF.beginIndex)), int(found.value(each, NIF.endIndex))) for each in phrases
    } == given
    means = [found.value(each, ITSRDF.taIdentRef) for each in given]
    assert means[1] == rdflib.URIRef("http://dbpedia.org/resource/Moin_Khan")
    assert means[2] is None
    none = client.post("/nif", content=graph.serialize(format="turtle"), params={"kb": "wikidata"})
    assert none.status_code == 404  # the sample has no items: better said than answered as if all were NIL
    assert none.json()["error"]["code"] == "no_identifiers"
    wiki = asked(client, graph, kb="wiki")
    assert str(wiki.value(list(given)[1], ITSRDF.taIdentRef)) == "https://example.org/wiki/Moin_Khan"


def test_nif_that_cannot_be_used(client: httpx.Client) -> None:
    def status(data: bytes, kind: str = "text/turtle", **parameters: str) -> int:
        return client.post("/nif", content=data, headers={"content-type": kind}, params=parameters).status_code

    assert status(b"not turtle at all") == 400
    assert status(b"") == 400
    assert status(b"\xff\xff") == 400
    assert status(b"@prefix a: <b:> .\na:a a:b " + b"(" * 5000 + b")" * 5000 + b" .") == 400
    assert status(b"{}", "application/json") == 415
    assert status(context("x").serialize(format="turtle").encode(), kb="freebase") == 422
    graph = context("short")
    phrase = rdflib.URIRef("http://example.org/p")
    graph.add((phrase, NIF.referenceContext, rdflib.URIRef("http://example.org/doc/1#char=0,9")))
    assert status(graph.serialize(format="turtle").encode()) == 422
    graph.add((phrase, NIF.beginIndex, rdflib.Literal("1" * 5000)))
    assert status(graph.serialize(format="turtle").encode()) == 422


@pytest.fixture(scope="module")
def doubting(model: Path) -> Iterator[httpx.Client]:
    """A server that thinks of every name that it means nothing known."""
    with serving(model, UrnSettings(weights=("nil_constant=1000",))) as running, running.client() as made:
        yield made


def test_what_is_probably_nil_has_no_entity_in_any_shape(doubting: httpx.Client) -> None:
    mentions = linked(doubting, CROFT)
    assert all(each["nil"] > 0.5 and each["title"] is None and each["candidates"] for each in mentions)
    assert doubting.post("/", json={"text": CROFT}).json() == []
    assert doubting.post("/", json={"text": CROFT, "spans": [[0, 7]]}).json() == []
    assert doubting.get("/tag", params={"text": CROFT}).json()["annotations"] == []
    every = doubting.get("/tag", params={"text": CROFT, "include_all_spots": "true"}).json()["annotations"]
    assert [each["spot"] for each in every] == [each["text"] for each in mentions]
    assert not any("rho" in each or "title" in each for each in every)
    assert "Resources" not in doubting.post("/annotate", data={"text": CROFT, "confidence": 0}).json()
    sent = f'<http://a/b#char=0,9> a <{NIF}Context> ; <{NIF}isString> "England v" .'
    graph = rdflib.Graph().parse(data=doubting.post("/nif", content=sent).text, format="turtle")
    assert len(list(graph.subjects(rdflib.RDF.type, NIF.Phrase))) == 1
    assert not list(graph.subject_objects(ITSRDF.taIdentRef))
    why = doubting.post("/v1/explain", json={"text": CROFT}).json()["mentions"]
    assert [each["nil"] for each in why] == [each["nil"] for each in mentions]

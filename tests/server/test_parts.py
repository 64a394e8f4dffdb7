"""Parts of the server on their own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.knowledge.conftest import build
from tests.wikis import FILLER, page
from wikilda.linking import Entity
from wikilda.server._examples import examples
from wikilda.server.compat._turtle import Context, Phrase, read, write
from wikilda.server.identifiers import dbpedia, identifier
from wikilda.server.metrics import BOUNDS, ROUTES, STATUSES, Metrics


def test_identifiers() -> None:
    entity = Entity('AC/DC "Live" 100% #1? é', 7, "Q42", "https://x.org/wiki/AC")
    assert identifier(entity, "wikidata", "en") == "http://www.wikidata.org/entity/Q42"
    assert identifier(entity, "wiki", "en") == "https://x.org/wiki/AC"
    assert identifier(entity, "dbpedia", "de") == "http://de.dbpedia.org/resource/AC/DC_%22Live%22_100%25_%231%3F_é"
    assert identifier(Entity("A", 1, None, ""), "wikidata", "en") is None
    assert identifier(Entity("A", 1, None, ""), "wiki", "en") is None
    assert dbpedia("Robert Croft", "") == dbpedia("Robert Croft", "en") == "http://dbpedia.org/resource/Robert_Croft"


def test_turtle_comes_back_as_it_was_written() -> None:
    text = 'Quote " back \\ line\nreturn\r tab\t nul\x00 😀 é end'
    phrase = Phrase(0, 5, "Quote", "http://dbpedia.org/resource/A_é", 0.5, "http://x.org/a#char=0,5")
    context = Context("http://x.org/a#char=0,9", text, [phrase])
    found = read(write([context]))
    assert found == [Context(context.uri, text, [Phrase(0, 5, "Quote", uri=phrase.uri)])]
    assert read(write([Context("http://x.org/{odd} <one>", "a", [])]))[0].text == "a"


def test_numbers_of_several_processes_are_added_up(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from wikilda.server.metrics import Metrics\n"
        "m = Metrics(Path(sys.argv[1])); m.note('/v1/link', 200, 0.02); m.open(1); m.worked(1, 2, 3)"
    )
    for _ in range(2):
        subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
    own = Metrics(tmp_path)
    own.note("/v1/link", 200, 100.0)
    own.note("/strange", 418, 0.0)
    own.open(1)
    lines = own.text(ready=False).splitlines()
    assert 'wikilda_requests_total{route="/v1/link",status="200"} 3' in lines
    assert 'wikilda_requests_total{route="other",status="0"} 1' in lines
    assert "wikilda_open_requests 1" in lines  # those of the dead are over
    assert "wikilda_linked_characters_total 6" in lines
    assert 'wikilda_request_seconds_bucket{route="/v1/link",le="0.025"} 2' in lines
    assert f'wikilda_request_seconds_bucket{{route="/v1/link",le="{BOUNDS[-1]}"}} 2' in lines
    assert 'wikilda_request_seconds_bucket{route="/v1/link",le="+Inf"} 3' in lines
    assert 'wikilda_request_seconds_sum{route="/v1/link"} 100.040000' in lines
    assert "wikilda_ready 0" in lines
    assert len(set(ROUTES)) == len(ROUTES)
    assert len(set(STATUSES)) == len(STATUSES)


def test_another_wiki_gets_examples_of_its_own(tmp_path: Path) -> None:
    names = ["Alpha", "Beta", "Gamma", "Delta"]
    links = " ".join(f"[[{name}]]" for name in names)
    pages = [
        page(name, f"'''{name}''' is one of the four letters that this wiki knows about. {links} {FILLER}")
        for name in names
    ]
    found = examples(build(tmp_path, pages))
    assert {each["title"] for each in found} == set(names)
    assert all("letters that this wiki knows" in each["text"] for each in found)


@pytest.mark.parametrize("route", ["/v1/link", "/tag", "/page/{name}"])
def test_routes_that_exist_are_counted_under_their_names(route: str) -> None:
    from wikilda.server import api, health, page
    from wikilda.server.compat import nif, rel, spotlight, tagme

    routers = (api.router, health.router, rel.router, tagme.router, spotlight.router, nif.router, page.router)
    paths = {each.path for router in routers for each in router.routes if hasattr(each, "path")}
    assert route in paths
    assert set(ROUTES) - {"other", "/openapi.json"} <= paths

"""Parts of the server on their own."""

import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.knowledge.conftest import build
from tests.wikis import FILLER, page
from wikilda.linking import Entity
from wikilda.server.api import examples
from wikilda.server.compat import dbpedia, identifier
from wikilda.server.compat._turtle import NIF, Context, Phrase, read, write
from wikilda.server.errors import Problem
from wikilda.server.metrics import BOUNDS


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
    script = """
import os, sys
from pathlib import Path
from wikilda.server.metrics import Metrics, forget_process
directory, what = Path(sys.argv[1]), sys.argv[2]
own = Metrics(directory)
if what == "ends":
    own.note("/v1/link", 200, 0.02); own.open(1); own.worked(1, 2, 3)
    print(os.getpid())
else:
    for process in sys.argv[3:]:
        forget_process(directory, int(process))
    own.note("/v1/link", 200, 100.0); own.note("other", 418, 0.0); own.open(1)
    print(own.text(ready=False).decode())
"""

    def run(*arguments: str) -> str:
        done = subprocess.run([sys.executable, "-c", script, str(tmp_path), *arguments], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    ended = [run("ends").strip() for _ in range(2)]
    lines = run("asks", *ended).splitlines()
    assert 'wikilda_requests_total{route="/v1/link",status="200"} 3.0' in lines
    assert 'wikilda_requests_total{route="other",status="418"} 1.0' in lines
    assert "wikilda_open_requests 1.0" in lines  # those of the dead are over
    assert "wikilda_linked_characters_total 6.0" in lines
    assert 'wikilda_request_seconds_bucket{le="0.025",route="/v1/link"} 2.0' in lines
    assert f'wikilda_request_seconds_bucket{{le="{BOUNDS[-1]}",route="/v1/link"}} 2.0' in lines
    assert 'wikilda_request_seconds_bucket{le="+Inf",route="/v1/link"} 3.0' in lines
    [total] = [line for line in lines if line.startswith('wikilda_request_seconds_sum{route="/v1/link"} ')]
    assert float(total.split()[-1]) == pytest.approx(100.04)
    assert "wikilda_ready 0.0" in lines


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


ADDRESSES = ["http://x.org/{a}|^`", "http://x.org/%zz", "relative", "http://x.org/é", "urn:x:y"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_addresses_of_phrases_come_back_as_they_came(address: str) -> None:
    turtle = f"""<http://x.org/c> a <{NIF}Context> ; <{NIF}isString> "Croft" .
<{address}> <{NIF}referenceContext> <http://x.org/c> ; <{NIF}beginIndex> "0" ; <{NIF}endIndex> 5 ."""
    [context] = read(turtle.encode())
    assert [each.uri for each in context.phrases] == [address]
    assert f"<{address}>" in write([context]).decode()


def test_an_address_cannot_end_itself() -> None:
    written = write([Context('http://x.org/a>b <c> "d" .\n\\', "x")])
    assert read(written)[0].uri == "http://x.org/a%3Eb%20%3Cc%3E%20%22d%22%20.%0A%5C"


BOMBS = {
    "a number": '<a:a> <a:b> "1E+999999999"^^<http://www.w3.org/2001/XMLSchema#decimal> .',
    "prefixes": "".join(f"@prefix p{number}: <http://x/{number}#> .\n" for number in range(20_000)),
    "brackets": "<a:a> <a:b> " + "[" * 100_000,
    "blank nodes": "<a:a> <a:b> " + "[<a:b> " * 50_000,
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_turtle_bombs_are_read_or_refused_at_once(bomb: str) -> None:
    started, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(Problem):
        read(BOMBS[bomb].encode())
    assert time.process_time() - started < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


def test_triples_have_a_limit() -> None:
    with pytest.raises(Problem, match="100,001 is over 100,000"):
        read(b"<a:a> <a:b> " + b"(" * 300_000)

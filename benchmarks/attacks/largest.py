"""One request as large as a server takes, for each route: `python -m benchmarks.attacks.largest MODEL`.

While the request is answered, another process asks `/health/live` every two milliseconds: the longest wait shows what
holds the event loop, or Python's lock. Each request is sent three times; the row has the median of its longest waits.
"""

import contextlib
import http.client
import json
import multiprocessing
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlencode

import click
import numpy as np
from tests.server.serving import process, wait_until_ready

from benchmarks.attacks.patterns import _LONG, _read
from benchmarks.record import Cell, write

_MOST, _PAUSE, _TIMES = 200.0, 0.002, 3  # ms; seconds; times that a request is sent
_TEXT = _LONG[:199_000]
_JSON, _FORM, _TURTLE = "application/json", "application/x-www-form-urlencoded", "text/turtle"
_NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"


def _json(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def _form(**fields: object) -> bytes:
    return urlencode(
        {name: each if isinstance(each, str) else json.dumps(each) for name, each in fields.items()}
    ).encode()


def _turtle(phrases: int) -> bytes:
    context = f"<http://x/c> a nif:Context; nif:isString {json.dumps(_LONG[:60_000])} ."
    each = '<http://x/{0}> nif:referenceContext <http://x/c>; nif:beginIndex "{0}"; nif:endIndex "{1}" .'
    return "\n".join(
        [f"@prefix nif: <{_NIF}> .", context, *(each.format(at, at + 5) for at in range(phrases))]
    ).encode()


def _entity(at: int) -> dict[str, object]:
    return {"title": f"Entity {at}", "names": [f"name {at} {n}" for n in range(100)], "description": "word " * 1_900}


_SPANS = [{"start": at * 30, "end": at * 30 + 5} for at in range(5_000)]
_QUERY = {"query": "Englend cricket tem", "properties": [{"pid": "a", "v": "cricket ground"}], "limit": 10}
_FORMS = '<surfaceForm name="a" offset="1"/>' * 40_000
REQUESTS: dict[str, tuple[str, str, bytes]] = {  # the path, the type of the body, the body
    "a text": ("/v1/link", _JSON, _json(text=_TEXT, candidates=100, topics=100)),
    "mentions in UTF-16": ("/v1/link", _JSON, _json(text=_TEXT, mentions=_SPANS, offsets="utf-16", candidates=100)),
    "own entities": ("/v1/link", _JSON, _json(text=_TEXT, entities=[_entity(at) for at in range(100)])),
    "titles to leave out": ("/v1/link", _JSON, _json(text=_TEXT, exclude=["x" * 999] * 1_000)),
    "values of a list": ("/v1/link", _JSON, b'{"text": "a", "x": [' + b'"aaaaaaaaaaaaa",' * 240_000 + b"0]}"),
    "escaped text": ("/v1/link", _JSON, b'{"text": "' + b"\\u0041" * 600_000 + b'"}'),
    "a batch": ("/v1/link/batch", _JSON, _json(documents=[{"text": _LONG[: 31_000 + at]} for at in range(64)])),
    "lines of a letter": ("/v1/batch", _JSON, b"x\n" * 100_000),
    "lines": ("/v1/batch", _JSON, (_json(text=_TEXT[:15_000], candidates=10) + b"\n") * 200),
    "an explanation": ("/v1/explain", _JSON, _json(text=_TEXT[:74_000], candidates=10)),
    "rows of a table": ("/reconcile", _FORM, _form(queries={f"q{at}": _QUERY for at in range(1_000)})),
    "values of entities": (
        "/reconcile", _FORM, _form(extend={"ids": ["England"] * 20_000, "properties": [{"id": "category"}]}),
    ),
    "properties": (
        "/reconcile", _FORM, _form(extend={"ids": ["x"], "properties": [{"id": str(at)} for at in range(29_000)]}),
    ),
    "phrases in Turtle": ("/nif?kb=wiki", _TURTLE, _turtle(5_000)),
    "too many phrases": ("/nif?kb=wiki", _TURTLE, _turtle(30_000)),
    "spans": ("/", _JSON, _json(text=_TEXT, spans=[[at * 30, 5] for at in range(5_000)])),
    "too many spans": ("/", _JSON, _json(text=_TEXT, spans=[[at, 5] for at in range(120_000)])),
    "annotations": ("/tag", _FORM, _form(text=_TEXT, include_all_spots="true", include_abstract="true")),
    "percent signs": ("/tag", _FORM, b"text=" + b"%41" * 1_300_000),
    "surface forms": ("/disambiguate", _FORM, _form(text=f'<annotation text="{"a" * 190_000}">{_FORMS}</annotation>')),
}  # fmt: skip


def _probe(port: int, end: Connection) -> None:
    """Ask whether the server lives until told to stop; send the longest wait in ms."""
    connection, longest = http.client.HTTPConnection("127.0.0.1", port, timeout=60), 0.0
    while not end.poll():
        started = time.perf_counter()
        connection.request("GET", "/health/live")
        connection.getresponse().read()
        longest = max(longest, time.perf_counter() - started)
        time.sleep(_PAUSE)
    end.send(1000 * longest)


def sent(port: int, name: str) -> tuple[int, int, float, float]:
    """Send a request: the status and size of its answer, seconds, and the longest wait of another client in ms."""
    path, kind, body = REQUESTS[name]
    ours, theirs = multiprocessing.Pipe()
    probe = multiprocessing.Process(target=_probe, args=(port, theirs), daemon=True)
    probe.start()
    time.sleep(0.2)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    started, status, size = time.perf_counter(), 0, 0
    with contextlib.closing(connection), contextlib.suppress(OSError):
        connection.request("POST", path, body, {"content-type": kind})
        answer = connection.getresponse()
        status, size = answer.status, len(answer.read())
    seconds = time.perf_counter() - started
    ours.send(None)
    longest = float(ours.recv())
    probe.join()
    return status, size, seconds, longest


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--only", multiple=True, help="A request; repeatable.")
def main(model: Path, only: tuple[str, ...]) -> None:
    """Send each request to a server process."""
    rows: list[dict[str, Cell]] = []
    with process(model) as (served, started):
        wait_until_ready(served)
        threading.Thread(target=_read, args=(started,), daemon=True).start()
        for name in only or REQUESTS:
            found = [sent(served.port, name) for _ in range(_TIMES)]
            status, size, _, _ = found[0]
            seconds, longest = np.median([each[2:] for each in found], axis=0).tolist()
            rows.append({
                "request": name, "KB sent": len(REQUESTS[name][2]) // 1000, "answer": status,
                "KB received": size // 1000, "seconds": round(seconds, 2), "longest ms": round(longest, 1),
            })  # fmt: skip
            print(rows[-1], flush=True)
    if not only:
        write("attacks-largest", {"largest": rows})
    bad = [row["request"] for row in rows if float(str(row["longest ms"])) > _MOST or row["answer"] in (0, 500, 504)]
    print({"bad": bad})
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()

"""`wikilda download` against a real server on this machine that can be told to misbehave."""

import errno
import hashlib
import json
import os
import random
import re
import shutil
import socket
import ssl
import struct
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import FileIO
from pathlib import Path
from typing import Any

import pytest

from tests.processes import elsewhere
from wikilda import __version__
from wikilda._core.atomic import lock
from wikilda.cli import main
from wikilda.mediawiki.download import _http as http
from wikilda.mediawiki.download import _transfer as transfer

WIKI, DATE = "xxwiki", "20240120"
NAME = f"{WIKI}-{DATE}-pages-articles-multistream.xml.bz2"
PATH = f"/{WIKI}/{DATE}/{NAME}"
STATUS = f"/{WIKI}/{DATE}/dumpstatus.json"
DATA = random.Random(1).randbytes(300_000)


@dataclass
class Fault:
    """What goes wrong with one request."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    drop_after: int = -1
    reset: bool = False
    ignore_range: bool = False
    stall: bool = False
    before: Callable[[], None] = lambda: None


class Handler(BaseHTTPRequestHandler):
    server: "Server"

    def do_GET(self) -> None:
        server = self.server
        server.log.append((self.path, {key.lower(): value for key, value in self.headers.items()}))
        faults = server.faults[self.path]
        fault = faults.pop(0) if faults else Fault()
        fault.before()
        if fault.stall and fault.drop_after < 0:
            server.released.wait(20)
        body = server.tree.get(self.path)
        if fault.status or body is None:
            return self._send(fault.status or 404, fault.headers, b"<html>an error page</html>", fault)
        return self._send_file(body, fault)

    def _send_file(self, body: bytes, fault: Fault) -> None:
        versions = self.server.versions.get(self.path, {})
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        condition = self.headers.get("If-Range")
        if not asked or fault.ignore_range or (condition and condition not in versions.values()):
            return self._send(200, versions | fault.headers, body, fault)
        start = int(asked[1])
        if start >= len(body):
            return self._send(416, {"Content-Range": f"bytes */{len(body)}"}, b"", fault)
        span = {"Content-Range": f"bytes {start}-{len(body) - 1}/{len(body)}"}
        return self._send(206, versions | span | fault.headers, body[start:], fault)

    def _send(self, status: int, headers: dict[str, str], body: bytes, fault: Fault) -> None:
        self.send_response(status)
        for key, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body if fault.drop_after < 0 else body[: fault.drop_after])
        if fault.stall:
            self.server.released.wait(20)
        if fault.reset:
            # A zero linger turns closing into a reset, as when a cable is pulled and put back.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.tree: dict[str, bytes] = {}
        self.versions: dict[str, dict[str, str]] = {}
        self.faults: dict[str, list[Fault]] = defaultdict(list)
        self.log: list[tuple[str, dict[str, str]]] = []
        self.released = threading.Event()
        self.prefix = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}{self.prefix}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that hangs up is part of the game

    def index(self, *dates: str) -> None:
        links = "".join(f'<a href="{date}/">{date}/</a>\n' for date in dates)
        page = f'<a href="../">../</a>\n{links}<a href="latest/">latest/</a>\n'
        self.tree[f"{self.prefix}/{WIKI}/"] = page.encode()

    def publish(self, date: str, jobs: dict[str, Any]) -> None:
        status = json.dumps({"version": "0.8", "jobs": jobs}).encode()
        self.tree[f"{self.prefix}/{WIKI}/{date}/dumpstatus.json"] = status

    def put(self, date: str, ending: str, data: bytes) -> dict[str, Any]:
        """Serve a file and return its entry in the status."""
        name = f"{WIKI}-{date}{ending}"
        self.tree[f"{self.prefix}/{WIKI}/{date}/{name}"] = data
        return {name: described(data) | {"url": f"/{WIKI}/{date}/{name}"}}

    def ranges(self, path: str = PATH) -> list[str | None]:
        return [headers.get("range") for asked, headers in self.log if asked == path]


def described(data: bytes) -> dict[str, Any]:
    sums = {kind: hashlib.new(kind, data).hexdigest() for kind in ("md5", "sha1")}
    return {"size": len(data)} | sums


def done(files: dict[str, Any]) -> dict[str, Any]:
    return {"status": "done", "updated": "2024-01-21 00:00:00", "files": files}


def articles(server: Server, date: str = DATE, data: bytes = DATA) -> dict[str, Any]:
    whole = server.put(date, "-pages-articles-multistream.xml.bz2", data)
    return done(whole | server.put(date, "-pages-articles-multistream-index.txt.bz2", b"index"))


def start(server: Server) -> threading.Thread:
    thread = threading.Thread(target=server.serve_forever, args=(0.005,))
    thread.start()
    return thread


def stop(server: Server, thread: threading.Thread) -> None:
    server.released.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    served = Server()
    served.index("20240101", DATE)
    served.publish(DATE, {"articlesmultistreamdump": articles(served)})
    served.versions[PATH] = {"ETag": '"one"'}
    thread = start(served)
    yield served
    stop(served, thread)


@pytest.fixture(autouse=True)
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits are noted, not waited; no proxy comes between us and the server."""
    waits: list[float] = []
    sleep, here = time.sleep, threading.get_ident()

    def note(seconds: float) -> None:
        if threading.get_ident() == here:
            waits.append(seconds)
        else:  # a thread that is none of this test's business
            sleep(seconds)

    monkeypatch.setattr(time, "sleep", note)
    monkeypatch.setenv("no_proxy", "*")
    return waits


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """The real command line: exit code, standard output, standard error."""

    def call(*arguments: str, wiki: str = WIKI, mirror: str | None = None) -> tuple[int, str, str]:
        options = ["-o", str(tmp_path / "out"), "--mirror", mirror or server.url]
        with pytest.raises(SystemExit) as stopped:
            main(["download", wiki, *options, *arguments])
        said = capsys.readouterr()
        return int(stopped.value.code or 0), said.out, said.err

    return call


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def patience(monkeypatch: pytest.MonkeyPatch, **values: Any) -> None:
    monkeypatch.setattr(http, "PATIENCE", http.Patience(**values))


def only(out: Path, *names: str) -> bool:
    return sorted(path.name for path in out.iterdir()) == sorted(names)


# Which files


def test_fetches_the_newest_dump_and_prints_its_path(server: Server, run: Run, out: Path) -> None:
    assert run() == (0, f"{out / NAME}\n", "")
    assert (out / NAME).read_bytes() == DATA
    assert only(out, NAME)
    assert {headers["user-agent"] for _, headers in server.log} == {f"wikilda/{__version__}"}


def test_page_props_on_request(server: Server, run: Run, out: Path) -> None:
    props = done(server.put(DATE, "-page_props.sql.gz", b"props"))
    server.publish(DATE, {"articlesmultistreamdump": articles(server), "pagepropstable": props})
    code, printed, _ = run("--page-props")
    assert code == 0
    assert printed.splitlines() == [str(out / NAME), str(out / f"{WIKI}-{DATE}-page_props.sql.gz")]
    assert (out / f"{WIKI}-{DATE}-page_props.sql.gz").read_bytes() == b"props"


def part_jobs(server: Server, recombined: str) -> dict[str, Any]:
    endings = ["10.xml-p9p12", "2.xml-p6p8", "2.xml-p3p5", "1.xml-p1p2", "-index1.txt-p1p2"]
    parts: dict[str, Any] = {}
    for ending in endings:
        parts |= server.put(DATE, f"-pages-articles-multistream{ending}.bz2", ending.encode())
    whole = articles(server) | {"status": recombined}
    return {"articlesmultistreamdump": done(parts), "articlesmultistreamdumprecombine": whole}


def test_prefers_the_recombined_file(server: Server, run: Run, out: Path) -> None:
    server.publish(DATE, part_jobs(server, "done"))
    assert run()[:2] == (0, f"{out / NAME}\n")


def test_takes_all_parts_in_order_while_they_are_not_recombined(server: Server, run: Run, out: Path) -> None:
    server.publish(DATE, part_jobs(server, "in-progress"))
    code, printed, _ = run()
    stem = f"{WIKI}-{DATE}-pages-articles-multistream"
    order = ["1.xml-p1p2", "2.xml-p3p5", "2.xml-p6p8", "10.xml-p9p12"]
    assert (code, printed.splitlines()) == (0, [str(out / f"{stem}{each}.bz2") for each in order])


def test_a_whole_file_beside_its_parts_is_enough(server: Server, run: Run, out: Path) -> None:
    jobs = part_jobs(server, "waiting")
    jobs["articlesmultistreamdump"]["files"] |= articles(server)["files"]
    server.publish(DATE, jobs)
    assert run()[:2] == (0, f"{out / NAME}\n")


@pytest.mark.parametrize("status", ["waiting", "in-progress", "failed"])
def test_skips_a_dump_that_is_not_finished(server: Server, run: Run, out: Path, status: str) -> None:
    server.publish("20240101", {"articlesmultistreamdump": articles(server, "20240101", b"older")})
    server.publish(DATE, {"articlesmultistreamdump": {"status": status, "files": {NAME: {"url": PATH}}}})
    assert run()[0] == 0
    assert [path.read_bytes() for path in out.iterdir()] == [b"older"]


def test_skips_a_dump_of_which_page_props_are_not_done(server: Server, run: Run, out: Path) -> None:
    older = articles(server, "20240101", b"older")
    props = done(server.put("20240101", "-page_props.sql.gz", b"props"))
    server.publish("20240101", {"articlesmultistreamdump": older, "pagepropstable": props})
    assert run("--page-props")[0] == 0
    assert sorted(path.read_bytes() for path in out.iterdir()) == [b"older", b"props"]


@pytest.mark.parametrize("spoilt", [{}, {"size": None}, {"size": "300000"}, 7])
def test_a_file_without_a_size_is_not_finished(server: Server, run: Run, spoilt: Any) -> None:
    server.publish(DATE, {"articlesmultistreamdump": done({NAME: spoilt})})
    code, _, said = run()
    assert code == 1
    assert "there is no finished dump" in said
    assert "20240120/: the dump is not finished: articlesmultistreamdump lists no file" in said


def test_a_named_date(server: Server, run: Run, out: Path) -> None:
    server.publish("20240101", {"articlesmultistreamdump": articles(server, "20240101", b"older")})
    assert run("--date", "20240101")[0] == 0
    assert [path.read_bytes() for path in out.iterdir()] == [b"older"]
    assert f"/{WIKI}/" not in [path for path, _ in server.log]  # some mirrors show no index


def test_a_mirror_under_a_prefix(server: Server, run: Run, out: Path) -> None:
    server.tree.clear()
    server.prefix = "/pub/wikimedia"
    server.tree[f"/pub/wikimedia/{WIKI}/"] = f'<a class=d href="/pub/wikimedia/{WIKI}/{DATE}">x</a>'.encode()
    server.publish(DATE, {"articlesmultistreamdump": articles(server)})
    assert run(mirror=server.url.rstrip("/"))[0] == 0
    assert (out / NAME).read_bytes() == DATA


@pytest.mark.parametrize("url", [NAME, f"../{DATE}/{NAME}", PATH, "{server}" + PATH, None])
def test_relative_and_absolute_addresses(server: Server, run: Run, out: Path, url: str | None) -> None:
    address = url and url.format(server=server.url.rstrip("/"))
    server.publish(DATE, {"articlesmultistreamdump": done({NAME: described(DATA) | {"url": address}})})
    assert run()[0] == 0
    assert (out / NAME).read_bytes() == DATA


def test_an_address_may_already_hold_the_prefix(server: Server, run: Run, out: Path) -> None:
    server.prefix = "/pub"
    server.index(DATE)
    articles(server)
    entry = described(DATA) | {"url": f"/pub{PATH}"}
    server.publish(DATE, {"articlesmultistreamdump": done({NAME: entry})})
    assert run()[0] == 0
    assert (out / NAME).read_bytes() == DATA


def test_follows_redirects_with_the_range(server: Server, run: Run, out: Path) -> None:
    server.tree["/elsewhere"] = DATA
    moved = Fault(302, {"Location": "/elsewhere"})
    server.faults[PATH] = [moved, moved]
    server.faults["/elsewhere"] = [Fault(drop_after=1000)]
    assert run()[0] == 0
    assert (out / NAME).read_bytes() == DATA
    assert server.ranges("/elsewhere") == [None, "bytes=1000-"]


# Lines that break


def test_drops_are_resumed_where_they_happened(server: Server, run: Run, out: Path, slept: list[float]) -> None:
    server.faults[PATH] = [Fault(drop_after=100_000), Fault(drop_after=50_000), Fault(drop_after=1)]
    assert run()[0] == 0
    assert (out / NAME).read_bytes() == DATA
    assert only(out, NAME)
    assert server.ranges() == [None, "bytes=100000-", "bytes=150000-", "bytes=150001-"]
    assert {headers.get("if-range") for path, headers in server.log if path == PATH} == {None, '"one"'}
    assert slept == [1, 1, 1]  # each try got further, so the waits do not grow


def test_a_reset_connection_is_resumed(server: Server, run: Run, out: Path) -> None:
    server.faults[PATH] = [Fault(drop_after=100_000, reset=True), Fault(drop_after=0, reset=True)]
    assert run()[0] == 0
    assert (out / NAME).read_bytes() == DATA
    assert len(server.ranges()) == 3


def test_a_silent_server_is_asked_again(server: Server, run: Run, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patience(monkeypatch, timeout=0.2)
    server.faults[PATH] = [Fault(stall=True)]
    server.faults[STATUS] = [Fault(stall=True)]
    assert run()[0] == 0
    assert (out / NAME).read_bytes() == DATA
    assert len(server.ranges()) == len(server.ranges(STATUS)) == 2


def test_what_came_before_the_silence_is_kept(
    server: Server, run: Run, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patience(monkeypatch, timeout=0.2)
    server.faults[PATH] = [Fault(drop_after=1000, stall=True)]
    assert run()[0] == 0
    assert (out / NAME).read_bytes() == DATA
    assert server.ranges() == [None, "bytes=1000-"]


def test_a_server_without_ranges_starts_over(server: Server, run: Run, out: Path) -> None:
    server.faults[PATH] = [Fault(drop_after=100_000), Fault(ignore_range=True)]
    assert run()[0] == 0
    assert (out / NAME).read_bytes() == DATA
    assert server.ranges() == [None, "bytes=100000-"]


def test_a_server_without_ranges_is_not_asked_for_ever(server: Server, run: Run) -> None:
    server.faults[PATH] = [Fault(drop_after=100_000, ignore_range=True) for _ in range(100)]
    code, _, said = run()
    assert (code, len(server.ranges())) == (1, 10)
    assert "the connection was dropped" in said


def test_gives_up_after_tries_without_progress(
    server: Server, run: Run, out: Path, slept: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    patience(monkeypatch, tries=5, base=0.5, longest=3)
    server.faults[PATH] = [Fault(drop_after=1000)] + [Fault(503)] * 20
    code, printed, said = run()
    assert (code, printed) == (1, "")
    assert re.search(r"503 Service Unavailable; gave up after 5 tries.*run the same command again", said)
    assert slept == [0.5, 1, 2, 3]
    assert (out / f"{NAME}.part").read_bytes() == DATA[:1000]


def test_the_next_run_goes_on(server: Server, run: Run, out: Path) -> None:
    server.faults[PATH] = [Fault(drop_after=1000), Fault(403)]
    code, _, said = run()
    assert code == 1
    assert f"{PATH}: the server answered 403 Forbidden" in said
    server.log.clear()
    assert run()[0] == 0
    assert (out / NAME).read_bytes() == DATA
    assert only(out, NAME)
    assert [h.get("if-range") for path, h in server.log if path == PATH] == ['"one"']
    assert server.ranges() == ["bytes=1000-"]


def test_another_mirror_goes_on_too(server: Server, run: Run, out: Path) -> None:
    """Mirrors name versions differently, so what one has called it must not be asked of another."""
    out.mkdir()
    (out / f"{NAME}.part").write_bytes(DATA[:1000])
    (out / f"{NAME}.part.origin").write_text(f'http://other.example{PATH}\n"other"\n')
    assert run()[0] == 0
    assert server.ranges() == ["bytes=1000-"]
    assert "if-range" not in server.log[-1][1]


@pytest.mark.parametrize("status", [500, 502, 503, 408])
def test_passing_failures_are_tried_again(server: Server, run: Run, slept: list[float], status: int) -> None:
    server.faults[f"/{WIKI}/"] = [Fault(status)]
    server.faults[STATUS] = [Fault(status), Fault(status)]
    server.faults[PATH] = [Fault(status)]
    assert run()[0] == 0
    assert slept == [1, 1, 2, 1]


def test_waits_as_long_as_the_server_asks(server: Server, run: Run, slept: list[float]) -> None:
    asked = ["0", "7", "86400", formatdate(time.time() + 50, usegmt=True), "soon", "-5"]
    server.faults[PATH] = [Fault(429, {"Retry-After": text}) for text in asked]
    assert run()[0] == 0
    assert slept[:3] == [0, 7, 120]
    assert 40 < slept[3] <= 50
    assert slept[4:] == [16, 32]


def change(server: Server, version: str = "two") -> Callable[[], None]:
    """Exchange the file on the server for another of the same size, as published now."""

    def swap() -> None:
        server.publish(DATE, {"articlesmultistreamdump": articles(server, data=DATA[::-1])})
        server.versions[PATH] = {"ETag": f'"{version}"'}

    return swap


def republish(server: Server) -> None:
    server.publish(DATE, {"articlesmultistreamdump": done({NAME: described(DATA[::-1]) | {"url": PATH}})})


def test_a_changed_file_starts_over(server: Server, run: Run, out: Path) -> None:
    republish(server)
    server.faults[PATH] = [Fault(drop_after=1000), Fault(before=change(server), drop_after=2000)]
    assert run()[0] == 0
    assert (out / NAME).read_bytes() == DATA[::-1]
    assert [h.get("if-range") for path, h in server.log if path == PATH] == [None, '"one"', '"two"']


def test_a_changed_file_starts_over_in_the_next_run(server: Server, run: Run, out: Path) -> None:
    server.faults[PATH] = [Fault(drop_after=1000), Fault(403)]
    assert run()[0] == 1
    change(server)()
    assert run()[0] == 0
    assert (out / NAME).read_bytes() == DATA[::-1]


def test_a_changed_file_is_noticed_when_the_server_ignores_if_range(server: Server, run: Run, out: Path) -> None:
    republish(server)
    blind = {"ETag": '"two"', "Content-Range": f"bytes 1000-299999/{len(DATA)}"}
    server.faults[PATH] = [Fault(drop_after=1000), Fault(206, blind), Fault(before=change(server))]
    assert run()[0] == 0
    assert (out / NAME).read_bytes() == DATA[::-1]
    assert server.ranges() == [None, "bytes=1000-", None]


def test_the_wrong_part_is_not_taken(server: Server, run: Run, out: Path) -> None:
    wrong = {"Content-Range": f"bytes 500-299999/{len(DATA)}"}
    server.faults[PATH] = [Fault(drop_after=1000), Fault(206, wrong), Fault(drop_after=9), Fault(206)]
    assert run()[0] == 0
    assert (out / NAME).read_bytes() == DATA


@pytest.mark.parametrize(
    ("versions", "sent"),
    [
        ({"Last-Modified": "Sat, 20 Jan 2024 10:00:00 GMT"}, "Sat, 20 Jan 2024 10:00:00 GMT"),
        (
            {"ETag": 'W/"weak"', "Last-Modified": "Sat, 20 Jan 2024 10:00:00 GMT"},
            "Sat, 20 Jan 2024 10:00:00 GMT",
        ),
        ({"ETag": 'W/"weak"'}, None),
        ({}, None),
    ],
)
def test_which_version_is_asked_for(server: Server, run: Run, versions: dict[str, str], sent: str | None) -> None:
    server.versions[PATH] = versions
    server.faults[PATH] = [Fault(drop_after=1000)]
    assert run()[0] == 0
    assert server.log[-1][1].get("if-range") == sent
    assert server.ranges() == [None, "bytes=1000-"]


def test_out_of_range_starts_over(server: Server, run: Run, out: Path) -> None:
    server.faults[PATH] = [Fault(drop_after=1000), Fault(416, {"Content-Range": "bytes */10"})]
    assert run()[0] == 0
    assert (out / NAME).read_bytes() == DATA
    assert server.ranges() == [None, "bytes=1000-", None]


def test_out_of_range_at_the_end_is_the_end(server: Server, run: Run, out: Path) -> None:
    """The server's file ends where ours does, before the published size: that is for the check to say."""
    server.tree[PATH] = DATA[:1000]
    out.mkdir()
    (out / f"{NAME}.part").write_bytes(DATA[:1000])
    code, _, said = run()
    assert code == 1
    assert "expected 300000 bytes, found 1000" in said
    assert server.ranges() == ["bytes=1000-"]


# What is on disk


def test_a_complete_file_is_checked_and_not_fetched_again(server: Server, run: Run, out: Path) -> None:
    assert run()[0] == 0
    before = (out / NAME).stat().st_mtime_ns
    server.log.clear()
    assert run()[:2] == (0, f"{out / NAME}\n")
    assert server.ranges() == []
    assert (out / NAME).stat().st_mtime_ns == before


@pytest.mark.parametrize("wrong", [DATA[:-1], DATA[:-1] + b"!"])
def test_a_wrong_file_in_place_is_fetched_again(server: Server, run: Run, out: Path, wrong: bytes) -> None:
    out.mkdir()
    (out / NAME).write_bytes(wrong)
    assert run()[0] == 0
    assert (out / NAME).read_bytes() == DATA


def test_a_complete_part_needs_no_fetching(server: Server, run: Run, out: Path) -> None:
    out.mkdir()
    (out / f"{NAME}.part").write_bytes(DATA)
    assert run()[0] == 0
    assert server.ranges() == []
    assert only(out, NAME)


def test_a_part_that_is_too_long_starts_over(server: Server, run: Run, out: Path) -> None:
    out.mkdir()
    (out / f"{NAME}.part").write_bytes(DATA + b"more")
    assert run()[0] == 0
    assert server.ranges() == [None]
    assert (out / NAME).read_bytes() == DATA


@pytest.mark.parametrize("kind", ["sha1", "md5"])
def test_a_wrong_checksum_is_reported_and_the_part_removed(server: Server, run: Run, out: Path, kind: str) -> None:
    entry = {"size": len(DATA), kind: "ab" * 16, "url": PATH}
    server.publish(DATE, {"articlesmultistreamdump": done({NAME: entry})})
    code, printed, said = run()
    assert (code, printed) == (1, "")
    assert f"expected {kind} {'ab' * 16}, found {described(DATA)[kind]}" in said
    assert PATH in said
    assert only(out)


def test_sha1_comes_before_md5(server: Server, run: Run) -> None:
    entry = described(DATA) | {"md5": "ab" * 16, "url": PATH}
    entry["sha1"] = entry["sha1"].upper()
    server.publish(DATE, {"articlesmultistreamdump": done({NAME: entry})})
    assert run()[0] == 0


def test_another_size_on_the_server_is_reported_before_fetching(server: Server, run: Run, out: Path) -> None:
    out.mkdir()
    (out / f"{NAME}.part").write_bytes(DATA[:1000])
    server.tree[PATH] = DATA[:5000]
    code, _, said = run()
    assert code == 1
    assert "expected 300000 bytes, found 5000 on the server" in said
    assert (out / f"{NAME}.part").read_bytes() == DATA[:1000]  # a proxy's login page must not cost a day


def test_a_server_that_does_not_end_is_cut_off(server: Server, run: Run, out: Path) -> None:
    server.tree[PATH] = DATA * 20
    server.faults[PATH] = [Fault(headers={"Content-Length": "unknown"})]
    code, _, said = run()
    assert code == 1
    assert (found := re.search(r"expected 300000 bytes, found (\d+)\.", said))
    assert int(found[1]) <= len(DATA) + transfer.CHUNK
    assert only(out)


def test_an_empty_file(server: Server, run: Run, out: Path) -> None:
    server.publish(DATE, {"articlesmultistreamdump": articles(server, data=b"")})
    assert run()[0] == 0
    assert (out / NAME).read_bytes() == b""


def test_a_planted_link_is_not_followed(run: Run, out: Path) -> None:
    out.mkdir()
    (out / "precious").write_text("old")
    (out / f"{NAME}.part").symlink_to(out / "precious")
    code, _, said = run()
    assert (code, "is a symbolic link" in said) == (1, True)
    assert (out / "precious").read_text() == "old"


def test_a_full_disk_keeps_the_part(run: Run, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(sink: FileIO, chunk: bytes) -> None:
        os.write(sink.fileno(), chunk[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(transfer, "_write", fill)
        code, _, said = run()
    assert (code, f"{out / NAME}.part: the disk is full" in said) == (1, True)
    assert (out / f"{NAME}.part").read_bytes() == DATA[:100]
    assert run()[0] == 0
    assert (out / NAME).read_bytes() == DATA


def test_two_downloads_of_one_file_do_not_mix(server: Server, run: Run, out: Path) -> None:
    out.mkdir()
    (out / f"{NAME}.part").write_bytes(DATA[:10])
    with lock(out / NAME):
        code, _, said = elsewhere(run)
    assert code == 1
    assert f"{NAME}: another process is writing it" in said
    assert (out / f"{NAME}.part").read_bytes() == DATA[:10]


# What a user gets wrong, and what servers do


def test_an_unknown_wiki(server: Server, run: Run, out: Path) -> None:
    for arguments in ([], ["--date", DATE]):
        code, _, said = run(*arguments, wiki="nowiki")
        assert code == 1
        assert f"{server.url}nowiki/: there is no wiki 'nowiki'" in said
        assert "backup-index.html" in said
    assert not out.exists()


def test_a_language_is_not_a_wiki(run: Run) -> None:
    assert "Did you mean xxwiki?" in run(wiki="xx")[2]


@pytest.mark.parametrize("wiki", ["../xxwiki", "XXWIKI", "xx wiki", "xx/wiki", ""])
def test_what_cannot_be_a_wiki_is_not_asked_for(server: Server, run: Run, wiki: str) -> None:
    code, _, said = run(wiki=wiki)
    assert (code, server.log) == (1, [])
    assert "is not the name of a wiki" in said


def test_an_unknown_date(run: Run) -> None:
    code, _, said = run("--date", "20230101")
    assert code == 1
    assert "there is no dump of 20230101. Choose one of 20240120, 20240101" in said


@pytest.mark.parametrize("date", ["2024-01-20", "latest", "../2024", "202401"])
def test_what_is_not_a_date(server: Server, run: Run, date: str) -> None:
    code, _, said = run("--date", date)
    assert (code, server.log) == (1, [])
    assert "YYYYMMDD" in said


def test_a_named_date_that_is_not_finished(server: Server, run: Run) -> None:
    server.publish(DATE, {"articlesmultistreamdump": {"status": "in-progress"}})
    code, _, said = run("--date", DATE)
    assert code == 1
    assert f"{DATE}/: the dump is not finished: articlesmultistreamdump is in-progress. Wait for it" in said
    code, _, said = run("--date", "20240101")
    assert code == 1
    assert "20240101/dumpstatus.json: not there yet. Wait for it" in said


def test_no_finished_dump(server: Server, run: Run) -> None:
    server.publish(DATE, {"articlesmultistreamdump": {"status": "waiting"}})
    code, _, said = run()
    assert code == 1
    assert f"{server.url}{WIKI}/: there is no finished dump" in said
    assert "articlesmultistreamdump is waiting" in said


def test_an_index_without_dumps(server: Server, run: Run) -> None:
    server.index()
    code, _, said = run()
    assert code == 1
    assert f"{server.url}{WIKI}/: no dumps are listed here" in said


@pytest.mark.parametrize("text", [b"<html>", b"", b"\xff\xfe\xfd", b"[]", b'{"jobs": 3}', b"[" * 100_000])
def test_a_status_that_is_none(server: Server, run: Run, text: bytes) -> None:
    server.tree[STATUS] = text
    code, _, said = run()
    assert code == 1
    assert f"{STATUS}: not the status of a dump" in said


def test_a_truncated_status_is_asked_for_again(server: Server, run: Run) -> None:
    server.faults[STATUS] = [Fault(drop_after=20)]
    assert run()[0] == 0
    assert len(server.ranges(STATUS)) == 2


def test_a_file_that_is_listed_but_not_there(server: Server, run: Run, out: Path) -> None:
    del server.tree[PATH]
    code, _, said = run()
    assert code == 1
    assert f"{PATH}: the server answered 404 Not Found" in said
    assert only(out)


@pytest.mark.parametrize(
    "name",
    [
        f"../{NAME}",
        f"/tmp/{NAME}",
        f"..\\{NAME}",
        f"{NAME}/../../x-{NAME}",
        f"{WIKI}-{DATE}/../-pages-articles-multistream.xml.bz2",
        f"{NAME}\n",
        f"{NAME}\0",
        ".bashrc",
        "..",
    ],
)
def test_names_cannot_leave_the_directory(server: Server, run: Run, tmp_path: Path, name: str) -> None:
    server.publish(DATE, {"articlesmultistreamdump": done({name: described(DATA) | {"url": PATH}})})
    code, _, said = run()
    assert (code, server.ranges()) == (1, [])
    assert "lists no file that can be used" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x", "gopher://x/"])
def test_files_come_from_http_only(server: Server, run: Run, url: str) -> None:
    server.publish(DATE, {"articlesmultistreamdump": done({NAME: described(DATA) | {"url": url}})})
    code, _, said = run()
    assert code == 1
    assert "only http and https addresses can be used" in said


def test_a_redirect_cannot_lead_to_other_protocols(server: Server, run: Run) -> None:
    server.faults[PATH] = [Fault(302, {"Location": "ftp://127.0.0.1/x"})]
    code, _, said = run()
    assert code == 1
    assert "only http and https addresses can be used" in said


@pytest.mark.parametrize("mirror", ["dumps.example.org", "ftp://x/", "file:///x", "http:///x", "http://x/?a", "-"])
def test_what_is_not_a_mirror(run: Run, mirror: str) -> None:
    code, _, said = run(mirror=mirror)
    assert code == 1
    assert f"{mirror}: not the address of a mirror. Write it like https://" in said


@pytest.mark.parametrize("mirror", ["http://127.0.0.1:port/", "http://[::1/", "http://127.0.0.1/\N{SNOWMAN}/"])
def test_an_unusable_address(run: Run, slept: list[float], mirror: str) -> None:
    code, _, said = run(mirror=mirror)
    assert (code, slept) == (1, [])
    assert "not a usable address" in said


def test_an_unreachable_server(run: Run, slept: list[float]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        code, _, said = run(mirror=f"http://127.0.0.1:{unused.getsockname()[1]}/")
    assert code == 1
    assert re.search(r"/xxwiki/: the server cannot be reached \(Connection refused\); gave up after 4", said)
    assert slept == [1, 2, 4]


def test_a_server_that_does_not_speak_tls(server: Server, run: Run, slept: list[float]) -> None:
    code, _, said = run(mirror=server.url.replace("http:", "https:"))
    assert (code, slept) == (1, [])
    assert "no secure connection (TLS)" in said


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[Server]:
    """A server that speaks TLS, with a certificate in `certificate` that nobody has to trust."""
    if shutil.which("openssl") is None:
        pytest.skip("makes a certificate with openssl")
    make = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
    files = ["-keyout", tmp_path / "key", "-out", tmp_path / "certificate"]
    subprocess.run([*make.split(), *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate", tmp_path / "key")
    made = Server()
    made.socket = context.wrap_socket(made.socket, server_side=True)
    thread = start(made)
    yield made
    stop(made, thread)


def test_a_certificate_that_is_not_trusted(secure: Server, run: Run, slept: list[float]) -> None:
    code, _, said = run(mirror=secure.url.replace("http:", "https:"))
    assert (code, slept) == (1, [])
    assert re.search(r"no secure connection \(TLS\): self.signed certificate\. Check", said)


def test_redirects_from_https_to_http_are_refused(
    secure: Server, server: Server, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate"))
    mirror = secure.url.replace("http:", "https:")
    secure.faults[f"/{WIKI}/"] = [Fault(status=302, headers={"Location": f"{server.url}{WIKI}/"})]
    code, _, said = run(mirror=mirror)
    assert (code, "which is not secure" in said) == (1, True)
    assert server.log == []
    files = {
        name: entry | {"url": f"{server.url}{WIKI}/{DATE}/{name}"} for name, entry in articles(secure)["files"].items()
    }
    secure.index(DATE)
    secure.publish(DATE, {"articlesmultistreamdump": done(files)})
    code, _, said = run(mirror=mirror)
    assert (code, "which is not secure" in said) == (1, True)
    assert server.log == []


def test_a_list_without_end_is_not_read(server: Server, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikilda.mediawiki.download._http._MOST_PAGE", 10_000)
    server.tree[f"/{WIKI}/"] = b"<a href='20240101/'>" * 1000
    code, _, said = run()
    assert (code, "which no list is" in said) == (1, True)


def test_a_file_without_a_digest_is_reported_as_unchecked(server: Server, run: Run) -> None:
    files = {name: {"size": entry["size"], "url": entry["url"]} for name, entry in articles(server)["files"].items()}
    server.publish(DATE, {"articlesmultistreamdump": done(files)})
    code, _, said = run()
    assert (code, "unchecked, since the server publishes no digest" in said) == (0, True)

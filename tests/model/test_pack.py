"""Models as one file: what is packed comes back, and nothing else does."""

import io
import json
import socketserver
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pytest
from click.testing import CliRunner

from wikilda._core.errors import WikildaError
from wikilda.cli import cli
from wikilda.knowledge import Knowledge
from wikilda.model import Model, create_model
from wikilda.model.pack import ABOUT, _opened, pack, read_about, unpack

Members = list[tuple[str, bytes]]


@pytest.fixture(scope="module")
def packed(sample: Knowledge, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("packed")
    create_model(sample, directory / "sample.model")
    return pack(directory / "sample.model", directory / "sample.wikilda")


def members(file: Path) -> Members:
    with pa.input_stream(str(file), compression="zstd") as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        return [(entry.name, archive.extractfile(entry).read()) for entry in archive]  # type: ignore[union-attr]


def write(file: Path, content: Members, kind: bytes = tarfile.REGTYPE) -> Path:
    with pa.output_stream(str(file), compression="zstd") as stream, tarfile.open(fileobj=stream, mode="w|") as archive:
        for name, data in content:
            entry = tarfile.TarInfo(name)
            entry.size, entry.type = len(data), tarfile.REGTYPE if name == ABOUT else kind
            entry.linkname = "" if entry.type == tarfile.REGTYPE else "/etc/passwd"
            archive.addfile(entry, io.BytesIO(data))
    return file


def test_a_model_comes_back_with_its_knowledge(packed: Path, sample: Knowledge, tmp_path: Path) -> None:
    made = unpack(packed, tmp_path / "got.model")
    assert isinstance(made, Model)
    assert made.knowledge().identity == sample.identity
    assert made.knowledge().path == (tmp_path / "got.model" / "knowledge").resolve()
    before = Model.open(packed.with_suffix(".model"))
    assert (made.identity, made.settings) == (before.identity, before.settings)
    assert read_about(packed)["licence"]


def test_the_same_model_gives_the_same_bytes(packed: Path, tmp_path: Path) -> None:
    assert pack(packed.with_suffix(".model"), tmp_path / "again").read_bytes() == packed.read_bytes()


def test_only_knowledge_can_be_packed(sample: Knowledge, tmp_path: Path) -> None:
    file = pack(sample.path, tmp_path / "kb.wikilda", licence="CC0")
    assert read_about(file)["licence"] == "CC0"
    assert unpack(file, tmp_path / "kb").identity == sample.identity


def lying(content: Members, name: str, change: bytes) -> Members:
    return [(each, change if each == name else data) for each, data in content]


def renamed(content: Members, to: str) -> Members:
    """One array under another name, in the archive and in the manifest."""
    manifest = json.loads(content[1][1])
    name = sorted(manifest["files"])[0]
    manifest["files"][to] = manifest["files"].pop(name)
    return [
        content[0],
        (content[1][0], json.dumps(manifest).encode()),
        *((to if n == name else n, d) for n, d in content[2:]),
    ]


@pytest.mark.parametrize("to", ["../outside.npy", "/tmp/outside.npy", "a/../../outside.npy", "manifest.json", "x.py"])
def test_names_that_leave_the_directory_are_refused(packed: Path, tmp_path: Path, to: str) -> None:
    _refused(write(tmp_path / "bad", renamed(members(packed), to)), tmp_path, "which no artifact has")


def test_links_are_refused(packed: Path, tmp_path: Path) -> None:
    _refused(write(tmp_path / "bad", members(packed), tarfile.SYMTYPE), tmp_path, "not a plain file")


def raw(file: Path, *parts: bytes) -> Path:
    """A stream of blocks, each as it is."""
    with pa.output_stream(str(file), compression="zstd") as stream:
        for part in parts:
            stream.write(part)
    return file


def header(name: bytes, size: bytes, kind: bytes) -> bytes:
    head = bytearray(512)
    head[: len(name)], head[124 : 124 + len(size)], head[156:157], head[257:263] = name, size, kind, b"ustar\0"
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head)


@pytest.mark.parametrize("kind", [b"x", b"g", b"L", b"K", b"S", b"1", b"2", b"5", b"7"])
def test_headers_that_tarfile_reads_whole_are_refused_at_once(tmp_path: Path, kind: bytes) -> None:
    """98 kB of a long name of gigabytes took all memory, a size of 80,000 digits more than a minute."""
    digits = b"80017 size=" + b"9" * 80_000 + b"\n"
    file = raw(tmp_path / "bad", header(b"././@LongLink", b"77777777777\0", kind), digits, bytes(1 << 20))
    _refused(file, tmp_path, "which is not a plain file")
    with pytest.raises(WikildaError, match="not a plain file"):
        read_about(file)


@pytest.mark.parametrize(
    "size", [b"\xff" * 12, b"-0000000010\0", b"0000000001_\0", b"9999999999\0", b"\x80" + b"\xff" * 11]
)
def test_sizes_that_are_none_are_refused(tmp_path: Path, size: bytes) -> None:
    _refused(raw(tmp_path / "bad", header(b"pack.json", size, b"0"), bytes(1 << 16)), tmp_path, "bad")


def test_a_large_size_is_read_as_it_is_written(tmp_path: Path) -> None:
    entry = tarfile.TarInfo("a")
    entry.size = 20 << 30
    file = raw(tmp_path / "large", entry.tobuf(tarfile.GNU_FORMAT))
    with _opened(file) as archive:
        assert archive.next() == ("a", 20 << 30)


def test_what_expands_beyond_reason_is_refused_before_it_is_written(packed: Path, tmp_path: Path) -> None:
    content = members(packed)
    manifest = json.loads(content[1][1])
    for size, said in ((4 << 30, "expands to more than"), (10**400, "which no artifact has")):
        next(iter(manifest["files"].values()))["bytes"] = size
        bad = write(tmp_path / "bad", lying(content, content[1][0], json.dumps(manifest).encode()))
        _refused(bad, tmp_path, said)


@pytest.mark.parametrize("change", [b'{"a": "\\ud800"}', b"[" * 100_000, b"1" * 5000, b"[]", b"\xff", b"{}"])
def test_lists_that_are_none_are_refused(packed: Path, tmp_path: Path, change: bytes) -> None:
    content = members(packed)
    for name in (content[0][0], content[1][0]):
        _refused(write(tmp_path / "bad", lying(content, name, change)), tmp_path, "")


def test_sizes_that_lie_are_refused(packed: Path, tmp_path: Path) -> None:
    content = members(packed)
    name, data = content[2]
    _refused(write(tmp_path / "bad", lying(content, name, data + b"x")), tmp_path, "bytes, not")


def test_changed_bytes_are_refused(packed: Path, tmp_path: Path) -> None:
    content = members(packed)
    name, data = next((name, data) for name, data in content if name.endswith("values.npy"))
    _refused(write(tmp_path / "bad", lying(content, name, data[:-1] + bytes([data[-1] ^ 1]))), tmp_path, "")


def test_more_or_less_than_is_listed_is_refused(packed: Path, tmp_path: Path) -> None:
    content = members(packed)
    _refused(write(tmp_path / "bad", [*content, ("more.npy", b"x")]), tmp_path, "more than it lists")
    _refused(write(tmp_path / "bad", content[:-1]), tmp_path, "has nothing where")
    _refused(write(tmp_path / "bad", content[1:]), tmp_path, "does not begin with")


def test_damaged_files_are_refused(packed: Path, tmp_path: Path) -> None:
    data = packed.read_bytes()
    for bad in (b"", b"not a pack", data[: len(data) // 2], data[:1000] + b"\0" * 50 + data[1050:]):
        (tmp_path / "bad").write_bytes(bad)
        _refused(tmp_path / "bad", tmp_path, "")


def _refused(file: Path, directory: Path, said: str) -> None:
    before = {each.name for each in directory.iterdir()}
    with pytest.raises(WikildaError) as raised:
        unpack(file, directory / "got")
    assert said in str(raised.value)
    assert {each.name for each in directory.iterdir()} - before <= {"got.lock", ".got.lock"}


@pytest.fixture
def server(packed: Path) -> Iterator[str]:
    """A web server on the loopback that has the pack."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(packed.parent))) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def test_get_from_a_server(packed: Path, server: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["get", f"{server}/{packed.name}", "-o", str(tmp_path / "got")])
    assert done.exit_code == 0, done.output
    assert "Licence" in done.output
    assert Model.open(tmp_path / "got").identity == Model.open(packed.with_suffix(".model")).identity
    again = CliRunner().invoke(cli, ["get", str(packed), "-o", str(tmp_path / "got")])
    assert again.exit_code != 0


class Cutting(BaseHTTPRequestHandler):
    """Serves one file, by ranges, and cuts the first answers short."""

    data = b""
    cuts = 3  # the first only asks how large it is
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        wanted = self.headers.get("Range", "")
        self.asked.append(wanted)
        first = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        rest = self.data[first:]
        self.send_response(206 if wanted else 200)
        self.send_header("ETag", '"pack"')
        self.send_header("Content-Length", str(len(rest)))
        if wanted:
            self.send_header("Content-Range", f"bytes {first}-{len(self.data) - 1}/{len(self.data)}")
        self.end_headers()
        cut = len(self.asked) <= self.cuts
        self.wfile.write(rest[: len(self.data) // 3] if cut else rest)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


def test_get_resumes_where_the_connection_was_cut(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    Cutting.data, size = packed.read_bytes(), packed.stat().st_size
    Cutting.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Cutting) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{running.server_port}/{packed.name}"
        done = CliRunner().invoke(cli, ["get", address, "-o", str(tmp_path / "got")])
        running.shutdown()
    assert done.exit_code == 0, done.output
    assert [each for each in Cutting.asked if each] == [f"bytes={size // 3}-", f"bytes={2 * (size // 3)}-"]
    assert Model.open(tmp_path / "got").identity == Model.open(packed.with_suffix(".model")).identity


def test_a_pack_of_the_same_name_and_size_is_not_taken_for_another(
    packed: Path, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = Path(packed.name)
    own.write_bytes(bytes(packed.stat().st_size))
    done = CliRunner().invoke(cli, ["get", f"{server}/{packed.name}", "-o", "got"])
    assert isinstance(done.exception, WikildaError)
    assert "is there already, and may be another file" in str(done.exception)
    assert own.read_bytes() == bytes(packed.stat().st_size)
    own.unlink()
    for target in ("got", "again"):  # what was fetched from there, and is the same there, is not fetched again
        done = CliRunner().invoke(cli, ["get", f"{server}/{packed.name}", "-o", target])
        assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    "head",
    [b"Content-Length: \xb2", b"Content-Length: " + b"9" * 5000, b"Content-Length: -1", b"\r\n".join([b"X: y"] * 200),
     b"Content-Length: 99999999999999999999"],
)  # fmt: skip
def test_invalid_headers_are_one_message(tmp_path: Path, head: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)

    class Odd(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            self.wfile.write(b"HTTP/1.1 200 OK\r\n" + head + b"\r\nConnection: close\r\n\r\nabc")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Odd) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{running.server_address[1]}/a.wikilda"
        done = CliRunner().invoke(cli, ["get", address, "-o", str(tmp_path / "got")])
        running.shutdown()
    assert isinstance(done.exception, WikildaError), done.exception

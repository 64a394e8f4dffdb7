"""Run the shell and Python blocks of a documentation page, and compare or rewrite their output.

A page runs in an empty directory that holds `sample`, the model of the sample wiki, and `texts.jsonl`, its texts. A block
```sh is run by bash; the Python blocks of a page share their names. A block ```text after one of them is its output, in
which `…` matches any text. A block after `<!-- not run: REASON -->` is not run.

`python -m tests.pages PAGE…` writes the actual output into pages.
"""

import bz2
import hashlib
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(
    r"(?:<!-- not run: (.+?) -->\n+)?^```(sh|python)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S
)
_EXTRA = re.compile(r"^pip install (?:'wikilda\[(\w+)\]'|wikilda|\.)(?: && |$)")
_SHIM = """#!{shell}
case "$1" in
  download) set -- "$@" --mirror {mirror} ;;
  serve) set -- "$@" --port {port} ;;
esac
exec {python} -c 'from wikilda.cli import main; main()' "$@"
"""


@dataclass
class Block:
    """A block of a page, and the output that the page shows."""

    language: str
    code: str
    shown: str | None
    not_run: str | None
    span: tuple[int, int]  # of the shown output in the page

    def matches(self, output: str) -> bool:
        """Whether the page shows this output, or none."""
        if self.shown is None:
            return True
        parts = [re.escape(part) for part in _trimmed(self.shown).split("…")]
        return re.fullmatch(".*?".join(parts), _trimmed(output), re.DOTALL) is not None


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page that are commands or Python."""
    text = page.read_text("utf-8")
    return [Block(found[2], found[3], found[4], found[1], found.span(4)) for found in _BLOCK.finditer(text)]


def extras(page: Path) -> set[str]:
    """Return the extras that a page installs."""
    lines = [line for block in blocks(page) for line in block.code.splitlines()]
    return {found[1] for line in lines if (found := _EXTRA.match(line.strip())) and found[1]}


def run(page: Path, scratch: Path) -> Iterator[tuple[Block, str]]:
    """Run the blocks of a page in a directory; yield each with its output."""
    with ExitStack() as stack:
        shell = stack.enter_context(_shell(scratch))
        names: dict[str, object] = {"__name__": "__main__"}
        for block in blocks(page):
            if block.not_run is None:
                yield block, shell.run(block.code) if block.language == "sh" else _execute(block.code, names, shell)


PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if blocks(page)]


@dataclass
class Shell:
    """What the commands of a page share: a directory, variables, a server."""

    directory: Path
    environment: dict[str, str]
    port: int
    server: subprocess.Popen[str] | None = None

    def run(self, code: str) -> str:
        lines = [_EXTRA.sub("", line) for line in code.splitlines()]
        served = next((line for line in lines if line.startswith("wikilda serve")), None)
        commands = "\n".join(line for line in lines if line != served).replace(":8000", f":{self.port}")
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.directory, env=self.environment, capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip
        assert done.returncode in (0, 141), f"{commands}\n{done.stdout}{done.stderr}"
        if served:
            self._serve(served)
        return done.stdout

    def _serve(self, line: str) -> None:
        command = ["bash", "-c", f"exec {line.split('#')[0]}"]
        self.stop()
        self.server = subprocess.Popen(
            command, cwd=self.directory, env=self.environment, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        until = time.monotonic() + 60
        while time.monotonic() < until and self.server.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5):
                    return
            except OSError:
                time.sleep(0.1)
        raise AssertionError(f"{line}: no server")

    def stop(self) -> None:
        if self.server:
            self.server.send_signal(signal.SIGTERM)
            self.server.wait(30)


@contextmanager
def _shell(scratch: Path) -> Iterator[Shell]:
    from wikilda.sample import MODEL, WIKI

    shutil.copytree(MODEL, scratch / "sample")
    shutil.copy(WIKI.with_name("texts.jsonl"), scratch)
    (tools := scratch.with_name(f"{scratch.name}-tools")).mkdir()
    with _mirror(tools / "mirror", WIKI) as mirror:
        port = _free_port()
        shim = tools / "wikilda"
        shim.write_text(_SHIM.format(shell=shutil.which("sh"), mirror=mirror, port=port, python=sys.executable))
        shim.chmod(0o755)
        python = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
        path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
        quiet = {"COLUMNS": "120", "NO_COLOR": "1", "no_proxy": "*", "PYTHONPATH": python, "PATH": path}
        shell = Shell(scratch, {"WIKILDA_COMPILE": "now", **os.environ, **quiet}, port)
        try:
            yield shell
        finally:
            shell.stop()


@contextmanager
def _mirror(directory: Path, wiki: Path) -> Iterator[str]:
    """Serve the sample wiki as the newest dump of simplewiki."""
    name, date = "simplewiki", "20260101"
    dump = bz2.compress(wiki.read_bytes())
    place, file = directory / name / date, f"{name}-{date}-pages-articles-multistream.xml.bz2"
    place.mkdir(parents=True)
    (place / file).write_bytes(dump)
    (directory / name / "index.html").write_text(f'<a href="{date}/">{date}/</a>\n')
    about = {"size": len(dump), "sha1": hashlib.sha1(dump).hexdigest(), "url": f"/{name}/{date}/{file}"}
    jobs = {"articlesmultistreamdump": {"status": "done", "updated": "2026-01-02 00:00:00", "files": {file: about}}}
    (place / "dumpstatus.json").write_text(json.dumps({"version": "0.8", "jobs": jobs}))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(directory)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def _execute(code: str, names: dict[str, object], shell: Shell) -> str:
    output = io.StringIO()
    with chdir(shell.directory), redirect_stdout(output):
        exec(compile(code.replace(":8000", f":{shell.port}"), "page", "exec"), names)
    return output.getvalue()


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def rewrite(page: Path) -> None:
    """Write the actual output into a page."""
    text, moved = page.read_text("utf-8"), 0
    with tempfile.TemporaryDirectory() as scratch:
        (place := Path(scratch) / "page").mkdir()
        for block, output in run(page, place):
            if not block.matches(output):
                start, end = (each + moved for each in block.span)
                shown = _trimmed(output) + "\n"
                text = text[:start] + shown + text[end:]
                moved += len(shown) - (end - start)
                print(f"{page.name}: {block.code.strip().splitlines()[-1]}")
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name))

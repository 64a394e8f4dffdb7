"""`wikilda serve` as a process: it starts fast, stops gracefully, and its workers share one model."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from tests.commands import run
from tests.server.serving import Served, process, wait_until_ready
from wikilda.sample import texts

LONG = " ".join(each["text"] for each in texts()) * 8


def test_a_stopped_server_finishes_what_it_has_begun(model: Path) -> None:
    with process(model, "--method", "lda", "--set", "sweeps=600") as (served, started):
        wait_until_ready(served)
        answers: list[httpx.Response] = []
        asking = threading.Thread(
            target=lambda: answers.append(httpx.post(served.url + "/v1/link", json={"text": LONG}, timeout=60))
        )
        asking.start()
        wait_for_open_request(served.url)
        started.send_signal(signal.SIGTERM)
        asking.join(60)
        assert [answer.status_code for answer in answers] == [200]
        assert started.wait(30) in (0, -signal.SIGTERM)
        _, errors = started.communicate()
        assert "Traceback" not in errors
        assert "Croft" not in errors


def wait_for_open_request(url: str) -> None:
    """Until somebody else's request is being answered."""
    for _ in range(500):
        lines = httpx.get(url + "/metrics").text.splitlines()
        if any(line.startswith("wikilda_open_requests ") and float(line.split()[1]) >= 2 for line in lines):
            return
        time.sleep(0.005)
    raise AssertionError("the request never began")


def test_workers_share_the_model_and_their_numbers(model: Path) -> None:
    with process(model, "--workers", 2) as (served, started):
        wait_until_ready(served)
        for _ in range(30):
            httpx.post(served.url + "/v1/link", json={"text": "Croft bowled for England."})
        lines = httpx.get(served.url + "/metrics").text.splitlines()
        counted = [line for line in lines if line.startswith('wikilda_requests_total{route="/v1/link"')]
        assert sum(float(line.split()[-1]) for line in counted) == 30  # whichever of them is asked
        workers = children_of(started.pid)
        assert len(workers) == 2
        code, _, err = run("serve", model, "--port", served.port, "--workers", 2)  # not unnoticed beside the first
        assert (code, "Give another" in err) == (1, True)
        assert all(str(model) in Path(f"/proc/{each}/maps").read_text() for each in workers)
        os.kill(workers[0], signal.SIGKILL)  # another takes its place
        while len(set(children_of(started.pid)) - {workers[0]}) < 2:
            time.sleep(0.02)
        assert served.alive()
        workers = children_of(started.pid)
        started.send_signal(signal.SIGTERM)
        assert started.wait(30) == 0
        assert not [each for each in workers if alive(each)]
        _, errors = started.communicate()
        assert "another takes its place" in errors
        assert "Traceback" not in errors


@pytest.mark.parametrize("workers", [1, 2])
def test_a_server_ends_within_its_time(model: Path, workers: int) -> None:
    """Work of minutes in all threads, and more waiting: `--drain` is kept."""
    more = ["--workers", workers, "--method", "lda"]
    for setting in ("seconds=600", "drain=1", "sweeps=2000000"):
        more += ["--set", setting]
    with process(model, *more) as (served, started):
        wait_until_ready(served)

        def ask() -> None:
            with contextlib.suppress(httpx.HTTPError):
                httpx.post(served.url + "/v1/link", json={"text": LONG * 4}, timeout=100)

        for _ in range(4 * workers):
            threading.Thread(target=ask, daemon=True).start()
        wait_for_open_request(served.url)
        started.send_signal(signal.SIGTERM)
        started.wait(1 + 10)  # far more than --drain and 2 s; the work itself takes minutes
        assert not [each for each in children_of_all(served) if alive(each)]


def children_of_all(served: Served) -> list[int]:
    """Processes that still listen where a server did."""
    with contextlib.suppress(OSError), served.socket():
        return [os.getpid()]
    return []


def children_of(number: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{number}/task/{number}/children").read_text().split()]


def alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return "Z (zombie)" not in Path(f"/proc/{number}/status").read_text()


def test_wrong_models_and_ports_are_errors_before_listening(model: Path, tmp_path: Path) -> None:
    code, _, err = run("serve", tmp_path / "none")
    assert code == 1
    assert err.startswith("wikilda: ")
    code, _, err = run("serve", model, "--port", 99999)
    assert (code, "port must be" in err) == (1, True)
    code, _, err = run("serve", model, "--workers", 0)
    assert (code, "workers must be" in err) == (1, True)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, _, err = run("serve", model, "--port", taken.getsockname()[1])
    assert code == 1
    assert err.endswith("Give another --host or --port.\n")


def test_without_the_extra_it_says_what_to_install(model: Path) -> None:
    script = f"import sys; sys.modules['uvicorn'] = None\nfrom wikilda.cli import main; main(['serve', {str(model)!r}])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'wikilda[server]'" in done.stderr


def test_importing_the_package_loads_no_server() -> None:
    script = "import sys, wikilda.linking; print([n for n in ('fastapi', 'uvicorn', 'pyoxigraph', 'prometheus_client') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


@pytest.mark.parametrize("arguments", [("--json",), ()])
def test_explain_on_the_command_line(model: Path, arguments: tuple[str, ...]) -> None:
    code, out, err = run("explain", model, texts()[0]["text"], "-m", "Croft", *arguments)
    assert (code, err) == (0, "")
    assert "Robert Croft" in out
    if arguments:
        assert {each["text"] for each in json.loads(out)} == {"Croft"}
    else:
        assert "log odds" in out
    code, _, err = run("explain", model, "Croft bowled.", "-m", "Bush")
    assert code == 1
    assert "there are: Croft" in err

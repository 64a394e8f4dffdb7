"""A model that is replaced while it is served: answers are wholly of the old one or wholly of the new one."""

import gc
import shutil
import signal
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.server.serving import Served, process, serving, wait_until_ready
from tests.wikis import FILLER, page, write_dump
from wikilda.knowledge import BuildSettings, build_from_dump
from wikilda.linking import Linker
from wikilda.model import create_model
from wikilda.server.metrics import Metrics
from wikilda.server.service import Service
from wikilda.server.settings import ServerSettings
from wikilda.urn import UrnSettings

NEVER_NIL = UrnSettings(weights=("nil_constant=-1000",))  # a wiki of three pages has too few links to be sure of names
TEXT = "Croft bowled for England."
ASKED = (
    "/v1/mentions/croft",
    "/v1/topics/Croft%20One",
    "/v1/examples",
    "/v1/model",
    f"/tag?text={TEXT}",
    f"/spot?text={TEXT}",
)


def make(place: Path, titles: list[str], *, overwrite: bool = False) -> Path:
    """A model in which "croft" means the first title."""
    pages = [
        page(title, f"[[{titles[0]}|Croft]] in [[{titles[0]}|Croft]]. {FILLER} {number}")
        for number, title in enumerate(titles)
    ]
    dump = write_dump(place / "wiki.xml", pages)
    settings = BuildSettings(max_word_share=1.0, min_word_topics=1)
    known = build_from_dump([dump], place / "kb", settings, overwrite=overwrite)
    return create_model(known, place / "model", overwrite=overwrite).path


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    return make(tmp_path, ["Croft One", "Other", "Third"])


def answers(served: Served) -> list[object]:
    with served.client() as client:
        found = [client.get(path) for path in ASKED] + [client.post("/v1/link", json={"text": TEXT})]
    assert [each.status_code for each in found] == [200] * len(found)
    bodies = [each.json() for each in found]
    return [{name: value for name, value in body.items() if name not in ("time", "timestamp")} if isinstance(body, dict) else body
            for body in bodies]  # fmt: skip


def means(served: Served) -> str:
    with served.client() as client:
        return str(client.get("/v1/mentions/croft").json()["topics"][0]["title"])


@pytest.fixture
def running(pair: Path) -> Iterator[Served]:
    with serving(pair, NEVER_NIL) as served:
        yield served


def test_what_is_served_stays_until_it_is_reloaded(running: Served, pair: Path) -> None:
    before = answers(running)
    make(pair.parent, ["Croft Two", "Zebra", "Yak", "More"], overwrite=True)
    assert answers(running) == before
    with running.client() as client:
        done = client.post("/v1/reload")
        assert done.status_code == 200
        assert done.json()["identity"] == client.get("/v1/model").json()["identity"]
    assert means(running) == "Croft Two"


def test_deleting_what_is_served_does_no_harm(running: Served, pair: Path) -> None:
    before = answers(running)
    shutil.rmtree(pair)
    shutil.rmtree(pair.with_name("kb"))
    assert answers(running) == before
    with running.client() as client:
        failed = client.post("/v1/reload")
        assert (failed.status_code, failed.json()["error"]["code"]) == (500, "not_reloaded")
        assert str(pair) not in failed.text
    assert answers(running) == before


def test_no_request_is_lost_while_models_change(running: Served, pair: Path) -> None:
    """Each answer names one model: the mention's topic, its title, and the document's topics are all of that."""
    seen: list[tuple[int, frozenset[str]]] = []
    stop = threading.Event()

    def ask() -> None:
        with running.client() as client:
            while not stop.is_set():
                answer = client.post("/v1/link", json={"text": "Croft and Croft"})
                titles = [each["title"] for each in answer.json()["mentions"]] if answer.status_code == 200 else []
                seen.append((answer.status_code, frozenset(titles)))

    asking = [threading.Thread(target=ask) for _ in range(3)]
    for each in asking:
        each.start()
    with running.client() as client:
        for name in ("Croft Two", "Croft Three"):
            make(pair.parent, [name, "Other", "Third"], overwrite=True)
            assert client.post("/v1/reload").status_code == 200
    time.sleep(0.2)
    stop.set()
    for each in asking:
        each.join()
    assert {status for status, _ in seen} == {200}
    assert {titles for _, titles in seen} == {frozenset({f"Croft {name}"}) for name in ("One", "Two", "Three")}


def test_full_collections_skip_the_model_and_free_an_old_one(pair: Path) -> None:
    service = Service(lambda: Linker.open(pair), ServerSettings(), Metrics())
    service._warm()
    assert gc.get_freeze_count() > 0
    old = weakref.ref(service.linker)
    service.reload()
    gc.collect()
    assert old() is None
    service.stop()
    assert gc.get_freeze_count() == 0


def test_who_may_reload(pair: Path) -> None:
    with serving(pair, keys=("secret",)) as served, served.client() as client:
        assert client.post("/v1/reload").status_code == 401
        assert client.post("/v1/reload", headers={"x-api-key": "secret"}).status_code == 200
        page = {"x-api-key": "secret", "origin": "https://example.org"}
        assert client.post("/v1/reload", headers=page).status_code == 403
    with serving(pair, host="0.0.0.0") as served, served.client() as client:  # listens on loopback all the same
        assert client.post("/v1/reload").status_code == 403


def test_a_signal_reloads_all_processes(pair: Path) -> None:
    with process(pair, "--workers", 2) as (served, started):
        wait_until_ready(served)
        assert means(served) == "Croft One"
        for name, tell in (("Croft Two", "signal"), ("Croft Three", "request")):
            make(pair.parent, [name, "Other", "Third"], overwrite=True)
            if tell == "signal":
                started.send_signal(signal.SIGHUP)
            else:
                assert httpx.post(served.url + "/v1/reload", timeout=60).status_code == 200
            end = time.monotonic() + 60
            while any(means(served) != name for _ in range(12)):  # whichever of them answers
                assert time.monotonic() < end
                time.sleep(0.05)
        started.send_signal(signal.SIGTERM)
        assert started.wait(30) == 0
        assert "Traceback" not in started.communicate()[1]

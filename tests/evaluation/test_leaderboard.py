"""The leaderboard in a browser: it sorts, filters and shows where two methods differ."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.rivals import make
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

from wikilda.evaluation.methods import Given
from wikilda.evaluation.report import report
from wikilda.evaluation.run import Gold, Run, run
from wikilda.knowledge import Knowledge
from wikilda.model import Model

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no Chromium (apt-get install chromium chromium-driver)"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
METHODS = ("wikify", "prior", "pagerank", "urn")


@pytest.fixture(scope="module")
def runs(model: Model, sample: Knowledge, gold: Gold) -> list[Run]:
    return [run(make(name, Given(model, sample)), gold, 1) for name in METHODS]


@pytest.fixture(scope="module")
def page(runs: list[Run], tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    folder: Path = tmp_path_factory.mktemp("page")
    (folder / "report.html").write_text(report([runs]), "utf-8")
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={folder / 'chromium'}", "--window-size=1280,1000"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    made.get((folder / "report.html").as_uri())
    yield made
    assert made.get_log("browser") == []
    made.quit()


def texts(page: webdriver.Chrome, selector: str) -> list[str]:
    return [each.text for each in page.find_elements(By.CSS_SELECTOR, selector)]


def click(page: webdriver.Chrome, selector: str) -> None:
    page.execute_script("arguments[0].click()", page.find_element(By.CSS_SELECTOR, selector))


def test_it_sorts(page: webdriver.Chrome, runs: list[Run]) -> None:
    assert texts(page, ".leaderboard tbody td:first-child") == list(METHODS)
    right = {each.method: int(each.right.sum()) for each in runs}
    click(page, ".leaderboard th:nth-child(2) button")
    found = texts(page, ".leaderboard tbody td:first-child")
    assert [right[name] for name in found] == sorted(right.values(), reverse=True)
    click(page, ".leaderboard th:nth-child(2) button")
    found = texts(page, ".leaderboard tbody td:first-child")
    assert [right[name] for name in found] == sorted(right.values())
    click(page, ".leaderboard th:nth-child(1) button")
    assert texts(page, ".leaderboard tbody td:first-child") == sorted(METHODS)


def test_it_filters(page: webdriver.Chrome, runs: list[Run]) -> None:
    gold = runs[0].gold
    click(page, "[data-filter=kind][value='0']")  # leaves the mentions whose gold is a rarer meaning
    rare = gold.known & (gold.prior_rank > 0)
    assert texts(page, ".board-filters output") == [f"{rare.sum()} of {gold.known.sum()} mentions"]
    shown = dict(
        zip(texts(page, ".leaderboard td:first-child"), texts(page, ".leaderboard td:nth-child(2)"), strict=True)
    )
    for each in runs:
        assert float(shown[each.method]) == pytest.approx(100 * each.right[rare].mean(), abs=0.006)
    assert float(shown["prior"]) == 0
    click(page, "[data-filter=kind][value='0']")


def test_it_shows_where_two_methods_differ(page: webdriver.Chrome, runs: list[Run]) -> None:
    pagerank, urn = runs[2], runs[3]  # the last two are chosen at first: urn, then pagerank
    differ = (pagerank.first != urn.first) & urn.gold.known
    assert len(texts(page, ".differences tbody tr")) == differ.sum() > 0
    assert "first − second on all mentions: micro" in texts(page, ".compare output")[0]
    page.execute_script(
        "const form = document.querySelector('.compare'); form.elements.which.value = 'first';"
        "form.elements.second.value = '1'; form.dispatchEvent(new Event('input'))"
    )
    prior = runs[1]
    better = urn.right & ~prior.right
    rows = texts(page, ".differences tbody tr")
    assert len(rows) == better.sum() > 0
    assert texts(page, ".differences .hit") == texts(page, ".differences td.gold")
    assert len(texts(page, ".differences .miss")) == len(rows)

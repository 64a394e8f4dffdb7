"""The page, in a real browser."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from selenium import webdriver
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.server.serving import Served, serving
from wikilda.sample import texts
from wikilda.urn import UrnSettings

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no Chromium (apt-get install chromium chromium-driver)"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
CROFT = texts()[0]["text"]


class Page:
    """The page in a browser."""

    def __init__(self, driver: webdriver.Chrome, url: str) -> None:
        self.driver, self.url = driver, url

    def open(self, address: str = "") -> "Page":
        self.driver.get("about:blank")
        self.driver.get(address or self.url)
        return self.settle()

    def settle(self) -> "Page":
        WebDriverWait(self.driver, 20, 0.02).until(
            lambda _: "linked in" in self.text("#status") or "No names" in self.text("#status")
        )
        return self

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        return " ".join(each.text for each in self.all(selector))

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def link(self, text: str) -> "Page":
        """Type a text and link it, by keyboard only."""
        if self.all("#edit")[0].is_displayed():
            self.all("#edit")[0].send_keys(Keys.ENTER)
        area = self.all("#text")[0]
        self.run("arguments[0].value = ''; document.getElementById('status').textContent = ''", area)
        self.run("arguments[0].value = arguments[1]", area, text)  # ChromeDriver cannot type what is beyond the BMP
        area.send_keys(Keys.CONTROL, Keys.ENTER)
        return self.settle()

    def complaints(self) -> list[str]:
        return [str(each["message"]) for each in self.driver.get_log("browser")]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}", "--window-size=1280,1000"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    yield made
    made.quit()


@pytest.fixture
def page(driver: webdriver.Chrome, served: Served) -> Iterator[Page]:
    made = Page(driver, served.url + "/").open()
    yield made
    assert made.complaints() == []


def test_the_croft_article_comes_first_and_nothing_comes_from_elsewhere(page: Page, client: httpx.Client) -> None:
    assert page.text("#linked") == CROFT
    assert page.all("#examples button")[0].get_attribute("aria-pressed") == "true"
    loaded = page.run("return performance.getEntriesByType('resource').map((each) => each.name)")
    assert len(loaded) >= 6
    assert all(each.startswith(page.url) for each in loaded)
    assert "249 topics" in page.text("#model")


def test_mentions_are_shaded_by_confidence(page: Page, client: httpx.Client) -> None:
    found = client.post("/v1/link", json={"text": CROFT}).json()["mentions"]
    marks = page.all("mark")
    assert [each.text.replace("\n", " ") for each in marks] == [each["text"] for each in found]
    shades = page.run(
        "return [...document.querySelectorAll('mark:not([aria-pressed=true])')].map((each) =>"
        "[Number(each.style.getPropertyValue('--sure')), getComputedStyle(each).backgroundColor.match(/[\\d.]+(?=\\))/)[0]])"
    )
    ordered = sorted((sure, float(alpha)) for sure, alpha in shades)
    assert len({sure for sure, _ in ordered}) > 1
    assert [alpha for _, alpha in ordered] == sorted(alpha for _, alpha in ordered)
    assert ordered[0][1] < ordered[-1][1]


def test_a_click_shows_candidates_reasons_sentence_and_link(page: Page, client: httpx.Client) -> None:
    why = client.post("/v1/explain", json={"text": CROFT, "candidates": 8}).json()["mentions"]
    number = next(at for at, each in enumerate(why) if each["text"] == "Croft")
    page.all("mark")[number].click()
    shown = page.all(".candidates b")
    assert [each.text for each in shown] == [each["title"] for each in why[number]["candidates"]]
    kinds = [each.text for each in page.all(".candidates .kind")]
    assert kinds == [each["type"] for each in why[number]["candidates"]]
    assert "person" in kinds
    widths = page.run("return [...document.querySelectorAll('.candidates .fill')].map((each) => each.style.width)")
    nil = why[number]["nil"]
    assert [float(each.rstrip("%")) / 100 for each in widths] == pytest.approx(
        [*((1 - nil) * each["probability"] for each in why[number]["candidates"]), nil], abs=1e-3
    )
    assert page.all(".article a")[0].get_attribute("href") == "https://example.org/wiki/Robert_Croft"
    assert page.text(".sentence") == why[number]["candidates"][0]["sentence"]
    assert "By its name only, this would be Lara Croft" in page.text(".because")
    assert "The Oval" in page.text(".why")
    odds = why[number]["candidates"][0]["odds"]
    shown_odds = [each.text.replace("−", "-") for each in page.all(".odds dd")]
    wanted = [odds[each] for each in ("prior", "words", "title", "graph", "total")]
    assert [float(each) for each in shown_odds] == pytest.approx(wanted, abs=0.006)
    sides = page.run("return [...document.querySelectorAll('.balance > span')].map((each) => each.className)")
    assert sides == ["contra" if each < 0 else "pro" for each in wanted[:4]]
    lara = next(at for at, each in enumerate(shown) if each.text == "Lara Croft")
    page.all(".candidates button")[lara].click()
    assert page.text(".article h3") == "Lara Croft"
    assert "less probable than Robert Croft, because of the other names and the words of the text" in page.text(
        ".because"
    )
    assert "null" not in page.text("#mention").split()


def test_the_figure(page: Page) -> None:
    names = [each.get_attribute("aria-label") for each in page.all(".node.name")]
    topics = [each.get_attribute("aria-label") for each in page.all(".node.topic")]
    assert "Name: Croft" in names
    assert {"Topic: Robert Croft", "Topic: Lara Croft", "Topic: The Oval"} <= set(topics)
    assert len(names) == len(set(names))
    assert page.all(".arc")
    robert = page.all(".node.topic")[topics.index("Topic: Robert Croft")]
    page.run("arguments[0].scrollIntoView({block: 'center'})", robert)
    ActionChains(page.driver).move_to_element(robert).perform()
    assert "Pulled by " in page.text("#pull")
    assert "Glamorgan County Cricket Club" in page.text("#pull")
    assert page.all(".link.faded")
    ActionChains(page.driver).move_to_element(page.all("#figure-title")[0]).perform()
    assert not page.all(".link.faded")
    croft = names.index("Name: Croft")
    thick = f".link[data-name='{croft}']"
    widths = {
        each.get_attribute("data-topic"): float(each.get_attribute("stroke-width") or 0) for each in page.all(thick)
    }
    assert max(widths, key=lambda each: widths[each]) == str(topics.index("Topic: Robert Croft"))
    page.all("input[value=prior]")[0].send_keys(Keys.SPACE)
    widths = {
        each.get_attribute("data-topic"): float(each.get_attribute("stroke-width") or 0) for each in page.all(thick)
    }
    assert max(widths, key=lambda each: widths[each]) == str(topics.index("Topic: Lara Croft"))
    page.run("arguments[0].focus()", page.all(".node.topic")[0])
    assert page.text("#pull").startswith(topics[0].removeprefix("Topic: "))


def test_topics_are_bars(page: Page, client: httpx.Client) -> None:
    wanted = client.post("/v1/explain", json={"text": CROFT, "topics": 12}).json()["topics"]
    assert [each.text for each in page.all("#topics a")] == [each["title"] for each in wanted]
    widths = page.run("return [...document.querySelectorAll('#topics .fill')].map((each) => each.offsetWidth)")
    assert widths == sorted(widths, reverse=True)


def test_the_keyboard_is_enough(page: Page) -> None:
    marks = page.all("mark")
    page.run("arguments[0].focus()", marks[0])
    marks[0].send_keys(Keys.ENTER)
    assert page.text(".said") == f"“{marks[0].text}”"
    marks[0].send_keys(Keys.ARROW_RIGHT)
    assert page.text(".said") == f"“{marks[1].text}”"
    assert page.run("return document.activeElement === arguments[0]", marks[1])
    marks[1].send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    page.driver.switch_to.active_element.send_keys(Keys.TAB)
    page.link("Wasim Akram bowled to Croft at The Oval.")
    assert [each.text for each in page.all("mark")] == ["Wasim Akram", "Croft", "The Oval"]


def test_a_permalink_brings_the_text_back(page: Page) -> None:
    text = "😀 Wasim Akram met\nKate Bush and <b>Croft</b> — «ça» & so on."
    page.link(text)
    address = page.driver.current_url
    assert "#t=" in address
    assert "Wasim" not in address
    page.open(address)
    assert page.all("#text")[0].get_attribute("value") == text
    assert [each.text for each in page.all("mark")] == ["Wasim Akram", "Kate Bush", "Croft"]
    page.open(page.url + "#t=broken")
    assert page.text("#linked") == CROFT


def test_brackets_choose_mentions_in_code_points(page: Page) -> None:
    page.link("😀 [[zigzag]] [[Croft]] 𝔘 [[England]]")
    assert page.text("#linked") == "😀 zigzag Croft 𝔘 England"
    assert [each.text for each in page.all("mark")] == ["zigzag", "Croft", "England"]
    page.all("mark.unknown")[0].click()
    assert "never links this string" in page.text("#mention")


def test_markup_in_texts_stays_text(page: Page) -> None:
    evil = "<img src=x onerror=\"document.title='owned'\"> [[<script>document.title='owned'</script>]] [[Croft]] </mark><svg onload=\"document.title='owned'\">"
    page.link(evil)
    page.all("mark")[0].click()
    assert page.driver.title == "wikilda"
    assert not page.all("#linked img, #linked script, #linked svg, #mention script")
    assert page.text("#linked") == evil.replace("[[", "").replace("]]", "")


def test_errors_are_shown(page: Page) -> None:
    page.all("#edit")[0].click()
    page.run("document.getElementById('text').value = 'x'.repeat(200001)")
    page.all("#link")[0].click()
    WebDriverWait(page.driver, 10, 0.02).until(lambda _: page.all("#alert")[0].is_displayed())
    assert "--set max_text=N" in page.text("#alert")
    assert [each for each in page.complaints() if "413" not in each] == []


def test_dark_mode(page: Page) -> None:
    def brightness() -> float:
        colour = page.run("return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        return float(sum(colour[:3]) / 3)

    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    assert brightness() > 200
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    assert brightness() < 50
    page.all("#theme")[0].click()
    assert brightness() > 200
    page.open()
    assert brightness() > 200  # it is remembered
    page.all("#theme")[0].click()
    assert brightness() < 50
    page.run("localStorage.clear()")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_a_phone(page: Page) -> None:
    size = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page.open()
        assert page.run("return document.documentElement.scrollWidth") == 360
        assert not page.all("#details")[0].is_displayed()
        next(each for each in page.all("mark") if each.text == "Croft").click()
        assert page.all("#details")[0].is_displayed()
        assert page.text(".said") == "“Croft”"
        page.all("#close")[0].click()
        assert not page.all("#details")[0].is_displayed()
        right = page.run(
            "return Math.max(...[...document.querySelectorAll('.figure path, .figure text')].map((each) => each.getBoundingClientRect().right))"
        )
        assert right <= 360
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_key_is_asked_for(driver: webdriver.Chrome, model: Path) -> None:
    with serving(model, keys=("open sesame",)) as served:
        page = Page(driver, served.url + "/")
        driver.get(page.url)
        WebDriverWait(driver, 10, 0.02).until(lambda _: page.all("#key")[0].is_displayed())
        page.all("#key-input")[0].send_keys("open sesame", Keys.ENTER)
        page.settle()
        assert page.text("#linked") == CROFT
        page.run("sessionStorage.clear()")
        assert [each for each in page.complaints() if "401" not in each] == []


def test_what_is_probably_nil_is_not_shown_as_a_link(driver: webdriver.Chrome, model: Path) -> None:
    with serving(model, UrnSettings(weights=("nil_constant=50",))) as served:
        page = Page(driver, served.url + "/").open()
        assert page.text("#status").startswith("0 of 14 names linked")
        assert len(page.all("#linked mark.unknown")) == 14
        page.all("#linked mark")[0].click()
        assert "Probably none of its candidates" in page.text("#mention")
        assert not page.all(".candidates [aria-pressed=true], .article")  # nothing is shown as the answer
        assert "England cricket team" in page.text(".candidates")
        assert page.text(".why .sum").startswith("sum")  # the evidence for NIL
        page.all(".candidates button")[0].click()
        assert page.text(".article h3") == page.all(".candidates b")[0].text
        assert page.all(".figure .link.doubted")
        assert not page.all(".figure .link.best")
        assert page.complaints() == []


def test_results_of_another_text_are_marked(page: Page) -> None:
    page.all("#edit")[0].click()
    assert not page.all("body.outdated")
    page.all("#text")[0].send_keys("More.")
    assert page.all("body.outdated")
    assert "before it was edited" in page.text("#status")
    page.all("#text")[0].send_keys(Keys.BACKSPACE * 5)
    assert not page.all("body.outdated")
    page.all("#text")[0].send_keys("More.")
    page.all("#text")[0].send_keys(Keys.CONTROL, Keys.ENTER)
    page.settle()
    assert not page.all("body.outdated")


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1366, 768), (360, 740)])
def test_the_reason_is_visible_without_scrolling(page: Page, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page.open()
        next(each for each in page.all("mark") if each.text == "Croft").click()
        reason = page.all(".because")[0].rect
        assert reason["y"] + reason["height"] <= height
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_files_are_sent_once(client: httpx.Client) -> None:
    first = client.get("/", headers={"accept": "text/html"})
    assert first.headers["content-type"] == "text/html; charset=utf-8"
    again = client.get("/", headers={"accept": "text/html", "if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.head("/page/page.js").status_code == 200

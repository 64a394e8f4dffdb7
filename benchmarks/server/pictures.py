"""The pictures of the page and of a notebook in docs/images: `python -m benchmarks.server.pictures MODEL`."""

import io
import tempfile
import time
from pathlib import Path

import click
from PIL import Image
from selenium import webdriver
from selenium.webdriver import ActionChains
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from tests.server.serving import process, wait_until_ready

from wikilda.linking import Linker
from wikilda.sample import texts

IMAGES = Path(__file__).parents[2] / "docs" / "images"
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")


@click.command()
@click.argument("model", type=click.Path(path_type=Path, exists=True))
@click.option("--name", default="Croft", show_default=True, help="The name that is chosen.")
def main(model: Path, name: str) -> None:
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in FLAGS:
        options.add_argument(flag)
    with process(model) as (served, _):
        wait_until_ready(served)
        driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        try:
            _take(driver, served.url, name, "page.png")
            _take(driver, served.url, name, "page-dark.png", dark=True)
            _take(driver, served.url, name, "page-phone.png", phone=True)
            for file, dark in (("notebook.png", False), ("notebook-dark.png", True)):
                _draw(driver, model, file, dark=dark)
        finally:
            driver.quit()


def _draw(driver: webdriver.Chrome, model: Path, file: str, *, dark: bool) -> None:
    """What a linked document draws of itself in a notebook, pointed at one of its mentions."""
    linked = Linker.open(model).link(texts()[0]["text"])
    body = "background: #111; color: #eee" if dark else "background: #fff; color: #111"
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8") as page:
        page.write(f"<!doctype html><meta charset=utf-8><body style='font-family: sans-serif; {body}'>")
        page.write(linked._repr_html_())
        page.flush()
        _emulate(driver, 780, 470, dark=dark)
        driver.get(f"file://{page.name}")
        mark = driver.find_elements(By.XPATH, "//*[text()='Croft']")[0]
        ActionChains(driver).move_to_element(mark).perform()
        time.sleep(1)
        _save(driver, file)


def _emulate(driver: webdriver.Chrome, width: int, height: int, *, dark: bool) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})


def _save(driver: webdriver.Chrome, file: str) -> None:
    picture = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(IMAGES / file, optimize=True)


def _take(driver: webdriver.Chrome, url: str, name: str, file: str, *, dark: bool = False, phone: bool = False) -> None:
    width, height, scale = (360, 740, 2) if phone else (1280, 1000, 1)
    size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": phone}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    driver.get("about:blank")
    driver.get(url)
    time.sleep(3)
    wait = WebDriverWait(driver, 60)
    wait.until(lambda driver: driver.find_elements(By.XPATH, f"//mark[.='{name}']"))[0].click()
    if dark:  # what pulls the topic
        driver.execute_script(
            "document.querySelectorAll('.figure .topic.chosen')[2].dispatchEvent(new PointerEvent('pointerenter'))"
        )
    time.sleep(1)
    if not phone:
        size["height"] = int(driver.execute_script("return document.documentElement.scrollHeight"))
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        time.sleep(1)
    _save(driver, file)


if __name__ == "__main__":
    main()

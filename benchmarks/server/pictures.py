"""The pictures of the page in docs/images: `python -m benchmarks.server.pictures MODEL`."""

import io
import time
from pathlib import Path

import click
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from tests.server.serving import process, wait_until_ready

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
        finally:
            driver.quit()


def _take(driver: webdriver.Chrome, url: str, name: str, file: str, *, dark: bool = False, phone: bool = False) -> None:
    width, height, scale = (360, 740, 2) if phone else (1280, 1000, 1)
    size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": phone}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    driver.get("about:blank")
    driver.get(url)
    time.sleep(3)
    driver.find_element(By.XPATH, f"//mark[.='{name}']").click()
    if dark:  # what pulls the topic
        driver.execute_script(
            "document.querySelectorAll('.figure .topic.chosen')[2].dispatchEvent(new PointerEvent('pointerenter'))"
        )
    time.sleep(1)
    if not phone:
        size["height"] = int(driver.execute_script("return document.documentElement.scrollHeight"))
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        time.sleep(1)
    picture = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(IMAGES / file, optimize=True)


if __name__ == "__main__":
    main()

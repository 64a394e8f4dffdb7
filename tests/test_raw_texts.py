"""Short texts of the kinds that people write, linked with wikis built from real articles.

English, Minangkabau and Low Saxon need whole dumps, whose builds take minutes: `python -m benchmarks.raw --texts`.
"""

import bz2
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.raw.texts import LEAST, THIRDS, read_cases, wrong_marks
from benchmarks.raw.wikis import with_stubs

from tests.knowledge.conftest import compiled
from wikilda import build
from wikilda.linking import Linker

CASES = read_cases()


def test_the_set_has_many_texts_of_six_wikis() -> None:
    wikis = Counter(case.wiki for case in CASES)
    assert sum(wikis.values()) >= 150
    assert len(wikis) == 6
    assert all(case.marks for case in CASES)
    assert {case.third for case in CASES} == set(range(THIRDS))
    assert len({case.text for case in CASES}) == len(CASES)
    assert set(LEAST) <= set(wikis)


@pytest.mark.skipif(not compiled(), reason="building wikis without the compiler would take hours")
@pytest.mark.parametrize("code", ["de", "fr", "es"])
def test_texts_of_small_wikis(data: Path, tmp_path: Path, code: str) -> None:
    dump = bz2.decompress((data / "wikis" / "pages" / f"{code}.xml.bz2").read_bytes()).decode()
    (tmp_path / "wiki.xml").write_text(with_stubs(dump), "utf-8")
    linker = Linker.open(build(tmp_path / "wiki.xml", tmp_path / "model").path)
    cases = [case for case in CASES if case.wiki == code]
    wrong = {case.text: found for case in cases if (found := wrong_marks(linker, case))}
    assert 1 - len(wrong) / len(cases) >= LEAST[code], wrong

"""A real dump, where there is one."""

from pathlib import Path

import pytest

from tests.knowledge.conftest import compiled
from wikilda.knowledge import BuildSettings, build_from_dump
from wikilda.knowledge.describe import describe_mention
from wikilda.knowledge.graph import nearest


@pytest.mark.skipif(not compiled(), reason="240 MB of XML without the compiler would take hours")
def test_a_real_wiki(data: Path, tmp_path: Path) -> None:
    dump = data / "mini-enwiki" / "minienwiki-20201231-pages-articles-multistream.xml.bz2"
    made = build_from_dump([dump], tmp_path / "kb", BuildSettings())
    summary = made.manifest["summary"]
    assert (summary["articles"], summary["redirects"]) == (17_954, 39_774)  # as its makers say
    assert summary["redirects to topics"] == 5_856  # as counted with regular expressions
    assert summary["links between topics"] == pytest.approx(264_947, rel=1e-3)  # likewise
    assert summary["links read"] == pytest.approx(1_035_217, rel=1e-3)
    known = made
    mercury = describe_mention(known, known.find_mention("Mercury"), 5)
    assert [each["title"] for each in mercury["topics"]] == ["Mercury (element)", "Mercury (planet)"]
    near = [known.titles[topic] for topic, _ in nearest(known.graph, known.find_topic("Mars"), 5)]
    assert {"Venus", "Jupiter"} <= set(near)
    assert known.sentences[known.find_topic("Cambridge University Press")].startswith(
        "Cambridge University Press is the"
    )

"""What is read of a training: the figure, and topics before and after."""

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

from tests.training.conftest import QUICK
from wikilda._core.errors import InputError, SettingsError
from wikilda.cli import cli
from wikilda.model import Model
from wikilda.training.checkpoints import FILE, Metrics, read_metrics, write_metrics
from wikilda.training.engines.local import LocalEngine
from wikilda.training.likelihood_plot import axis, html, png, svg
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan
from wikilda.training.topic_changes import changed, describe, sides

ROWS = [Metrics(0, -11.8, -11.9, 100), Metrics(1, -9.5, -9.6, 90, 0, 10, 0.1), Metrics(2, -9.1, None, 90, 3, 3, 0.05)]


@pytest.fixture(scope="module")
def trained(model: Path, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Model:
    return train(model, corpus, tmp_path_factory.mktemp("t") / "m<1>", QUICK, TrainingPlan(1, 3), engine=LocalEngine(1))


def test_the_drawing_has_all_points(tmp_path: Path) -> None:
    drawn = ElementTree.fromstring(svg(ROWS))
    assert len(drawn.findall("circle")) == 5
    heights = [float(each.attrib["cy"]) for each in drawn.findall("circle")][:3]
    assert heights == sorted(heights, reverse=True), "a better likelihood is higher"
    page = html(ROWS, "a <b> model")
    assert "a &lt;b&gt; model" in page
    assert not re.search(r"(src|href)=", page), "the page needs nothing else"
    assert "-9.6000" in page


def test_axes_have_round_ticks() -> None:
    assert axis(-11.83, -9.12, 0, 1).ticks == [-12, -11.5, -11, -10.5, -10, -9.5, -9]
    assert axis(0, 6, 0, 1, whole=True).ticks == [0, 1, 2, 3, 4, 5, 6]
    assert axis(3, 3, 0, 1, whole=True).ticks == [3, 4]


def test_the_figure_as_png_needs_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    png(ROWS, "title", tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(SettingsError, match=r"wikilda\[plot\]"):
        png(ROWS, "title", tmp_path / "b.png")


def test_plot_on_the_command_line(trained: Model, tmp_path: Path) -> None:
    target = tmp_path / "a.html"
    ran = CliRunner().invoke(cli, ["plot", str(trained.path), "-o", str(target), "-o", str(tmp_path / "a.svg")])
    assert ran.exit_code == 0, ran.output
    assert "m&lt;1&gt;" in target.read_text("utf-8")
    ElementTree.parse(tmp_path / "a.svg")
    with pytest.raises(InputError, match="no record"):
        CliRunner().invoke(cli, ["plot", str(tmp_path), "-o", str(target)], catch_exceptions=False)
    with pytest.raises(SettingsError, match="no likelihoods"):
        svg([Metrics(0, None, None, 3)])


def test_metrics_come_back(tmp_path: Path) -> None:
    write_metrics(tmp_path / FILE, ROWS)
    assert read_metrics(tmp_path) == ROWS
    (tmp_path / FILE).write_text("{}\n")
    with pytest.raises(InputError, match="line 1"):
        read_metrics(tmp_path)
    (tmp_path / FILE).write_bytes(b'{"iteration": \xb9}\n')
    with pytest.raises(InputError, match="line 1 is not a row of metrics"):
        read_metrics(tmp_path)


def test_without_training_nothing_has_changed(model: Path) -> None:
    before, after = sides(Model.open(model))
    assert changed(before, after, 5) == []
    topic = after.knowledge.find_topic("Robert Croft")
    found = describe(before, after, topic, 1000)
    for kind in ("words", "mentions"):
        assert found[kind]
        assert found[f"{kind} risen"] == []
        assert sum(each["after"] for each in found[kind]) == pytest.approx(1, abs=1e-5)


def test_a_topic_before_and_after(trained: Model, model: Path) -> None:
    before, after = sides(trained)
    (topic, moved, distance), *others = changed(before, after, 5)
    assert moved >= max(mass for _, mass, _ in others)
    assert 0 < distance <= 1
    found = describe(before, after, topic, 1000)
    untrained = Model.open(model)
    for kind, table, sums in (("words", untrained.words, untrained.word_sums),):
        strings = after.knowledge.word_strings
        for each in found[kind]:
            topics, values = table.row(strings.find(each["string"]))
            share = dict(zip(topics.tolist(), values.tolist(), strict=True)).get(topic, 0.0) / sums[topic]
            assert each["before"] == pytest.approx(share, rel=1e-5)
    half = sum(abs(each["after"] - each["before"]) for each in found["words"]) / 2
    mentions = sum(abs(each["after"] - each["before"]) for each in found["mentions"]) / 2
    assert (half + mentions) / 2 == pytest.approx(distance, rel=1e-4)
    other = sides(trained, untrained)[0]
    np.testing.assert_allclose(other.sums("words"), before.sums("words"), rtol=1e-6)


def test_topics_on_the_command_line(trained: Model) -> None:
    run = CliRunner()
    shown = run.invoke(cli, ["topics", str(trained.path), "Robert Croft", "--json"])
    assert json.loads(shown.output)["title"] == "Robert Croft"
    assert "croft" in run.invoke(cli, ["topics", str(trained.path), "Robert Croft"]).output
    rows = json.loads(run.invoke(cli, ["topics", str(trained.path), "--changed", "--json", "-n", "3"]).output)
    assert len(rows) == 3
    assert rows[0]["moved"] >= rows[1]["moved"]
    assert "mass moved" in run.invoke(cli, ["topics", str(trained.path), "--changed"]).output
    with pytest.raises(InputError, match="no title"):
        run.invoke(cli, ["topics", str(trained.path), "Nonesuch"], catch_exceptions=False)
    assert run.invoke(cli, ["topics", str(trained.path)]).exit_code == 2

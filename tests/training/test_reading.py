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
from wikilda.training.likelihood_plot import draw, plot_training
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan
from wikilda.training.topic_changes import changed, describe, sides

ROWS = [Metrics(0, -11.8, -11.9, 100), Metrics(1, -9.5, -9.6, 90, 0, 10, 0.1), Metrics(2, -9.1, None, 90, 3, 3, 0.05)]


@pytest.fixture(scope="module")
def trained(model: Path, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Model:
    return train(model, corpus, tmp_path_factory.mktemp("t") / "m<1>", QUICK, TrainingPlan(1, 3), engine=LocalEngine(1))


def test_the_figure_has_all_points() -> None:
    drawn = ElementTree.fromstring(draw(ROWS, "a <b> $model$", "svg"))
    lines = {name: drawn.find(f".//*[@id='{name}']") for name in ("train", "held_out")}
    points = {name: [] if line is None else line.findall(".//{*}use") for name, line in lines.items()}
    assert {name: len(found) for name, found in points.items()} == {"train": 3, "held_out": 2}
    heights = [float(each.attrib["y"]) for each in points["train"]]
    assert heights == sorted(heights, reverse=True), "a better likelihood is higher"
    assert "a <b> $model$" in "".join(drawn.itertext())
    assert draw(ROWS, "title", "svg") == draw(ROWS, "title", "svg")
    with pytest.raises(SettingsError, match="no likelihoods"):
        draw([Metrics(0, None, None, 3)], "title", "svg")


def test_the_figure_needs_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(SettingsError, match=r"wikilda\[plot\]"):
        draw(ROWS, "title", "png")


def test_plot(trained: Model, tmp_path: Path) -> None:
    run = CliRunner().invoke(cli, ["plot", str(trained.path), "-o", str(tmp_path / "a.html")])
    assert (run.exit_code, run.output) == (0, f"{tmp_path / 'a.html'}\n")
    page = (tmp_path / "a.html").read_text("utf-8")
    assert "<h1>m&lt;1&gt;</h1>" in page
    assert not re.search(r"(src|href)=\"(?!#)", page), "the page needs no other file"
    assert f"{read_metrics(trained.path)[0].train:.4f}" in page
    assert plot_training(trained.path, tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    ElementTree.parse(plot_training(trained.path, tmp_path / "a.svg"))
    with pytest.raises(InputError, match="no record of a training"):
        plot_training(tmp_path, tmp_path / "b.html")
    with pytest.raises(InputError, match=r"Use a file that ends in \.png, \.svg, \.html"):
        plot_training(trained.path, tmp_path / "a.pdf")


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
    rows = json.loads(run.invoke(cli, ["topics", str(trained.path), "--json", "-n", "3"]).output)
    assert len(rows) == 3
    assert rows[0]["moved"] >= rows[1]["moved"]
    assert "mass moved" in run.invoke(cli, ["topics", str(trained.path)]).output
    with pytest.raises(InputError, match="no title"):
        run.invoke(cli, ["topics", str(trained.path), "Nonesuch"], catch_exceptions=False)

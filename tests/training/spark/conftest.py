"""Spark for tests: the packaged Java, everything on loopback, all that is left behind in one directory."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.training.conftest import QUICK
from wikilda.model import Model
from wikilda.training.checkpoints import read_metrics
from wikilda.training.engines.local import LocalEngine
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan

PLAN = TrainingPlan(iterations=2, shards=7)
SMALL = {"spark.sql.shuffle.partitions": "2", "spark.executor.memory": "512m", "spark.locality.wait": "0",
         "spark.scheduler.minRegisteredResourcesRatio": "1.0"}  # fmt: skip


@pytest.fixture(scope="session", autouse=True)
def _place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Java takes its temporary directory only from the command line, and so do the processes that it starts."""
    place = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", f"-Djava.io.tmpdir={place} -XX:-UsePerfData")
        patch.setenv("SPARK_LOCAL_DIRS", str(place))
        patch.setenv("TMPDIR", str(place))
        for name in ("JAVA_HOME", "PYSPARK_PYTHON", "SPARK_LOCAL_IP"):  # no other Java is needed
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session")
def whole(model: Path, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Model:
    """The model of the local engine."""
    return train(model, corpus, tmp_path_factory.mktemp("local") / "model", QUICK, PLAN, engine=LocalEngine(1))


def same(made: Model, other: Model) -> bool:
    """Whether two trainings have made the same model in the same way."""
    names = ("train", "held_out", "parameters", "gained", "dropped", "changed", "documents", "tokens")
    mine, theirs = (
        [[getattr(row, name) for name in names] for row in read_metrics(each.path)] for each in (made, other)
    )
    return made.identity == other.identity and mine == theirs

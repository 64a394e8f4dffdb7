from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.server.serving import Served, serving
from wikilda.knowledge import Knowledge
from wikilda.model import create_model


@pytest.fixture(scope="session")
def model(sample: Knowledge) -> Path:
    """A model of the sample wiki, beside its knowledge."""
    target = sample.artifact.path.with_name("served-model")
    create_model(sample, target)
    return target


@pytest.fixture(scope="session")
def served(model: Path) -> Iterator[Served]:
    """A server with its default settings."""
    with serving(model) as running:
        yield running


@pytest.fixture(scope="session")
def client(served: Served) -> Iterator[httpx.Client]:
    with served.client() as made:
        yield made

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.server.serving import Served, serving


@pytest.fixture(scope="session")
def served(model: Path) -> Iterator[Served]:
    """A server with its default settings."""
    with serving(model) as running:
        yield running


@pytest.fixture(scope="session")
def client(served: Served) -> Iterator[httpx.Client]:
    with served.client() as made:
        yield made

from pathlib import Path

import pytest

from wikilda.knowledge import Knowledge
from wikilda.linking import Linker
from wikilda.model import create_model


@pytest.fixture(scope="session")
def model(sample: Knowledge) -> Path:
    """A model of the sample wiki, beside its knowledge."""
    return create_model(sample, sample.artifact.path.with_name("integrated")).path


@pytest.fixture(scope="session")
def linker(model: Path) -> Linker:
    return Linker.open(model)

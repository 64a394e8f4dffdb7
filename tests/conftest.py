"""What many tests share: real data, where it is to be had, and the sample wiki's knowledge."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("WIKILDA_COMPILE", "now")  # before the package is imported: nothing runs in the background

from wikilda._core import jit, kernel_cache
from wikilda.knowledge import Knowledge, Resources, build_from_dump
from wikilda.linking import Linker
from wikilda.model import create_model
from wikilda.sample import SETTINGS, WIKI

# Any text may be tried, and the first try compiles: no deadlines, and fewer tries with the compiler off. The same
# examples in every run; HYPOTHESIS_PROFILE=search tries many others.
settings.register_profile("same", deadline=None, max_examples=20 if jit.DISABLED else 100, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

DATA = Path(os.environ.get("WIKILDA_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A user's cache of the tests' own, also for processes that they start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_CACHE_DIR", str(kernel_cache.root()))  # kernels are compiled once for all runs
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


# Clusters, browsers, whole servers, real dumps, kills: `pytest -m "not slow"` leaves them out.
SLOW = (
    "training/spark/", "training/test_train.py", "knowledge/test_real.py", "knowledge/test_build_interrupted.py",
    "server/test_schema.py", "server/test_process.py", "server/test_page.py", "server/test_sockets.py",
    "linking/test_command.py", "integrations/",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(tuple(f"tests/{place}" for place in SLOW)):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def data() -> Path:
    """The directory of real data; tests that need it are skipped where it is not."""
    if not DATA.is_dir():
        pytest.skip(f"no real data at {DATA} (set WIKILDA_DATA)")
    return DATA


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    """Knowledge of the sample wiki."""
    target = tmp_path_factory.mktemp("sample") / "kb"
    return build_from_dump([WIKI], target, SETTINGS, resources=Resources(workers=1))


@pytest.fixture(scope="session")
def model(sample: Knowledge) -> Path:
    """A model of the sample wiki, beside its knowledge."""
    return create_model(sample, sample.path.with_name("model")).path


@pytest.fixture(scope="session")
def linker(model: Path) -> Linker:
    return Linker.open(model)

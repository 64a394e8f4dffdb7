"""What runs tasks that need no joins: processes of this machine (`wikilda.workers`), or the nodes of a cluster."""

from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, Protocol


class Pool(Protocol):
    """What runs tasks; used as a context."""

    def __enter__(self) -> "Pool": ...

    def __exit__(
        self, kind: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None
    ) -> None: ...

    def run(self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Results as they come, in whatever order."""

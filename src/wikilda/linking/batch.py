"""Work on many documents by threads, in order and in bounded memory."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
_CHUNK = 8  # documents that a worker takes at a time


def map_ordered(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int, *, chunk: int = _CHUNK
) -> Iterator[Result]:
    """Results in the order of the items, computed by threads a few chunks ahead of the consumer."""
    if workers == 1:
        yield from map(work, items)
        return

    def work_all(some: list[Item]) -> list[Result]:
        return [work(each) for each in some]

    rest = iter(items)
    pool = ThreadPoolExecutor(workers)
    waiting: deque[Future[list[Result]]] = deque()
    try:
        while some := list(islice(rest, chunk)):
            waiting.append(pool.submit(work_all, some))
            if len(waiting) > 2 * workers:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)

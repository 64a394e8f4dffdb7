"""Many documents over many workers: in their order, with bounded memory, the bad ones set aside."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from wikilda.documents.document import Document
from wikilda.documents.reading import Bad
from wikilda.linking.linker import Linker
from wikilda.linking.results import Linked

Item = TypeVar("Item")
Result = TypeVar("Result")
_CHUNK = 8  # documents that go to a worker together


def link_all(
    linker: Linker, documents: Iterable[Document | str], *, workers: int = 1, candidates: int = 5, topics: int = 10
) -> Iterator[Linked | Bad]:
    """Link documents in their order; one that cannot be linked comes out as `Bad`, in its place.

    Workers are threads: they share the model, and its kernels run without the interpreter's lock.
    """

    def link(document: Document | str) -> Linked | Bad:
        return guarded_link(linker, document, candidates, topics)

    return map_ordered(link, documents, workers)


def guarded_link(linker: Linker, document: Document | str, candidates: int, topics: int) -> Linked | Bad:
    """Link a document; what goes wrong with one of many is a message, not the end."""
    try:
        return linker.link(document, candidates=candidates, topics=topics)
    except Exception as error:
        name = document.id if isinstance(document, Document) else ""
        return Bad(f"document {name!r}", f"could not be linked ({type(error).__name__}: {error}).")


def map_ordered(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Results in the order of the items, computed by threads a few chunks ahead of whoever takes them."""
    if workers == 1:
        yield from map(work, items)
        return

    def work_all(chunk: list[Item]) -> list[Result]:
        return [work(each) for each in chunk]

    rest = iter(items)
    pool = ThreadPoolExecutor(workers)
    waiting: deque[Future[list[Result]]] = deque()
    try:
        while chunk := list(islice(rest, _CHUNK)):
            waiting.append(pool.submit(work_all, chunk))
            if len(waiting) > 2 * workers:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)

"""What `wikilda link` shows on a terminal: tables of results, and the progress of a run."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext

import click

from wikilda._core.errors import printable
from wikilda._core.progress import Bar, bar
from wikilda.cli._options import show_table
from wikilda.documents.reading import Bad
from wikilda.linking.files import Observer
from wikilda.linking.results import Linked, LinkedMention
from wikilda.linking.unknown import UnknownNames
from wikilda.text.layout import is_html

_REPORTED = 20  # bad documents that are named


class Tally(Observer):
    """Counts documents, reports those that are skipped, and moves a progress bar."""

    def __init__(self, unknown: UnknownNames | None = None) -> None:
        self.unknown = unknown
        self.documents = self.bad = self.mentions = self.tokens = 0
        self._before = 0
        self._has_html = False
        self._began = time.monotonic()
        self._bar = Bar(None, None)

    def resume(self, documents: int, bad: int) -> None:
        """Start from the counts of an earlier run."""
        self.documents, self.bad, self._before = documents, bad, documents
        self._bar.advance(documents + bad)
        if self.total:
            click.echo(f"wikilda: resuming after {self.total:,} documents.", err=True)

    @property
    def total(self) -> int:
        """Documents, linked and skipped."""
        return self.documents + self.bad

    @contextmanager
    def shown(self, *, with_results: bool = False) -> Iterator["Tally"]:
        """Show a bar while the block runs; not on a terminal where results are printed, too: they would mix."""
        self._began = time.monotonic()
        with nullcontext(self._bar) if with_results and sys.stdout.isatty() else bar("linking", None) as self._bar:
            yield self
        if self.bad > _REPORTED:
            click.echo(f"wikilda: {self.bad:,} documents were skipped in all.", err=True)

    def note(self, linked: Linked | Bad) -> None:
        """Count a document."""
        self._bar.advance()
        if isinstance(linked, Bad):
            self.bad += 1
            if self.bad <= _REPORTED:
                click.echo(f"wikilda: {linked} Skipped.", err=True)
            return
        self.documents += 1
        self._note_html(linked)
        if self.unknown:
            self.unknown.add(linked)
        self.mentions += linked.mention_count
        self.tokens += len(linked.text.split())
        if sys.stderr.isatty():
            self._bar.label(f"documents, {self.tokens / max(time.monotonic() - self._began, 1e-3):,.0f} tokens/s")

    def _note_html(self, linked: Linked) -> None:
        if not self._has_html and linked.request.document.mentions is None and is_html(linked.text):
            self._has_html = True
            click.echo(
                f"wikilda: document {linked.id!r} is HTML: what a reader sees of it is linked, without tags and "
                "scripts. Other such documents are not reported.", err=True,
            )  # fmt: skip

    def good(self, results: Iterable[Linked | Bad]) -> Iterator[Linked]:
        """The results without the documents that are skipped."""
        for linked in results:
            self.note(linked)
            if isinstance(linked, Linked):
                yield linked

    def summary(self) -> str:
        """The run in a line."""
        seconds = max(time.monotonic() - self._began, 1e-9)
        done = self.documents - self._before
        rates = f"{done / seconds:,.0f} documents/s, {self.tokens / seconds:,.0f} tokens/s"
        skipped = f", {self.bad:,} skipped" if self.bad else ""
        documents = "1 document" if self.documents == 1 else f"{self.documents:,} documents"
        return f"{documents}{skipped} ({rates})"


def show_linked(linked: Linked, *, only_topics: bool = False) -> None:
    """A document's mentions as a table: entity, confidence, prior and runner-up; and its topics."""
    if only_topics:
        shares = [(each.entity.title, f"{each.share:.0%}", each.entity.url) for each in linked.topics]
        show_table(f"Document {linked.id}", ["topic", "share", "address"], shares)
        return
    rows = [_row(mention) for mention in linked.mentions]
    show_table(f"Document {linked.id}", ["mention", "entity", "confidence", "prior", "runner-up"], rows)
    if linked.topics:
        topics = ", ".join(f"{each.entity.title} {each.share:.0%}" for each in linked.topics)
        click.echo(printable(f"topics: {topics}"))


def _row(mention: LinkedMention) -> tuple[str, ...]:
    """Confidences of both, after NIL: the answer never has the smaller number."""
    if not mention.candidates:
        return mention.text, "NIL", f"{mention.nil:.0%}", "", "not in the knowledge"
    known = [
        (each.entity.title, each.probability * (1 - mention.nil), f"{each.prior:.0%}") for each in mention.candidates
    ]
    nil = ("NIL", mention.nil, "")
    (title, chance, prior), *others = [nil, *known] if mention.entity is None else [*known, nil]
    other, share, _ = max(others, key=lambda each: each[1])
    runner_up = f"{other} {share:.0%}" if round(share, 2) > 0 else ""
    return mention.text, title, f"{chance:.0%}", prior, runner_up

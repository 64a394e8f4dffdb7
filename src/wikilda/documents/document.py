"""Documents to link: texts, with the spans of their mentions where these are known."""

import re
from dataclasses import dataclass, field, replace

from wikilda._core.errors import InputError

_MARK = re.compile(r"\[\[([^\[\]]+?)\]\]")


@dataclass(frozen=True)
class Document:
    """A text and the spans of its mentions, in characters; None where they are still to be found."""

    text: str
    mentions: list[tuple[int, int]] | None = None
    id: str = ""
    source: str = field(default="", kw_only=True)  # who published it, for training

    def __post_init__(self) -> None:
        for start, end in self.mentions or []:
            if not 0 <= start < end <= len(self.text):
                raise InputError(
                    f"document {self.id!r}: the mention [{start}, {end}) is empty or not inside its text of "
                    f"{len(self.text)} characters."
                )

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The mentions that are known."""
        return self.mentions or []

    def without_overlaps(self) -> "Document":
        """The document with mentions that do not overlap: of those that do, the first and then the longest stays."""
        if self.mentions is None:
            return self
        kept: list[tuple[int, int]] = []
        for start, end in sorted(self.mentions, key=lambda span: (span[0], -span[1])):
            if not kept or start >= kept[-1][1]:
                kept.append((start, end))
        return self if len(kept) == len(self.mentions) else replace(self, mentions=kept)


def marked(text: str, id: str = "") -> Document:  # noqa: A002
    """A text whose mentions stand in double brackets: `[[Croft]] took five wickets`."""
    plain, spans, last, size = [], [], 0, 0
    for found in _MARK.finditer(text):
        before, mention = text[last : found.start()], found.group(1)
        size += len(before)
        spans.append((size, size + len(mention)))
        plain += [before, mention]
        size += len(mention)
        last = found.end()
    return Document("".join([*plain, text[last:]]), spans, id)

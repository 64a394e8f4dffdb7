"""Texts with layout: HTML that was pasted as text, and words that a line break divides.

The visible text is linked, and spans are those of the given text.
"""

import html
import re
from dataclasses import dataclass

from wikilda.text.offsets import Spans

_BLOCK = (
    "address|article|aside|blockquote|body|br|caption|center|dd|div|dl|dt|figure|footer|form|h[1-6]|head|header|hr|html|"
    "li|main|nav|ol|option|p|section|table|tbody|td|tfoot|th|thead|title|tr|ul"
)
_INLINE = "a|abbr|b|big|cite|code|em|font|i|img|link|meta|q|s|small|span|strong|sub|sup|tt|u"
_TAG = re.compile(rf"</?(?:{_BLOCK}|{_INLINE})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_IS_BLOCK = re.compile(rf"</?(?:{_BLOCK})\b", re.IGNORECASE)
_HIDDEN = r"<(script|style)\b[^<>]*>.*?</\1\s*>|<!--.*?-->|<!doctype[^<>]*>"
_MARKUP = re.compile(rf"{_HIDDEN}|{_TAG.pattern}|&(?:#\d+|#x[0-9a-f]+|[a-z]\w*);", re.IGNORECASE | re.DOTALL)
_DIVIDED = re.compile(r"(?<=[^\W\d_])(?:-[ \t]*\r?\n[ \t]*|\u00ad(?:\r?\n)?)(?=[^\W\d_])")
_LEAST_TAGS = 2


@dataclass(frozen=True)
class Shown:
    """The visible text: pieces, and where each begins, here and in the given text."""

    text: str
    places: list[tuple[int, int, int]]  # of each piece: its first place here, the first and the last in the text

    def original(self, spans: Spans) -> Spans:
        """Return the spans in the given text of spans in the visible text."""
        found, piece = [], 0
        for start, end in spans:
            while piece and self.places[piece][0] > start:  # a part begins before the end of its name
                piece -= 1
            while piece + 1 < len(self.places) and self.places[piece + 1][0] <= start:
                piece += 1
            last = piece
            while last + 1 < len(self.places) and self.places[last + 1][0] < end:
                last += 1
            found.append((self._first(piece, start), self._last(last, end)))
        return found

    def _first(self, piece: int, place: int) -> int:
        here, first, last = self.places[piece]
        return min(first + place - here, last)

    def _last(self, piece: int, place: int) -> int:
        here, first, last = self.places[piece]
        after = self.places[piece + 1][0] if piece + 1 < len(self.places) else len(self.text)
        return last if place == after else min(first + place - here, last)


def is_html(text: str) -> bool:
    """Return whether a text has several tags of HTML."""
    return "<" in text and sum(1 for _ in zip(range(_LEAST_TAGS), _TAG.finditer(text), strict=False)) == _LEAST_TAGS


def shown(text: str) -> Shown | None:
    """Return the visible text; None if it is the text itself."""
    marks = is_html(text)
    divided = "-\n" in text or "\u00ad" in text or "-\r" in text or "- \n" in text
    if not marks and not divided:
        return None
    replaced = [(each.span(), _replacement(each.group())) for each in _MARKUP.finditer(text)] if marks else []
    if divided:
        words = (each for each in _DIVIDED.finditer(text) if text[each.end()].islower() or "\u00ad" in each.group())
        taken = [span for span, _ in replaced]
        replaced += [
            (each.span(), "") for each in words if not any(a < each.end() and each.start() < b for a, b in taken)
        ]
    if not replaced:
        return None
    parts, places, size, last = list[str](), list[tuple[int, int, int]](), 0, 0
    for (start, end), instead in sorted(replaced):
        for piece, first, until in ((text[last:start], last, start), (instead, start, end)):
            if piece:
                parts.append(piece)
                places.append((size, first, until))
                size += len(piece)
        last = end
    if last < len(text):
        parts.append(text[last:])
        places.append((size, last, len(text)))
    return Shown("".join(parts), places)


def _replacement(markup: str) -> str:
    """Return the replacement: the character of an entity, a line break for a block, nothing for other markup."""
    if markup.startswith("&"):
        return html.unescape(markup).replace("\u00a0", " ")
    return "\n" if _IS_BLOCK.match(markup) else ""

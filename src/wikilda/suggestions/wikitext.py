"""The prose of wikitext, with its places in the source.

Templates, tables, references, headings, files, categories, comments and code are skipped: a link there may break the
surrounding markup.
"""

import re
from collections.abc import Mapping

from wikilda.suggestions.pages import Link, Prose, Span, blanked, merged

_RAW = "nowiki|pre|code|source|syntaxhighlight|math|chem|ref|references|gallery|timeline|score|imagemap|poem|inputbox"
_ALONE = re.compile(
    rf"<!--.*?(?:-->|\Z)|<({_RAW})\b[^<>]*/>|<({_RAW})\b[^<>]*>.*?(?:</\2\s*>|\Z)", re.DOTALL | re.IGNORECASE
)  # fmt: skip
_BRACE = re.compile(r"\{\{|\}\}|\{\||(?<!\|)\|\}(?!\})")
_BRACKET = re.compile(r"\[\[|\]\]")
_HEADING = re.compile(r"^=+[^\n]*?=+[ \t]*$", re.MULTILINE)
_MARKUP = re.compile(
    r"</?[a-zA-Z][^<>]*>|'{2,}|\[(?:https?:)?//[^\]\n]*\]|\bhttps?://[^\s\]<>]+|__[A-Z]+__|&\#?\w{1,10};|^[*#:;]+",
    re.MULTILINE,
)
_TRAIL = re.compile(r"[^\W\d_]+")


def read_wikitext(source: str, namespaces: Mapping[str, int]) -> Prose:
    """Return the prose of wikitext and its links; those of other namespaces are no links between articles."""
    gone = [found.span() for found in _ALONE.finditer(source)]
    gone += _nested(blanked(source, gone), _BRACE, ("{{", "{|"))
    gone += [found.span() for found in _HEADING.finditer(source)]
    rest = blanked(source, gone)
    links, closed = list[Link](), list[Span]()
    for start, end in _nested(rest, _BRACKET, ("[[",)):
        inside = rest[start + 2 : end - 2]
        target, bar, _ = inside.partition("|")
        prefix = target.partition(":")[0].strip().lower() if ":" in target else ""
        if prefix in namespaces or "[[" in inside or "\n" in target or not rest.startswith("]]", end - 2):
            gone.append((start, end))
            continue
        shown = start + 2 + (len(target) + 1 if bar else 0)
        trail = _TRAIL.match(rest, end)
        gone += [(start, shown), (end - 2, end)]
        closed.append((start, trail.end() if trail else end))
        links.append(Link(shown, end - 2, target.strip()))
    gone += [found.span() for found in _MARKUP.finditer(rest)]
    return Prose(blanked(source, gone), links, closed)


def _nested(text: str, pattern: re.Pattern[str], opening: tuple[str, ...]) -> list[Span]:
    """The outermost pairs of brackets; one that is not closed reaches to the end of its line."""
    found, waiting = list[Span](), list[int]()
    for match in pattern.finditer(text):
        if match.group() in opening:
            waiting.append(match.start())
        elif waiting:
            found.append((waiting.pop(), match.end()))
    for start in waiting:
        end = text.find("\n", start)
        found.append((start, end if end >= 0 else len(text)))
    return merged(found)


def wikitext_link(target: str, text: str) -> str:
    """Return a link in wikitext."""
    same = text == target or (text[:1].upper() + text[1:] == target)
    return f"[[{text}]]" if same else f"[[{target}|{text}]]"

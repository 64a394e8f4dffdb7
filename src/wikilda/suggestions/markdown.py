"""The prose of Markdown notes of Obsidian and Logseq, with its places in the source.

Front matter, code, headings, links, embeds, addresses, HTML, comments, formulas, tags, properties and block references
are skipped.
"""

import re
from typing import NamedTuple
from urllib.parse import unquote

from wikilda.suggestions.pages import Link, Prose, Span, blanked

_FENCE = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_LINES = re.compile(
    r"^(?:[ \t]*(?:[-*+][ \t]+)?#{1,6}(?:[ \t][^\n]*)?"  # headings
    r"|[^\n]+\n[ \t]*(?:=+|-{2,})[ \t]*"  # and those that are underlined
    r"|[ \t]*(?:[-*+][ \t]+)?[\w-]+::[^\n]*"  # properties
    r"|[ \t]*\[[^\]\n]+\]:[^\n]*"  # definitions of links and notes
    r"|[ \t]*:[A-Z]+:[^\n]*)$",
    re.MULTILINE,
)  # fmt: skip
_CODE = re.compile(r"(?<!`)(`+)(?!`)(?:[^`]|(?!(?<!`)\1(?!`))`)*?(?<!`)\1(?!`)")
_ALONE = re.compile(
    r"<!--.*?(?:-->|\Z)|%%.*?(?:%%|\Z)|\$\$.*?(?:\$\$|\Z)|<(script|style|pre|code|svg|math|a)\b[^>]*>.*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_MACRO = re.compile(r"\{\{[^{}\n]*\}\}|\(\([^()\n]*\)\)|\[[\w -]+::[^\]\n]*\]|\$(?=\S)[^$\n]+?(?<=\S)\$(?!\d)")
_EMBED = re.compile(r"!\[\[[^\]\n]*\]\]|!\[[^\]\n]*\]\([^)\n]*\)")
_WIKI = re.compile(r"\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]*))?\]\]")
_MARKDOWN = re.compile(r"(?<!\\)\[((?:[^\[\]\n]|\\.)+)\](?:\(([^()\n]*(?:\([^()\n]*\)[^()\n]*)*)\)|\[[^\]\n]*\])")
_REST = re.compile(
    r"\[\^[^\]\n]*\]|\[![\w-]+\][+-]?|\[\[|\]\]|<[^<>\n]+>|\b[a-z][a-z0-9+.-]*://[^\s<>)\]]+|\bwww\.[^\s<>)\]]+"
    r"|(?<![\w&/])#[\w/-]*[^\W\d][\w/-]*|(?<!\S)\^[\w-]+[ \t]*$|[*~=_]{2,}|(?<!\w)[*_]|[*_](?!\w)"
    r"|^[ \t]*(?:[-*+>]|\d+[.)])[ \t]+(?:\[.\][ \t])?|\|",
    re.MULTILINE | re.IGNORECASE,
)  # fmt: skip
_KEY = re.compile(r"([^\s:#\[\]{},\"'][^:#\[\]{},\"']*|\"[^\"\n]*\"|'[^'\n]*')[ \t]*:(?:[ \t]+(.*)|[ \t]*)$")
_PROPERTY = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?(alias|aliases|title)::[ \t]*(.*)$", re.MULTILINE | re.IGNORECASE)
_NAMES = ("alias", "aliases")


class Note(NamedTuple):
    """A Markdown file: its prose, its own names, and the errors of its front matter."""

    prose: Prose
    title: str
    aliases: tuple[str, ...]
    wrong: str = ""


class FrontMatter(NamedTuple):
    """The front matter of a note: its end, its strings and lists, and its errors."""

    end: int
    values: dict[str, list[str]]
    wrong: str = ""


def read_markdown(source: str) -> Note:
    """Return the prose of a note, its links, and its own names."""
    front = front_matter(source)
    gone: list[Span] = [(0, front.end)]
    gone += _fenced(source, front.end)
    gone += _indented(blanked(source, gone))
    rest = blanked(source, gone)
    for pattern in (_CODE, _ALONE, _LINES, _EMBED, _MACRO):
        gone += [found.span() for found in pattern.finditer(rest)]
        rest = blanked(source, gone)
    links, closed = list[Link](), list[Span]()
    for found in _WIKI.finditer(rest):
        target = re.split(r"[#^]", found[1].removesuffix("\\"))[0].strip()
        start, end = found.span(1 if found[2] is None else 2)
        _take(found.span(), (start, end), target, links, closed, gone)
    rest = blanked(source, gone)
    for found in _MARKDOWN.finditer(rest):
        address = unquote((found[2] or "").strip().split(" ")[0].strip("<>"))
        inside = address.partition("#")[0]
        target = inside.removesuffix(".md") if inside.endswith(".md") and "://" not in inside else ""
        _take(found.span(), found.span(1), target, links, closed, gone)
    rest = blanked(source, gone)
    gone += [found.span() for found in _REST.finditer(rest)]
    properties = {name.lower(): value.strip() for name, value in _PROPERTY.findall(source)}
    title = next(iter(front.values.get("title", [])), "") or properties.get("title", "")
    aliases = [each for name in _NAMES for each in front.values.get(name, [])]
    aliases += [each.strip() for name in _NAMES for each in properties.get(name, "").split(",")]
    plain = tuple(dict.fromkeys(each.strip("[] ") for each in aliases if each.strip("[] ")))
    return Note(
        prose=Prose(blanked(source, gone), sorted(links), closed), title=title, aliases=plain, wrong=front.wrong
    )


def _take(
    whole: Span, shown: Span, target: str, links: list[Link], closed: list[Span], gone: list[Span]
) -> None:  # fmt: skip
    """Take a link: only its text stays in the prose, and no other link may be set there."""
    closed.append(whole)
    gone += [(whole[0], shown[0]), (shown[1], whole[1])]
    if target and shown[0] < shown[1]:
        links.append(Link(*shown, target))


def _fenced(source: str, begin: int) -> list[Span]:
    """Blocks of code; one that is not closed reaches to the end."""
    found, opened, fence = list[Span](), -1, ""
    for match in _FENCE.finditer(source, begin):
        mark = match[1]
        if opened < 0:
            opened, fence = match.start(), mark
        elif mark[0] == fence[0] and len(mark) >= len(fence) and match.group().strip().lstrip("-*+ ") == mark:
            found.append((opened, match.end()))
            opened = -1
    return [*found, (opened, len(source))] if opened >= 0 else found


def _indented(text: str) -> list[Span]:
    """Lines of code that are indented: after an empty line, and in no list."""
    found, at, before_empty, in_list, in_code = list[Span](), 0, True, False, False
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        body = line.strip()
        deep = line.startswith(("    ", "\t"))
        if body and not deep:
            in_list = bool(re.match(r"[ ]{0,3}(?:[-*+]|\d+[.)])[ \t]", line)) or (in_list and line[0] == " ")
        code = bool(body) and deep and not in_list and (before_empty or in_code)
        if code:
            found.append((at, at + len(line.rstrip("\r\n"))))
        in_code = code or (in_code and not body)
        before_empty = not body
        at += len(line)
    return found


def front_matter(source: str) -> FrontMatter:
    """Return the front matter of a note: its names, in the part of YAML that note-taking programs write."""
    first = re.match(r"\ufeff?---[ \t]*\r?\n", source)
    if first is None:
        return FrontMatter(0, {})
    last = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE).search(source, first.end())
    if last is None:
        return FrontMatter(first.end(), {}, "its front matter is not closed with ---: it is read as text")
    values, key, wrong = dict[str, list[str]](), "", ""
    for number, line in enumerate(source[first.end() : last.start()].split("\n"), 2):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        item = re.fullmatch(r"-(?:[ \t]+(.*))?", bare)
        if item and key:
            values.setdefault(key, []).extend(_values(f"[{item[1] or ''}]") if key in _NAMES else [])
            continue
        found = None if line[0] in " \t" else _KEY.fullmatch(line.rstrip())
        if found:
            key = found[1].strip("\"' ").lower()
            given = (found[2] or "").strip()
            if key in (*_NAMES, "title"):
                if given[:1] in "[\"'" and given and not given.rstrip().endswith({"[": "]"}.get(given[0], given[0])):
                    wrong = wrong or f"line {number} of its front matter is not closed ({given[:40]})"
                    continue
                values[key] = _values(given)
        elif line[0] not in " \t" and not wrong:
            wrong = f"line {number} of its front matter is not YAML ({bare[:40]!r})"
    return FrontMatter(last.end(), values, wrong)


def _values(given: str) -> list[str]:
    """The strings of a YAML list in one line, or of a scalar."""
    if given[:1] == "[" and given[-1:] == "]":
        parts = re.findall(r"\s*(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^,\s][^,]*)", given[1:-1])
    else:
        parts = [given]
    plain = [re.sub(r"\s+#.*$", "", each).strip() if each.strip()[:1] not in "\"'" else each.strip() for each in parts]
    return [
        each[1:-1] if len(each) > 1 and each[0] == each[-1] and each[0] in "\"'" else each for each in plain if each
    ]


def markdown_link(target: str, text: str) -> str:
    """Return a wikilink of a note."""
    return f"[[{text}]]" if text == target else f"[[{target}|{text}]]"

"""Rows as an HTML page: texts with highlighted links. The page loads no other resources."""

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any
from urllib.parse import urlsplit

_STYLE = """
.wikilda { --ink: light-dark(#1d2530, #dfe5ec); --soft: light-dark(#66707d, #9aa5b1);
  --card: light-dark(#f7f9fb, #1b222a); --line: light-dark(#d9e0e7, #303a45);
  max-width: 46rem; font: 17px/1.65 Georgia, serif; color: var(--ink); color-scheme: light dark }
[data-jp-theme-light=true] .wikilda, .vscode-light .wikilda { color-scheme: light }
[data-jp-theme-light=false] .wikilda, .vscode-dark .wikilda { color-scheme: dark }
.wikilda :is(h1, h2, aside, .card, footer) { font-family: system-ui, sans-serif }
.wikilda h1 { font-size: 1.25rem } .wikilda h2 { font-size: .9rem; color: var(--soft); overflow-wrap: anywhere }
.wikilda article { border-top: 1px solid var(--line); padding: .5rem 0 1.5rem }
.wikilda .text { white-space: pre-wrap; overflow-wrap: anywhere }
.wikilda .m { position: relative; border-radius: 3px; padding: 0 .12em; text-decoration: none; color: inherit;
  background: color-mix(in srgb, #2f81f7 calc(10% + 28% * var(--p, 0)), transparent);
  border-bottom: 2px solid #2f81f7 }
.wikilda .m.nil { background: none; border-bottom: 2px dotted var(--soft) }
.wikilda .card { display: none; position: absolute; left: 0; top: 1.7em; z-index: 1; width: max-content;
  max-width: 20rem; padding: .5rem .7rem; font-size: .8rem; line-height: 1.45; white-space: normal; text-align: start;
  background: var(--card); color: var(--ink); border: 1px solid var(--line); border-radius: 6px }
.wikilda .m:hover .card, .wikilda .m:focus .card { display: block }
.wikilda .card b { display: block } .wikilda .card span { display: block; color: var(--soft) }
.wikilda aside div { display: grid; grid-template-columns: minmax(0, 16rem) 8rem 3rem; gap: .6rem; align-items: center }
.wikilda aside i { height: .55rem; border-radius: 2px; background: #2f81f7; opacity: .6; width: calc(100% * var(--p)) }
.wikilda th { font-weight: 400; color: var(--soft) } .wikilda :is(th, td) { text-align: start; padding: .1rem .6rem }
.wikilda :is(aside, footer) { font-size: .8rem; color: var(--soft) }
"""
_PAGE = """
:root { color-scheme: light dark }
body { color: light-dark(#1d2530, #dfe5ec); background: light-dark(#fff, #12171d) }
.wikilda { margin: 2rem auto; padding: 0 1rem }
"""
_HEAD = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer"><title>Links to {wiki}</title><style>{style}</style></head>
<body class="wikilda"><h1>Links to {wiki}</h1>
"""
_FOOT = "<footer>Knowledge: {wiki}, from {files} ({identity}).</footer>\n</body></html>\n"


def html_page(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """Return a page with one section per document. Rows need their `text`, and offsets in code points."""
    known: dict[str, Any] = {"wiki": "?", "language": "", "files": [], "identity": ""}
    first = True
    for row in rows:
        known = row["knowledge"]
        if first:
            yield _head(escape(known["wiki"]), escape(known["language"])).encode()
            first = False
        yield _article(row).encode("utf-8", "replace")
    if first:
        yield _head("?", "").encode()
    files = escape(", ".join(known["files"]))
    yield _FOOT.format(wiki=escape(known["wiki"]), files=files, identity=escape(known["identity"])).encode()


def html_fragment(row: dict[str, Any]) -> str:
    """Return a document as HTML for a notebook."""
    return f'<style>{_STYLE}</style><div class="wikilda">{_article(row)}</div>'


def html_card(title: str, url: str, rows: Iterable[tuple[str, object]]) -> str:
    """Return a title with a table of properties as HTML for a notebook."""
    head = f'<a href="{escape(url)}" rel="noreferrer">{escape(title)}</a>' if _is_address(url) else escape(title)
    body = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in rows)
    return f'<style>{_STYLE}</style><div class="wikilda"><b>{head}</b><table>{body}</table></div>'


def _is_address(url: str) -> bool:
    return urlsplit(url).scheme in ("http", "https")


def _head(wiki: str, language: str) -> str:
    return _HEAD.format(wiki=wiki, language=language, style=_STYLE + _PAGE)


def _article(row: dict[str, Any]) -> str:
    parts, last, text = [], 0, row["text"]
    for mention in sorted(row["mentions"], key=lambda each: (each["start"], each["end"])):
        if mention["start"] < last:
            continue  # overlapping mentions cannot be shown
        parts += [escape(text[last : mention["start"]]), _mention(mention)]
        last = mention["end"]
    parts.append(escape(text[last:]))
    longest = max((each["share"] for each in row["topics"]), default=0) or 1
    bars = [
        f'<div><span>{escape(each["title"])}</span><i style="--p:{each["share"] / longest:.3f}"></i>'
        f"<span>{each['share']:.0%}</span></div>"
        for each in row["topics"]
    ]
    about = f"<aside>Topics{''.join(bars)}</aside>" if bars else ""
    body = f'<div class="text" dir="auto">{"".join(parts)}</div>'
    return f"<article><h2>{escape(row['id'])}</h2>{body}{about}</article>\n"


def _mention(mention: dict[str, Any]) -> str:
    """Return a mention with a card of its candidates and NIL, whose probabilities are on one scale."""
    shown, known = escape(mention["text"]), 1 - mention["nil"]
    candidates = [(escape(each["title"]), each["probability"] * known) for each in mention["candidates"]]
    listed = [f"<span>{title} {share:.0%}</span>" for title, share in candidates]
    if mention["title"] is None:
        said = f"probably not in the knowledge ({mention['nil']:.0%}); else" if listed else "not in the knowledge"
        return f'<span class="m nil" tabindex="0">{shown}<span class="card">{said}{"".join(listed)}</span></span>'
    rest = "".join([*listed[1:], f"<span>NIL {mention['nil']:.0%}</span>"])
    about = (mention[name] for name in ("type", "wikidata") if mention.get(name))
    item = "".join(f" · {escape(each)}" for each in about)
    card = f'<span class="card"><b>{candidates[0][0]} {candidates[0][1]:.0%}{item}</b>{rest}</span>'
    style = f'class="m" style="--p:{mention.get("confidence") or 0:.2f}"'
    if _is_address(mention["url"] or ""):
        return f'<a {style} href="{escape(mention["url"])}" rel="noreferrer">{shown}{card}</a>'
    return f'<span {style} tabindex="0">{shown}{card}</span>'

"""The first sentence of an article, which serves as the topic's description."""

import re

_LONGEST = 400
_STOP = re.compile(r"[.!?。।॥！？]")
_NEXT = re.compile(r"""["'»”’)\]]*\s+(?=["'«“(\[]*[^\W\d_])""")  # what follows a stop that ends a sentence
_EMPTY = re.compile(r"\s*[(\[][\s;,:–—-]*[)\]]")
_HOLE = re.compile(r"([(\[])[\s;,:]+")
_SPACES = re.compile(r"\s+")
_BEFORE_MARK = re.compile(r"\s+([,.;:)])")
_LAST_WORD = re.compile(r"([^\W\d_]+)$")


def first_sentence(lead: str) -> str:
    """The first sentence of a text, without the holes that removed templates leave."""
    paragraph = next((line for line in lead.split("\n") if len(line.strip()) > 20), lead)
    clean = _HOLE.sub(r"\1", _EMPTY.sub("", paragraph[: 2 * _LONGEST]))
    clean = _BEFORE_MARK.sub(r"\1", _SPACES.sub(" ", clean)).strip()
    for stop in _STOP.finditer(clean):
        if stop.group() not in ".!?":
            return clean[: stop.end()][:_LONGEST]
        following = _NEXT.match(clean, stop.end())
        if following and not _is_abbreviation(clean, stop.start()):
            return clean[: following.end()].strip()[:_LONGEST]
    return clean[:_LONGEST]


def _is_abbreviation(text: str, stop: int) -> bool:
    """Whether the full stop belongs to an initial or a short abbreviation (`H. W.`, `St.`, `c.`, `i.e.`)."""
    if text[stop] != ".":
        return False
    word = _LAST_WORD.search(text, 0, stop)
    if word is None:
        return False
    letters = word.group(1)
    dotted = word.start() > 0 and text[word.start() - 1] == "."
    return len(letters) == 1 or dotted or (len(letters) <= 2 and letters[0].isupper())

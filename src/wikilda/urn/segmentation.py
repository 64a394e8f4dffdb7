"""Segmentation: which of overlapping spans are mentions, decided by their inferred meanings.

The detector proposes names, and after a name the known names in it, if the dictionary lacks the name (`Israeli Minister
David Levy`) or has it with words that are not capitalised at its ends (`Catholic church`). All are inferred together.

A name that has a meaning explains its tokens, and beats its parts: `Bank of America`, `Hong Kong dollar`. So does one
without a meaning, so that no part of it is linked: `Vermont Central Hospital` is not Vermont. But a name falls apart
into those of its parts that have a meaning

- if the dictionary has it, a word at one of its ends is not capitalised, and it means nothing (`Texas 3`), or nothing
  else than what it begins with without such words (`Catholic church`);
- if the dictionary lacks it, it means nothing or the same as what it ends with, and this is a full name (`Minister
  David Levy`) and no common noun (`Britannia Building Society`), or a word in lower case joins the two (`President of
  Russia`), but for one that names have, unless they are offices (`University of Russia`);
- if it begins with an honorific or an office and means the same without (`Sir Isaac Newton`).

A part of a hyphenated word is none of these parts: `Pan` in `Pan-African Congress`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Whole, bare, njit
from wikilda.documents.detection.framing import SMALL_WORDS, is_titled
from wikilda.documents.encoding import EncodedDocument

_ONE_WORD, _SEVERAL, _JOINED = 0, 1, 2

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Proposals(NamedTuple):
    """Spans in the order of the text, parts after the name that they are in."""

    starts: Numbers
    ends: Numbers
    forms: Numbers
    framed: Flags  # whether a word at an end is not capitalised
    titled: Flags  # whether the first word is an honorific or an office
    known: Flags  # whether the dictionary has the name
    topics: Numbers  # the best candidate, or −1
    unknown: Flags  # whether it is NIL
    common: Flags  # whether the title of the best candidate is a common noun of several words


def segment(
    encoded: EncodedDocument, topics: Numbers, unknown: Flags, title_of: Callable[[int], str], *, nested: bool = False
) -> Flags:
    """Return which spans of a document are mentions, given the topics that they mean, their titles, and NIL.

    With `nested`, all names are mentions, and those of their parts that have a meaning.
    """
    starts, ends = np.array(encoded.spans, np.int64).reshape(-1, 2).T.copy()
    inside = np.append(starts[1:] < np.maximum.accumulate(ends)[:-1], np.False_)  # whether the next is a part
    if not inside.any():
        return np.ones(len(starts), np.bool_)
    forms, framed, titled = np.zeros(len(starts), np.int64), *np.zeros((2, len(starts)), np.bool_)
    strings = encoded.strings
    for at in np.flatnonzero(inside | np.roll(inside, 1)).tolist():
        name = strings[at]
        forms[at], framed[at], titled[at] = _form(name), _is_framed(name), is_titled(name)
    known = np.asarray(encoded.mentions) >= 0
    fragments = np.append(np.False_, inside[:-1])
    for at in np.flatnonzero(fragments).tolist():
        fragments[at] = "-" in (encoded.text[max(starts[at] - 1, 0)], encoded.text[ends[at] : ends[at] + 1])
    common = np.zeros(len(starts), np.bool_)
    for at in np.flatnonzero(np.append(np.False_, inside[:-1]) & (forms != _ONE_WORD) & ~unknown).tolist():
        common[at] = topics[at] >= 0 and _is_common(title_of(int(topics[at])))
    proposals = Proposals(
        starts=starts, ends=ends, forms=forms, framed=framed, titled=titled, known=known, topics=topics,
        unknown=unknown | fragments, common=common,
    )  # fmt: skip
    return _segment(proposals, nested)


def _form(name: str) -> int:
    if " " not in name:
        return _ONE_WORD
    inside = () if is_titled(name) else SMALL_WORDS
    return _JOINED if any(word[:1].islower() and word not in inside for word in name.split()) else _SEVERAL


def _is_framed(name: str) -> bool:
    """Whether a name of several words begins or ends with one that is a number or in lower case."""
    words = name.split()
    return len(words) > 1 and not (words[0][0].isupper() and words[-1][0].isupper())


def _is_common(title: str) -> bool:
    """Whether a title is a common noun of several words, as far as its capitals tell."""
    later = title.split()[1:]
    return any(word[0].islower() for word in later) and not any(word[0].isupper() for word in later)


@njit
def _segment(names: Proposals, nested: bool) -> Flags:
    kept = np.zeros(len(names.starts), np.bool_)
    name: Whole = np.int64(0)
    while name < len(kept):
        after = name + 1
        while after < len(kept) and names.starts[after] < names.ends[name]:
            after += 1
        apart = not nested and after > name + 1 and _falls_apart(names, name, after - 1)
        kept[name] = not apart
        if apart or nested:
            for part in range(name + 1, after):
                kept[part] = not names.unknown[part]
        name = after
    return kept


@bare
def _falls_apart(names: Proposals, name: Whole, last: Whole) -> bool:
    """Whether a name gives way to its parts, the last of which is `last`."""
    first = name + 1
    if names.titled[name] and names.ends[last] == names.ends[name] and names.topics[last] == names.topics[name]:
        return True
    if names.known[name]:
        if not names.framed[name]:
            return False
        at_start = names.starts[first] == names.starts[name] and not names.unknown[first]
        if names.unknown[name]:
            return bool(at_start or not names.unknown[last])
        return bool(at_start and names.topics[first] == names.topics[name])
    at_end = names.ends[last] == names.ends[name]
    same = at_end and names.topics[last] == names.topics[name]
    if names.unknown[last] or not (names.unknown[name] or same):
        return False
    full_name = names.forms[last] != _ONE_WORD and not names.common[last]
    return bool(names.forms[name] == _JOINED or (full_name and at_end))

"""The dictionary's strings in a text: all matches, what each needs to be a mention, and the best set of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import find_slot
from wikilda._core.jit import inner, njit
from wikilda.documents.detection._capitals import (
    CAPITAL,
    COMMON,
    FIRST,
    INITIAL,
    LOWER,
    NAME,
    OTHER,
    SHAPE,
    SHOUTED,
    UNCASED,
    Shapes,
    shape_all,
)
from wikilda.text.characters import Characters
from wikilda.text.tokens import AFTER_SPACE, BREAK, WORD, Bytes, Hashes, Offsets, Tokens, chain

_SMALL = 2  # letters of a small word inside of a name
_LONGEST = 10  # words of a name that the dictionary lacks: more are a list, or one name again and again


class Dictionary(NamedTuple):
    """Mention strings, and how often each is a link and occurs."""

    keys: NDArray[np.uint64]
    values: NDArray[np.int32]
    linked: NDArray[np.uint32]
    occurrences: NDArray[np.uint32]
    lower: NDArray[np.bool_]  # whether a list of entities has the string in lower case; or nothing


class Limits(NamedTuple):
    """The least link probabilities, by what a string's capitals say."""

    capitalised: float
    unclear: float
    part: float
    lower: float
    uncased: float
    unknown: float  # the link probability that names count with which the dictionary lacks


NO_PARTS, PARTS_OF_UNCERTAIN, ALL_PARTS = 0, 1, 2  # which mentions have their parts proposed, too


@njit
def find_spans(tokens: Tokens, table: Characters, known: Dictionary, limits: Limits, parts: int) -> Offsets:
    """The spans of the mentions in a text, in bytes and then in code points: four columns.

    They do not overlap, but for the parts of a mention, which follow it.
    """
    text, hashes, starts, ends = tokens
    count = len(hashes)
    shapes = shape_all(text, hashes, starts, ends, count, table)
    found = _follow(_best_set(hashes, shapes, starts, ends, count, known, limits, count), count)
    if parts != NO_PARTS:
        found = _with_parts(hashes, shapes, starts, ends, found, known, limits, parts)
    spans = np.empty((len(found), 4), np.int64)
    for span in range(len(found)):
        spans[span, 0], spans[span, 1] = starts[found[span, 0]], ends[found[span, 1] - 1]
    _to_code_points(text, spans)
    return spans


@inner
def _with_parts(
    hashes: Hashes, shapes: Shapes, starts: Offsets, ends: Offsets, found: Offsets, known: Dictionary, limits: Limits,
    parts: int,
) -> Offsets:  # fmt: skip
    """Mentions of several tokens, each followed by the known names in it; in tokens."""
    inside = Limits(limits.capitalised, limits.unclear, limits.capitalised, limits.lower, limits.uncased, 2.0)
    most = len(found)
    for span in range(len(found)):
        most += found[span, 1] - found[span, 0]
    spans = np.empty((most, 2), np.int64)
    size = 0
    for span in range(len(found)):
        first, last = found[span, 0], found[span, 1]
        spans[size, 0], spans[size, 1] = first, last
        size += 1
        if last - first < 2:
            continue
        is_sure = _is_known(hashes, first, last, known) and not _is_framed(hashes, shapes, first, last)
        if parts == PARTS_OF_UNCERTAIN and is_sure:
            continue
        count = last - first
        some = slice(first, last)
        best = _best_set(hashes[some], shapes[some], starts[some], ends[some], count, known, inside, count - 1)
        inner_spans = _follow(best, count)
        for part in range(len(inner_spans)):
            spans[size, 0], spans[size, 1] = first + inner_spans[part, 0], first + inner_spans[part, 1]
            size += 1
    return spans[:size]


@inner
def _is_framed(hashes: Hashes, shapes: Shapes, first: int, last: int) -> bool:
    """Whether a word at an end is in lower case or a number."""
    framed = False
    for at in (first, last - 1):
        framed |= hashes[at] & WORD > 0 and shapes[at] & SHAPE in (OTHER, LOWER)
    return framed


@inner
def _is_known(hashes: Hashes, first: int, last: int, known: Dictionary) -> bool:
    sequence = BREAK
    for at in range(first, last):
        sequence = chain(sequence, hashes[at])
    slot = find_slot(known.keys, sequence)
    return bool(known.keys[slot] == sequence and known.values[slot] >= 0)


@inner
def _best_set(
    hashes: Hashes, shapes: Shapes, starts: Offsets, ends: Offsets, count: int, known: Dictionary, limits: Limits,
    longest: int,
) -> NDArray[np.int32]:  # fmt: skip
    """Choose matches that do not overlap and have the largest sum of tokens · link probability.

    `before[j]` is where the match begins that ends with token j in the best set of matches up to there, or −1. No match
    is longer than `longest` tokens.
    """
    best = np.zeros(count + 1)
    before = np.full(count + 1, -1, np.int32)
    never_lower = limits.lower > 1 and len(known.lower) == 0
    for start in range(count):
        if best[start] >= best[start + 1]:
            best[start + 1] = best[start]
            before[start + 1] = -1
        if not hashes[start] & WORD or (never_lower and shapes[start] & SHAPE == LOWER):
            continue
        end = _name_end(hashes, shapes, starts, ends, start, count, known, limits) if limits.unknown < 1 else start
        if end > start:
            value = best[start] + limits.unknown * (2 * (end - start) - 1)
            if value > best[end]:
                best[end] = value
                before[end] = start
        sequence = BREAK
        at = start
        while at < count and at - start < longest and hashes[at] != BREAK:
            sequence = chain(sequence, hashes[at])
            slot = find_slot(known.keys, sequence)
            if known.keys[slot] != sequence:
                break
            at += 1
            mention = known.values[slot]
            if mention < 0:
                continue
            chance = _link_probability(known, mention)
            needed = _needed(shapes, count, start, at, limits)
            if len(known.lower) and known.lower[mention]:
                needed = min(needed, limits.capitalised)
            if chance < needed:
                continue
            value = best[start] + chance * (2 * (at - start) - 1)
            if value > best[at]:
                best[at] = value
                before[at] = start
    return before


@inner
def _name_end(
    hashes: Hashes, shapes: Shapes, starts: Offsets, ends: Offsets, start: int, count: int, known: Dictionary,
    limits: Limits,
) -> int:  # fmt: skip
    """Where a name of several capitalised words ends that begins at a token; the token itself where none does.

    No capitalised word stands before it or after it, and it is not longer than names are. A sentence's first word
    belongs to it only if there is evidence that it is a name; lines of capitals have no such names.
    """
    if not _begins_name(hashes, shapes, start, known, limits):
        return start
    if start > 0 and _begins_name(hashes, shapes, start - 1, known, limits):
        return start
    end, words = start + 1, 1
    while end < count and hashes[end] != BREAK and words <= _LONGEST:
        if _is_name_word(shapes[end]) and not shapes[end] & FIRST:
            words += 1
            end += 1
        elif _joins(hashes, shapes, end, count) or _links(hashes, shapes, starts, ends, end, count, known, limits):
            end += 1
        else:
            break
    return end if 1 < words <= _LONGEST else start


@inner
def _begins_name(hashes: Hashes, shapes: Shapes, at: int, known: Dictionary, limits: Limits) -> bool:
    """Whether a word may be the first of a name.

    A sentence's first word has a capital anyway: it must have one elsewhere in the text, or be a name in the wiki.
    """
    if not _is_name_word(shapes[at]):
        return False
    if not shapes[at] & FIRST or shapes[at] & NAME:
        return True
    word = chain(BREAK, hashes[at])
    slot = find_slot(known.keys, word)
    mention = known.values[slot] if known.keys[slot] == word else -1
    return bool(mention >= 0 and _link_probability(known, mention) >= limits.unclear)


@inner
def _links(
    hashes: Hashes, shapes: Shapes, starts: Offsets, ends: Offsets, at: int, count: int, known: Dictionary,
    limits: Limits,
) -> bool:  # fmt: skip
    """Whether a small word joins two of a name: `Bank of America`. It does after a word that is hardly a name itself.

    After one that is, it does not: `Johnson of Canada`.
    """
    if at + 1 >= count or shapes[at] & SHAPE != LOWER or ends[at] - starts[at] > _SMALL or hashes[at - 1] & WORD == 0:
        return False
    if not _is_name_word(shapes[at + 1]) or shapes[at + 1] & FIRST:
        return False
    word = chain(BREAK, hashes[at - 1])
    slot = find_slot(known.keys, word)
    mention = known.values[slot] if known.keys[slot] == word else -1
    return bool(mention >= 0 and _link_probability(known, mention) < limits.capitalised)


@inner
def _link_probability(known: Dictionary, mention: int) -> float:
    chance: float = (known.linked[mention] + 0.5) / (known.occurrences[mention] + 1.0)
    return chance


@inner
def _is_name_word(shape: np.uint8) -> bool:
    if shape & SHAPE < CAPITAL or shape & SHOUTED:
        return False
    return bool(not shape & FIRST or not shape & COMMON)


@inner
def _joins(hashes: Hashes, shapes: Shapes, at: int, count: int) -> bool:
    """Whether a mark stands inside a name without spaces, or after an initial: `Jean-Paul`, `O'Neill`, `J. Smith`."""
    if hashes[at] & WORD or hashes[at] & AFTER_SPACE or at + 1 >= count or not _is_name_word(shapes[at + 1]):
        return False
    close = not hashes[at + 1] & AFTER_SPACE or shapes[at - 1] & INITIAL > 0
    return bool(close and not shapes[at + 1] & FIRST)


@inner
def _needed(shapes: Shapes, count: int, start: int, end: int, limits: Limits) -> float:
    """The link probability that a match needs, by what its capitals say."""
    shape = shapes[start] & SHAPE
    if shape == UNCASED:
        return limits.uncased
    capitals = names = common = 0
    for token in range(start, end):
        is_capital = shapes[token] & SHAPE >= CAPITAL
        capitals += is_capital
        names += is_capital and shapes[token] & NAME > 0
        common += is_capital and shapes[token] & COMMON > 0
    if capitals == 0 or shape == LOWER:
        return limits.lower
    if shapes[start] & SHOUTED or (shapes[start] & FIRST and capitals == 1):
        if common == capitals:
            return limits.lower
        return limits.capitalised if names == capitals else limits.unclear
    if _capital_before(shapes, start) or _capital_after(shapes, end, count):
        return limits.part
    return limits.capitalised


@inner
def _capital_before(shapes: Shapes, start: int) -> bool:
    if start == 0:
        return False
    shape = shapes[start - 1]
    return (shape & SHAPE) >= CAPITAL and not shape & FIRST


@inner
def _capital_after(shapes: Shapes, end: int, count: int) -> bool:
    return end < count and (shapes[end] & SHAPE) >= CAPITAL and not shapes[end] & FIRST


@inner
def _follow(before: NDArray[np.int32], count: int) -> Offsets:
    """The matches of the best set, from the last to the first and then turned around; in tokens."""
    found = 0
    at = count
    while at > 0:
        found += before[at] >= 0
        at = before[at] if before[at] >= 0 else at - 1
    spans = np.empty((found, 2), np.int64)
    at = count
    while at > 0:
        if before[at] >= 0:
            found -= 1
            spans[found, 0], spans[found, 1] = before[at], at
            at = before[at]
        else:
            at -= 1
    return spans


@inner
def _to_code_points(text: Bytes, spans: Offsets) -> None:
    """Fill the last two columns: how many characters begin before each byte offset."""
    at = points = 0
    for span in range(len(spans)):
        for side in range(2):
            while at < spans[span, side]:
                points += (text[at] & 0xC0) != 0x80
                at += 1
            while at > spans[span, side]:  # a part begins before the end of its mention
                at -= 1
                points -= (text[at] & 0xC0) != 0x80
            spans[span, 2 + side] = points

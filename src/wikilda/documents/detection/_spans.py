"""The dictionary's strings in a text: all matches, what each needs to be a mention, and the best set of them.

Capitalised words have roles: names, words that are names only beside one, words that frame names (`Mr`, `President`),
dates. Runs of names are proposed whether the dictionary has them or not. What a capital is worth is read from the wiki:
how often its articles write the word with a capital within sentences.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import HashTable, find_slot, lookup
from wikilda._core.jit import bare, inner, njit
from wikilda.documents.detection.framing import CALENDAR, HONORIFIC, PARTICLE, PURPOSE
from wikilda.knowledge.knowledge import WordCases
from wikilda.text.capitals import (
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
    UPPER,
    Shapes,
    is_apart,
    shape_all,
)
from wikilda.text.characters import Characters
from wikilda.text.tokens import AFTER_SPACE, BREAK, FLAGS, WORD, Bytes, Hashes, Offsets, Tokens, chain

_LONGEST = 10  # words of a name that the dictionary lacks: more are a list, or one name again and again
# Roles of tokens: no name; a name of its own; only next to one; a word that frames names; a month or day.
NO_NAME, A_NAME, BESIDE, TITLE, DATE = 0, 1, 2, 3, 4
_FUNCTION = 15  # 255ths: share of capitals of words that are never part of an unknown name (The, However, Two)
_OFTEN = 77  # of words that are names beside one at the start of a sentence: Bank of America
_UNSEEN = 254  # taken for that of words that articles do not have
_SURE = 247  # of words that are always names
_FIRST_NAME = 100  # of the occurrences of a first name: directly before another name
_SHORT, _HEADLINE, _DOMAIN = 3, 4, 4  # bytes of short words; long words of a headline; bytes of the end of a domain
_LOWERED = 4  # words that a text without capitals has at least
# Words whose case is known, from which on a sentence's first word that is missing is a name, or one beside another.
_KNOWN_WORDS, _SOME_WORDS = 20000, 1000

Roles = NDArray[np.uint8]


class Dictionary(NamedTuple):
    """Mention strings, and how often each is a link and occurs."""

    keys: NDArray[np.uint64]
    values: NDArray[np.int32]
    linked: NDArray[np.uint32]
    occurrences: NDArray[np.uint32]
    lower: NDArray[np.bool_]  # whether a list of entities has the string in lower case; or nothing


class Words(NamedTuple):
    """What is known about words: those that frame names, and how articles write words."""

    frames: HashTable
    meaningful: HashTable  # words of articles that are neither frequent nor rare
    cases: WordCases
    capital_nouns: bool  # whether the language writes all nouns with a capital


class Limits(NamedTuple):
    """The least link probabilities, by what a string's capitals say; the least shares of capitals of words."""

    capitalised: float
    unclear: float
    part: float
    lower: float
    uncased: float
    unknown: float  # the link probability that names count with which the dictionary lacks
    name: int  # share of capitals of a word that is a name of its own, in 255ths
    first: int  # the same at the start of a sentence


class Text(NamedTuple):
    """The tokens of a text."""

    data: Bytes
    hashes: Hashes
    shapes: Shapes
    starts: Offsets
    ends: Offsets
    roles: Roles
    cases: NDArray[np.int16]  # share of capitals in 255ths, −1 where it is not known
    is_lower: bool  # whether the text is written without capitals


_HYPHEN = 0x2D
RARE = 9  # a kind of small word
NO_PARTS, PARTS_OF_UNCERTAIN, ALL_PARTS = 0, 1, 2  # which mentions have their parts proposed, too


@njit
def find_spans(
    tokens: Tokens, table: Characters, known: Dictionary, words: Words, limits: Limits, parts: int
) -> Offsets:
    """Return the spans of the mentions in a text, in bytes and then in code points: four columns.

    They do not overlap, but for the parts of a mention, which follow it.
    """
    data, hashes, starts, ends = tokens
    count = len(hashes)
    shapes = shape_all(data, hashes, starts, ends, count, table)
    cases = np.full(count, np.int16(-1))
    roles = np.zeros(count, np.uint8)
    text = Text(
        data=data,
        hashes=hashes,
        shapes=shapes,
        starts=starts,
        ends=ends,
        roles=roles,
        cases=cases,
        is_lower=_is_lower(shapes),
    )
    _assign_roles(text, words, known, limits)
    found = _follow(_best_set(text, known, limits, _runs(text, words, known, limits), count), count)
    if parts != NO_PARTS:
        found = _with_parts(text, found, known, limits, parts)
    spans = np.empty((len(found), 4), np.int64)
    for span in range(len(found)):
        spans[span, 0], spans[span, 1] = starts[found[span, 0]], ends[found[span, 1] - 1]
    _to_code_points(data, spans)
    return spans


@bare
def _is_lower(shapes: Shapes) -> bool:
    lower = 0
    for shape in shapes:
        if shape & SHAPE >= CAPITAL:
            return False
        lower += shape & SHAPE == LOWER
    return lower >= _LOWERED


@bare
def _assign_roles(text: Text, words: Words, known: Dictionary, limits: Limits) -> None:
    """Decide the role of each capitalised word, by the rest of the text and by how articles write it."""
    hashes, shapes, roles, cases = text.hashes, text.shapes, text.roles, text.cases
    headline: bool = False
    for at in range(len(hashes)):
        if shapes[at] & FIRST:
            headline = _is_headline(text, at)
        if not hashes[at] & WORD or (shapes[at] & SHAPE < CAPITAL and not text.is_lower):
            continue
        key = hashes[at] & ~FLAGS
        number = lookup(words.cases.table, key)
        cases[at] = words.cases.capital[number] if number >= 0 else -1
        kind = lookup(words.frames, key)
        if kind == CALENDAR:
            roles[at] = DATE
        elif shapes[at] & SHAPE < CAPITAL or shapes[at] & SHOUTED:
            continue
        elif 0 < kind < PARTICLE:
            inside = _is_after_first_name(text, words, at) and (kind == HONORIFIC or not _is_before_name(text, at))
            roles[at] = A_NAME if inside else TITLE  # Sacha Baron Cohen, Stephen King
        else:
            roles[at] = _role(text, words, known, limits, at, headline)


@bare
def _is_headline(text: Text, first: int) -> bool:
    """Whether a sentence, from its first word on, has capitals on all of its long words: they say little there."""
    capitals = 0
    for at in range(first, len(text.hashes)):
        if text.hashes[at] == BREAK or (text.shapes[at] & FIRST and at > first):
            break
        if text.hashes[at] & WORD and text.ends[at] - text.starts[at] > _SHORT:
            if text.shapes[at] & SHAPE == LOWER:
                return False
            capitals += text.shapes[at] & SHAPE >= CAPITAL
    return capitals >= _HEADLINE


@bare
def _role(text: Text, words: Words, known: Dictionary, limits: Limits, at: int, headline: bool) -> int:
    """The role of a capitalised word that is in no list."""
    shape, case = text.shapes[at], text.cases[at]
    if shape & INITIAL and not _is_abbreviated(text, at):
        return NO_NAME
    if shape & SHAPE != UPPER and _is_glued(text, at):
        return BESIDE  # One.Tel, Cable & Wireless
    if 0 <= case < _FUNCTION and shape & SHAPE != UPPER:
        # Within a sentence, a rare word has its capital from a name: Leisure Garments.
        return NO_NAME if headline or shape & FIRST or _is_frequent(text, words, at) else BESIDE
    if words.capital_nouns:
        number = lookup(words.cases.table, text.hashes[at] & ~FLAGS)
        is_first_name = number >= 0 and words.cases.before[number] >= _FIRST_NAME
        return A_NAME if (case < 0 or is_first_name) and not shape & COMMON else BESIDE
    if shape & FIRST:
        if shape & COMMON:
            return NO_NAME
        if shape & (NAME | INITIAL):
            return A_NAME
        if case < 0 and shape & SHAPE != UPPER:
            seen = len(words.cases.capital)
            if seen >= _KNOWN_WORDS or (seen >= _SOME_WORDS and _find(text.hashes, at, at + 1, known) >= 0):
                return A_NAME
            return BESIDE if seen >= _SOME_WORDS else NO_NAME
        if case >= limits.first or shape & SHAPE == UPPER:
            return A_NAME
        return BESIDE if case >= _OFTEN else NO_NAME
    if shape & SHAPE == UPPER:
        return A_NAME
    return A_NAME if (_UNSEEN if case < 0 else case) >= limits.name else BESIDE


@bare
def _is_frequent(text: Text, words: Words, at: int) -> bool:
    """Whether a word is so frequent in the wiki's language that it says nothing of a topic."""
    key = text.hashes[at] & ~FLAGS
    return bool(lookup(words.cases.table, key) >= 0 and lookup(words.meaningful, key) < 0)


@bare
def _is_apart(text: Text, at: int) -> bool:
    return bool(is_apart(text.data, text.hashes, text.starts, text.ends, at))


@bare
def _is_handle(text: Text, at: int) -> bool:
    """Whether `@` or `#` is directly before a word: no other word belongs to such a name."""
    if at == 0 or text.hashes[at] & AFTER_SPACE or text.hashes[at - 1] == BREAK:
        return False
    return bool(text.data[text.starts[at - 1]] in (0x40, 0x23))


@bare
def _is_abbreviated(text: Text, at: int) -> bool:
    """Whether a full stop or an apostrophe follows directly: `J. Smith`, `O'Neill`."""
    if at + 1 >= len(text.hashes) or text.hashes[at + 1] == BREAK or text.hashes[at + 1] & AFTER_SPACE:
        return False
    mark = text.data[text.starts[at + 1]]
    letter = at + 2 < len(text.hashes) and text.shapes[at + 2] & SHAPE >= CAPITAL
    return bool(mark == 0x2E or (letter and mark in (0x27, 0xE2, 0x2D, 0x26)))


@bare
def _is_glued(text: Text, at: int) -> bool:
    """Whether a full stop without spaces, or an ampersand, joins a word and the next, which has a capital."""
    if at + 2 >= len(text.hashes) or text.hashes[at + 1] & WORD or text.hashes[at + 1] == BREAK:
        return False
    if text.shapes[at + 2] & SHAPE < CAPITAL:
        return False
    mark, spaces = text.data[text.starts[at + 1]], text.hashes[at + 1] & AFTER_SPACE > 0
    return bool(mark == 0x26 or (mark == 0x2E and not spaces and not text.hashes[at + 2] & AFTER_SPACE))


@bare
def _is_after_first_name(text: Text, words: Words, at: int) -> bool:
    if at == 0 or text.roles[at - 1] != A_NAME or text.cases[at - 1] < _SURE or _is_apart(text, at):
        return False
    number = lookup(words.cases.table, text.hashes[at - 1] & ~FLAGS)
    return bool(number >= 0 and words.cases.before[number] >= _FIRST_NAME)


@bare
def _is_before_name(text: Text, at: int) -> bool:
    after = at + 1
    return bool(after < len(text.hashes) and text.shapes[after] & SHAPE >= CAPITAL and not text.shapes[after] & FIRST)


@inner
def _runs(text: Text, words: Words, known: Dictionary, limits: Limits) -> NDArray[np.int32]:
    """By token that a run of names begins with: where it ends, negative if it is a name without doubt; else itself."""
    count = len(text.hashes)
    ends = np.empty(count, np.int32)
    for at in range(count):
        ends[at] = at
    at = 0
    while at < count:
        if text.roles[at] != A_NAME and text.roles[at] != BESIDE:
            at += 1
            continue
        end, size, names = at + 1, 1, int(text.roles[at] == A_NAME)
        joint = -1  # a small word that is frequent in texts, after a common noun
        while end < count and text.hashes[end] != BREAK and not _is_apart(text, end) and not _is_handle(text, end - 1):
            if _is_run_word(text, end) and not text.shapes[end] & FIRST:
                size += 1
                names += text.roles[end] == A_NAME
                end += 1
            elif _joins(text, end):
                end += 1
            elif _linked(text, words, known, limits, end):
                if joint < 0 and _is_noun(text, end - 1) and _small_kind(text, words, end) in (PARTICLE, PURPOSE):
                    joint = end
                end = _linked(text, words, known, limits, end)
            elif end == at + 1 and _is_domain(text, end):
                size, end = size + 1, end + 2
                break
            else:
                break
        # Where nouns have capitals, a single word is no name, unless a word such as `Frau` is before it.
        titled = at > 0 and text.roles[at - 1] == TITLE
        is_name = titled or (names > 0 and size > 1) if words.capital_nouns else names > 0 or size > 1
        if is_name and size <= _LONGEST and limits.unknown < 1:
            begin = at + 1 if size > 2 and _is_before_full_name(text, words, known, limits, at, end) else at
            ends[at] = begin
            ends[begin] = (
                -end if joint > begin and not _is_known_across(text, known, limits, begin, joint, end) else end
            )
        at = end
    if words.capital_nouns:
        _add_last_words(text, ends)
    _add_spelled_out(text, ends)
    return ends


@bare
def _is_known_across(text: Text, known: Dictionary, limits: Limits, begin: int, joint: int, end: int) -> bool:
    """Whether a part of a run is often a link: from before a small word to after it, or several words before it."""
    for first in range(begin, joint):
        for last in range(joint, end + 1):
            if last == joint + 1 or (last == joint and last - first < 2):
                continue
            mention = _find(text.hashes, first, last, known)
            if mention >= 0 and _link_probability(known, mention) >= limits.capitalised:
                return True
    return False


@bare
def _is_before_full_name(text: Text, words: Words, known: Dictionary, limits: Limits, at: int, end: int) -> bool:
    """Whether a run is a known name and a person's: `Hungarian Petra Mandula`, but not `Welsh Rugby Union`.

    The first is hardly ever before another name, and the others are never in lower case.
    """
    for token in range(at, end):
        if not text.hashes[token] & WORD or (0 <= text.cases[token] < _SURE and token > at):
            return False
    number = lookup(words.cases.table, text.hashes[at] & ~FLAGS)
    if number < 0 or words.cases.before[number] >= _FIRST_NAME or text.cases[at] < _SURE:
        return False
    mention = _find(text.hashes, at, at + 1, known)
    return bool(mention >= 0 and _link_probability(known, mention) >= limits.capitalised)


@inner
def _add_last_words(text: Text, ends: NDArray[np.int32]) -> None:
    """Where nouns have capitals, a single word is a name if a longer name of the text ends with it."""
    count = len(ends)
    keys = np.zeros(2 * count + 8, np.uint64)
    for at in range(count):
        if ends[at] > at + 1:
            keys[find_slot(keys, text.hashes[ends[at] - 1] | FLAGS)] = text.hashes[ends[at] - 1] | FLAGS
    for at in range(count):
        key = text.hashes[at] | FLAGS
        if ends[at] == at and _is_run_word(text, at) and keys[find_slot(keys, key)] == key:
            ends[at] = at + 1


@bare
def _add_spelled_out(text: Text, ends: NDArray[np.int32]) -> None:
    """Words before an acronym in parentheses whose initials it is are one name: `Growth and Opportunity Act (GOA)`."""
    for at in range(3, len(ends) - 1):
        if text.shapes[at] & SHAPE != UPPER or _mark(text, at - 1) != 0x28 or _mark(text, at + 1) != 0x29:
            continue
        end = at - 2 if _mark(text, at - 2) == 0x2C else at - 1
        start = _spelled_out(text, at, end)
        if end - start < 2:
            continue
        for token in range(start, end):
            ends[token] = token
        before = start - 1
        while before >= 0 and ends[before] == before:
            before -= 1
        if before >= 0 and start < ends[before] <= end:
            ends[before] = before
        ends[start] = -end


@bare
def _mark(text: Text, at: int) -> int:
    """The byte of a mark, 0 for a word or a break."""
    if at < 0 or text.hashes[at] & WORD or text.hashes[at] == BREAK:
        return 0
    return int(text.data[text.starts[at]])


@bare
def _spelled_out(text: Text, acronym: int, end: int) -> int:
    """Where the words begin that end with a token and whose capitals an acronym is; `end` if there are none."""
    at, letter, first = end, text.ends[acronym] - 1, text.starts[acronym]
    while at > 0 and letter >= first and end - at < _LONGEST:
        at -= 1
        if text.hashes[at] == BREAK or _is_apart(text, at + 1):
            return end
        if text.shapes[at] & SHAPE >= CAPITAL:
            if text.data[text.starts[at]] != text.data[letter]:
                return end
            letter -= 1
        elif at == end - 1:
            return end
    return at if letter < first else end


@bare
def _is_run_word(text: Text, at: int) -> bool:
    return bool(text.roles[at] == A_NAME or text.roles[at] == BESIDE)


@bare
def _joins(text: Text, at: int) -> bool:
    """Whether a mark is inside a name without spaces, or after an initial: `Jean-Paul`, `O'Neill`, `J. Smith`."""
    if at + 1 >= len(text.hashes) or text.hashes[at] & WORD or text.hashes[at] & AFTER_SPACE:
        return False
    if text.hashes[at] == BREAK or not _is_run_word(text, at + 1) or text.shapes[at + 1] & FIRST:
        return False
    if text.hashes[at + 1] & AFTER_SPACE:
        return bool(text.shapes[at - 1] & INITIAL > 0 and text.data[text.starts[at]] == 0x2E)
    mark = text.data[text.starts[at]]
    return bool(mark in (_HYPHEN, 0x27, 0x2E, 0x26, 0xE2))  # - ' . & ’


@bare
def _is_domain(text: Text, at: int) -> bool:
    """Whether the end of a domain follows a word: `Nfox.com`."""
    if at + 1 >= len(text.hashes) or text.hashes[at] & (WORD | AFTER_SPACE) or text.data[text.starts[at]] != 0x2E:
        return False
    short = 2 <= text.ends[at + 1] - text.starts[at + 1] <= _DOMAIN
    return bool(short and not text.hashes[at + 1] & AFTER_SPACE and text.shapes[at + 1] & SHAPE == LOWER)


@bare
def _linked(text: Text, words: Words, known: Dictionary, limits: Limits, at: int) -> int:
    """Where the name goes on after small words that join two of its words, or 0: `Mies van der Rohe`, `Abd-ul-Haq`."""
    if _mark(text, at) == _HYPHEN and at + 3 < len(text.hashes) and _mark(text, at + 2) == _HYPHEN:
        is_one: bool = text.shapes[at + 1] & SHAPE == LOWER and _is_run_word(text, at + 3)
        for token in range(at, at + 4):
            is_one = is_one and not text.hashes[token] & AFTER_SPACE
        if is_one:
            return at + 3
    if at + 2 < len(text.hashes) and _is_run_word(text, at + 2) and not text.shapes[at + 2] & FIRST:
        first, second = _small_kind(text, words, at), _small_kind(text, words, at + 1)
        if first == RARE and second == RARE:
            return at + 2
        if _is_noun(text, at - 1) and first in (PARTICLE, PURPOSE) and second >= PARTICLE:
            return at + 2
    return at + 1 if _links(text, words, known, limits, at) else 0


@bare
def _small_kind(text: Text, words: Words, at: int) -> int:
    """The kind of a word in lower case that may join two of a name, RARE if texts hardly have it but in names; or 0."""
    if not text.hashes[at] & WORD or not text.hashes[at] & AFTER_SPACE or text.shapes[at] & SHAPE != LOWER:
        return 0
    kind = lookup(words.frames, text.hashes[at] & ~FLAGS)
    if kind == PARTICLE and (text.ends[at] - text.starts[at] > 2 or not _is_frequent(text, words, at)):
        return RARE
    return kind if kind >= PARTICLE else 0


@bare
def _is_noun(text: Text, at: int) -> bool:
    """Whether articles write a word, which has a capital here, in lower case, too: `University of California`."""
    return bool(text.shapes[at] & SHAPE != UPPER and 0 <= text.cases[at] < _SURE)


@bare
def _links(text: Text, words: Words, known: Dictionary, limits: Limits, at: int) -> bool:
    """Whether a small word joins two of a name: `Bank of America`, `Vincent van Gogh`.

    A frequent one does so only after a word that is rarely a name of its own, not in `Johnson of Canada`.
    """
    if at + 1 >= len(text.hashes) or not _is_run_word(text, at + 1) or text.shapes[at + 1] & FIRST:
        return False
    if not text.hashes[at] & AFTER_SPACE or not text.hashes[at + 1] & AFTER_SPACE:
        return False
    if not text.hashes[at] & WORD:
        return bool(lookup(words.frames, text.hashes[at] & ~FLAGS) == PARTICLE)
    kind = _small_kind(text, words, at)
    if kind == RARE:
        return True
    if kind != PARTICLE and kind != PURPOSE:
        return False
    if _is_noun(text, at - 1):
        return True
    mention = _find(text.hashes, at - 1, at, known)
    return bool(kind == PARTICLE and mention >= 0 and _link_probability(known, mention) < limits.capitalised)


@inner
def _with_parts(text: Text, found: Offsets, known: Dictionary, limits: Limits, parts: int) -> Offsets:
    """Mentions of several tokens, each followed by the known names in it; in tokens."""
    inside = Limits(
        capitalised=limits.capitalised, unclear=limits.unclear, part=limits.capitalised, lower=limits.lower,
        uncased=limits.uncased, unknown=2.0, name=limits.name, first=limits.first,
    )  # fmt: skip
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
        is_sure = _is_known(text.hashes, first, last, known) and not _is_framed(text, first, last)
        if parts == PARTS_OF_UNCERTAIN and is_sure:
            continue
        count = last - first
        some = slice(first, last)
        part_text = Text(
            data=text.data, hashes=text.hashes[some], shapes=text.shapes[some], starts=text.starts[some],
            ends=text.ends[some], roles=text.roles[some], cases=text.cases[some], is_lower=text.is_lower,
        )  # fmt: skip
        no_runs = np.arange(count).astype(np.int32)
        inner_spans = _follow(_best_set(part_text, known, inside, no_runs, count - 1), count)
        for part in range(len(inner_spans)):
            spans[size, 0], spans[size, 1] = first + inner_spans[part, 0], first + inner_spans[part, 1]
            size += 1
    return spans[:size]


@bare
def _is_framed(text: Text, first: int, last: int) -> bool:
    """Whether a word at an end is in lower case or a number, or the first one frames names (`Sir Isaac Newton`)."""
    framed: bool = text.roles[first] == TITLE
    for at in (first, last - 1):
        framed |= text.hashes[at] & WORD > 0 and text.shapes[at] & SHAPE in (OTHER, LOWER)
    return framed


@bare
def _is_known(hashes: Hashes, first: int, last: int, known: Dictionary) -> bool:
    return _find(hashes, first, last, known) >= 0


@bare
def _find(hashes: Hashes, first: int, last: int, known: Dictionary) -> int:
    """The mention that tokens are, or −1."""
    sequence = BREAK
    for at in range(first, last):
        sequence = chain(sequence, hashes[at])
    slot = find_slot(known.keys, sequence)
    return int(known.values[slot]) if known.keys[slot] == sequence else -1


@inner
def _best_set(
    text: Text, known: Dictionary, limits: Limits, runs: NDArray[np.int32], longest: int
) -> NDArray[np.int32]:
    """Choose matches that do not overlap and have the largest sum of tokens · link probability.

    `before[j]` is where the match begins that ends with token j in the best set of matches up to there, or −1. No match
    is longer than `longest` tokens.
    """
    hashes, count = text.hashes, len(text.hashes)
    best = np.zeros(count + 1)
    before = np.full(count + 1, -1, np.int32)
    never_lower = limits.lower > 1 and not text.is_lower and len(known.lower) == 0
    for start in range(count):
        if best[start] >= best[start + 1]:
            best[start + 1] = best[start]
            before[start + 1] = -1
        if not hashes[start] & WORD or (never_lower and text.shapes[start] & SHAPE == LOWER):
            continue
        end = runs[start]
        if end > start or end < 0:
            chance = limits.unknown if end > 0 else 1.0
            end = abs(end)
            value = best[start] + chance * (2 * (end - start) - 1)
            if value > best[end]:
                best[end] = value
                before[end] = start
        sequence = BREAK
        at = start
        while at < count and at - start < longest and hashes[at] != BREAK and (at == start or not _is_apart(text, at)):
            sequence = chain(sequence, hashes[at])
            slot = find_slot(known.keys, sequence)
            if known.keys[slot] != sequence:
                break
            at += 1
            mention = known.values[slot]
            if mention < 0:
                continue
            chance = _link_probability(known, mention)
            needed = _needed(text, start, at, limits)
            if len(known.lower) and known.lower[mention]:
                needed = min(needed, limits.capitalised)
            if chance < needed or _is_possessive(text, known, start, at, mention):
                continue
            value = best[start] + chance * (2 * (at - start) - 1)
            if value > best[at]:
                best[at] = value
                before[at] = start
    return before


@bare
def _link_probability(known: Dictionary, mention: int) -> float:
    chance: float = (known.linked[mention] + 0.5) / (known.occurrences[mention] + 1.0)
    return chance


@bare
def _is_possessive(text: Text, known: Dictionary, start: int, end: int, mention: int) -> bool:
    """Whether a match is another name with `'s`: the wiki links the name without it more often."""
    if end - start < 3 or text.ends[end - 1] - text.starts[end - 1] != 1:
        return False
    last, mark = text.data[text.starts[end - 1]], text.data[text.starts[end - 2]]
    if last != 0x73 or text.hashes[end - 1] & AFTER_SPACE or (mark != 0x27 and mark != 0xE2):
        return False
    plain = _find(text.hashes, start, end - 2, known)
    return bool(plain >= 0 and known.linked[plain] > known.linked[mention])


@bare
def _needed(text: Text, start: int, end: int, limits: Limits) -> float:
    """The link probability that a match needs, by what its capitals say."""
    shapes, roles, cases = text.shapes, text.roles, text.cases
    shape = shapes[start] & SHAPE
    if shape == UNCASED:
        return limits.uncased
    if text.is_lower:
        return min(limits.lower, _needed_in_lower_case(text, start, end, limits))
    capitals = names = common = dates = 0
    for token in range(start, end):
        is_capital = shapes[token] & SHAPE >= CAPITAL
        capitals += is_capital
        names += is_capital and shapes[token] & NAME > 0
        common += is_capital and shapes[token] & COMMON > 0
        dates += roles[token] == DATE
    if capitals == 0 or shape == LOWER:
        return limits.lower
    if dates == end - start:
        return 2.0
    if shapes[start] & SHOUTED:
        if common == capitals:
            return limits.lower
        return limits.capitalised if names == capitals else limits.unclear
    if shapes[start] & FIRST and capitals == 1:
        if common == capitals:
            return limits.lower
        if names < capitals and 0 <= cases[start] < limits.first:
            return limits.part if end - start == 1 and cases[start] >= _FUNCTION else limits.lower
        needed = limits.capitalised if names == capitals else limits.unclear
    elif end - start == 1 and shape != UPPER and 0 <= cases[start] < _FUNCTION:
        return limits.lower
    elif end - start == 1 and (roles[start] == TITLE or (shape != UPPER and 0 <= cases[start] < limits.name)):
        return limits.part
    else:
        needed = limits.capitalised
    return max(needed, limits.part) if _has_neighbour(text, start, end) else needed


@bare
def _needed_in_lower_case(text: Text, start: int, end: int, limits: Limits) -> float:
    """The link probability that a match needs in a text without capitals: articles write its words with capitals."""
    total = words = 0
    for at in range(start, end):
        if text.roles[at] == DATE:
            return 2.0
        if text.hashes[at] & WORD:
            words += 1
            total += max(int(text.cases[at]), 0)
    if words == 1:
        return limits.capitalised if total >= _SURE else 2.0
    return limits.capitalised if total >= limits.first * words else 2.0


@bare
def _has_neighbour(text: Text, start: int, end: int) -> bool:
    """Whether a word that may be part of the same name is next to a match."""
    before = start > 0 and _is_run_word(text, start - 1) and not _is_apart(text, start)
    after = end < len(text.hashes) and _is_run_word(text, end) and not _is_apart(text, end)
    joined = (start > 1 and _mark(text, start - 1) == 0x26 and _is_run_word(text, start - 2)) or _is_glued(
        text, end - 1
    )
    return bool(before or (after and not text.shapes[end] & FIRST) or joined)


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


@bare
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

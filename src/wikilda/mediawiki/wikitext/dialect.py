"""A wiki's dialect of wikitext as lookup tables for the kernels: tags, prefixes, entities, link trails."""

from html.entities import name2codepoint
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import find
from wikilda._core.jit import bare, inlined, int64, njit
from wikilda.mediawiki.languages import SISTERS, language_prefixes
from wikilda.mediawiki.site import CATEGORY, FILE, MAIN, Site
from wikilda.mediawiki.wikitext._characters import (
    AMPERSAND,
    DIGIT_0,
    DIGIT_9,
    HASH,
    LOWER_A,
    LOWER_F,
    LOWER_X,
    NEWLINE,
    SEMICOLON,
    SPACE,
    TAB,
    UNDERSCORE,
)
from wikilda.mediawiki.wikitext._output import Rendered, put, put_point
from wikilda.mediawiki.wikitext.templates import FIRST, RULES
from wikilda.text.characters import TABLE_SIZE, characters
from wikilda.text.tokens import Bytes, add_point, as_bytes, decode, mix

# The effect of a tag on its content.
DROPPED, LITERAL, ASIDE, BREAKING, FORMATTING, VANISHING = 1, 2, 3, 4, 5, 6
# The kind of a link by its prefix.
TO_MAIN, TO_FILE, TO_CATEGORY, TO_LANGUAGE, ELSEWHERE = 0, 1, 2, 3, 4

TAGS = {
    DROPPED: "math chem ce gallery syntaxhighlight source timeline score graph templatedata imagemap hiero mapframe "
    "maplink categorytree inputbox includeonly templatestyles section indicator references style script charinsert rss "
    "dynamicpagelist mapdata languages tvar quiz listing",
    LITERAL: "nowiki pre",
    ASIDE: "ref table",
    BREAKING: "br p div li ul ol dl dt dd hr tr td th caption h1 h2 h3 h4 h5 h6 blockquote center poem",
    FORMATTING: "b i u s em strong small big sub sup span font tt code kbd samp var cite abbr dfn del ins strike bdi "
    "bdo q ruby rb rp rt rtc wbr time data mark a img tbody thead tfoot col colgroup nobr",
    VANISHING: "noinclude onlyinclude translate",
}
_SPACES = (0xA0, 0x2002, 0x2003, 0x2009)
_TRAIL_SIZE = 0x3000

# Seeds that differ in all bits: with only the lowest different, the tag `td` would be the prefix `sd`.
TAG, PREFIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
ENTITY, MARK = np.uint64(0x94D049BB133111EB), np.uint64(0xD6E8FEB86659FD93)
TEMPLATE = np.uint64(0xA0761D6478BD642F)


class Lookup(NamedTuple):
    """Sorted hashes of names, with their values."""

    keys: NDArray[np.uint64]
    values: NDArray[np.int64]


class Dialect(NamedTuple):
    """The scanner's tables for a wiki."""

    lower: NDArray[np.uint32]
    upper: NDArray[np.uint32]
    names: Lookup  # tags, prefixes, entities and inline templates, each kind hashed with a seed of its own
    trail: NDArray[np.bool_]
    first_letter_case: bool


@njit
def hash_name(seed: np.uint64, text: Bytes, start: int, end: int, lower: NDArray[np.uint32]) -> np.uint64:
    """Hash a name, ignoring case and outer spaces; underscores are spaces."""
    value = seed
    pending = False
    while start < end:
        point, size = decode(text, start)
        start += size
        if point == SPACE or point == UNDERSCORE or point == TAB or point == NEWLINE:
            pending = value != seed
            continue
        if pending:
            value = add_point(value, 32)
            pending = False
        value = add_point(value, int64(lower[point]) if point < TABLE_SIZE else point)
    return mix(value)


@njit
def hash_exact(seed: np.uint64, text: Bytes, start: int, end: int) -> np.uint64:
    """Hash bytes without changes."""
    value = seed
    for at in range(start, end):
        value = add_point(value, int64(text[at]))
    return mix(value)


@bare
def find_name(lookup: Lookup, key: np.uint64) -> int:
    """Return the index of a name in the table, or -1."""
    return int64(find(lookup.keys, 0, len(lookup.keys), key))


def mark_key(name: str) -> int:
    """Return the hash under which the scanner reports a template, a category or a magic word."""
    return _key(MARK, name)


def _key(seed: np.uint64, name: str) -> int:
    source = as_bytes(name)
    return int(hash_name(seed, source, 0, len(source), characters().lower))


def dialect_of(site: Site, *, transcluded: bool = False) -> Dialect:
    """The tables for one wiki; `transcluded` reads a template's page as the pages that use it see it."""
    trail = np.zeros(_TRAIL_SIZE, np.bool_)
    trail[[ord(letter) for letter in site.words.trail if ord(letter) < _TRAIL_SIZE]] = True
    names = {_key(TAG, name): kind for kind, names in TAGS.items() for name in names.split()}
    if transcluded:
        names |= {_key(TAG, "includeonly"): VANISHING, _key(TAG, "noinclude"): DROPPED}
    names |= {_key(PREFIX, name): kind for name, kind in _prefixes(site).items()}
    names |= {_key(TEMPLATE, name): rule for rule, listed in RULES.items() for name in listed.split("|")}
    names |= {_key(TEMPLATE, f"{kind}-{code}"): FIRST for kind in ("lang", "ipa") for code in language_prefixes()}
    pairs = sorted((names | _entities()).items())
    lookup = Lookup(np.array([k for k, _ in pairs], np.uint64), np.array([v for _, v in pairs], np.int64))
    return Dialect(
        lower=characters().lower,
        upper=characters().upper,
        names=lookup,
        trail=trail,
        first_letter_case=site.first_letter_case,
    )


def _prefixes(site: Site) -> dict[str, int]:
    kinds = {FILE: TO_FILE, CATEGORY: TO_CATEGORY, MAIN: TO_MAIN}
    found = {name: kinds.get(number, ELSEWHERE) for name, number in site.namespaces.items()}
    return dict.fromkeys(language_prefixes(), TO_LANGUAGE) | dict.fromkeys(SISTERS, ELSEWHERE) | found


def _entities() -> dict[int, int]:
    # Names of entities may differ only by case (&Dagger; and &dagger;), so they are hashed without changes.
    found = {}
    for name, point in (name2codepoint | {"apos": 39}).items():
        source = as_bytes(name)
        found[int(hash_exact(ENTITY, source, 0, len(source)))] = 32 if point in _SPACES else point
    return found


@inlined
def entity(source: Bytes, at: int, size: int, dialect: Dialect, out: Rendered) -> int:
    """Write the character of the entity at `at`, or the `&`, and return where to go on."""
    point, after = entity_at(source, at, size, dialect)
    if after == at:
        put(out, AMPERSAND)
        return at + 1
    if point < SPACE or 0xD800 <= point < 0xE000 or point == 0xA0:
        point = SPACE
    put_point(out, point)
    return after


@bare
def entity_at(source: Bytes, at: int, size: int, dialect: Dialect) -> tuple[int, int]:
    """Return the character of an entity and its end; (0, at) if it is none."""
    after = at + 1
    while after < size and after - at < 12 and source[after] != SEMICOLON:
        after += 1
    if after >= size or source[after] != SEMICOLON or after < at + 3:
        return 0, at
    if source[at + 1] == HASH:
        point = _number(source, at + 2, after)
        return (point, after + 1) if 0 < point < 0x110000 else (0, at)
    found = find_name(dialect.names, hash_exact(ENTITY, source, at + 1, after))
    return (dialect.names.values[found], after + 1) if found >= 0 else (0, at)


@bare
def _number(source: Bytes, start: int, end: int) -> int:
    base = 10
    if start < end and (source[start] | 32) == LOWER_X:
        base = 16
        start += 1
    value = 0 if start < end else -1
    for at in range(start, end):
        digit = hex_digit(source[at])
        if not 0 <= digit < base:
            return -1
        value = value * base + digit
    return value


@bare
def hex_digit(byte: int) -> int:
    """Return the value of a hexadecimal digit, or -1."""
    if DIGIT_0 <= byte <= DIGIT_9:
        return int64(byte) - DIGIT_0
    if LOWER_A <= (byte | 32) <= LOWER_F:
        return (int64(byte) | 32) - 87
    return -1

"""HTML entities: `&ndash;`, `&#8211;`, `&#x2013;`."""

from wikilda._core.jit import inner, int64
from wikilda.mediawiki.wikitext._output import SPACE, Rendered, put, put_point
from wikilda.mediawiki.wikitext.dialect import ENTITY, Dialect, find_name, hash_exact
from wikilda.text.tokens import Bytes


@inner
def entity(source: Bytes, at: int, size: int, dialect: Dialect, out: Rendered) -> int:
    """Write what the `&` at `at` begins; returns where to go on."""
    point, after = entity_at(source, at, size, dialect)
    if after == at:
        put(out, 38)
        return at + 1
    if point < 32 or 0xD800 <= point < 0xE000 or point == 0xA0:
        point = SPACE
    put_point(out, point)
    return after


@inner
def entity_at(source: Bytes, at: int, size: int, dialect: Dialect) -> tuple[int, int]:
    """The character of an entity, and where it ends; (0, at) when it is none."""
    after = at + 1
    while after < size and after - at < 12 and source[after] != 59:
        after += 1
    if after >= size or source[after] != 59 or after < at + 3:
        return 0, at
    if source[at + 1] == 35:
        point = _number(source, at + 2, after)
        return (point, after + 1) if 0 < point < 0x110000 else (0, at)
    found = find_name(dialect.names, hash_exact(ENTITY, source, at + 1, after))
    return (dialect.names.values[found], after + 1) if found >= 0 else (0, at)


@inner
def _number(source: Bytes, start: int, end: int) -> int:
    base = 10
    if start < end and (source[start] | 32) == 120:
        base = 16
        start += 1
    value = 0 if start < end else -1
    for at in range(start, end):
        digit = hex_digit(source[at])
        if not 0 <= digit < base:
            return -1
        value = value * base + digit
    return value


@inner
def hex_digit(byte: int) -> int:
    """The value of a hexadecimal digit, or -1."""
    if 48 <= byte <= 57:
        return int64(byte) - 48
    if 97 <= (byte | 32) <= 102:
        return (int64(byte) | 32) - 87
    return -1

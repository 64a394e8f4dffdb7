"""How made-up words and names are spelled: a number becomes syllables, no two numbers the same."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.generate.chance import Shuffle, mixed

_CONSONANTS = ["b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "dr", "kl", "st", "sh"]
_VOWELS = "aeiou"
_ACCENTED = ["né", "lé", "kö", "mü", "ša"]
_ENDINGS = {
    "word": ("", "n", "r", "s", "l", "t", "m", "d"),
    "given": ("us", "ia", "ea", "io", "ael", "ien", "uel", "ay"),  # two vowels meet: never a word
    "surname": ("son", "berg", "ski", "man", "nez", "ton", "ley", "sen"),
    "place": ("ville", "burgh", "stadt", "field", "haven", "wick", "ford", "dale"),
}
# The commonest words are real ones, which makes texts look like texts.
_COMMON = """
the of and in to a was is as for on with by that it from at his an he are were which be this has also had not its or but
first their one new after who been they two her she during when other into all there may years over only up most between
city used under world known where such then than would about part many being
"""
COMMON = tuple(_COMMON.split())


def joined(*parts: pa.Array | str) -> pa.Array:
    """Strings put together element by element."""
    return pc.binary_join_element_wise(*parts, "")


def spelled(count: int, kind: str) -> pa.Array:
    """The words with numbers 0 … count-1; low numbers are short."""
    numbers = np.arange(count, dtype=np.int64)
    parts, first, syllables = [], 0, 2 if kind == "word" else 1
    base = len(_SYLLABLES)
    while first < count:
        size = base**syllables
        shuffle = Shuffle(size, len(kind))
        parts.append(_syllables(shuffle(numbers[first : first + size] - first), syllables))
        first, syllables = first + size, syllables + 1
    stems = pa.concat_arrays(parts) if parts else pa.array([], pa.string())
    endings = pa.array(_ENDINGS[kind])
    return joined(stems, endings.take(pa.array(mixed(numbers, 77) % np.uint64(len(endings)))))


def vocabulary(count: int) -> pa.Array:
    """The words of a language, commonest first."""
    return pa.concat_arrays([pa.array(COMMON), spelled(max(0, count - len(COMMON)), "word")])[:count]


def _syllables(numbers: np.ndarray, count: int) -> pa.Array:
    parts = []
    for _ in range(count):
        parts.append(_SYLLABLES.take(pa.array(numbers % len(_SYLLABLES))))
        numbers = numbers // len(_SYLLABLES)
    return joined(*parts)


_SYLLABLES = pa.array([c + v for c in _CONSONANTS for v in _VOWELS] + _ACCENTED)

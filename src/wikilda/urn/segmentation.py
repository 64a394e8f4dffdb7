"""Which of the spans that overlap are mentions: decided by what they were drawn to mean.

The detector proposes names, and after a name that the dictionary lacks (`Israeli Minister David Levy`) the known names
in it. All are drawn from one urn. A name that has a meaning explains its tokens, and beats its parts. One that has none
is a mention, too, so that no part of it is linked (`Vermont Central Hospital` is not Vermont), unless it ends with a
full name that has a meaning, or is joined by a small word (`President of Russia`): then its parts are the mentions that
have one.
"""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Whole, inner, njit
from wikilda.text.offsets import Spans

_ONE_WORD, _SEVERAL, _JOINED = 0, 1, 2

Offsets = NDArray[np.int64]


def segment(text: str, spans: Spans, unknown: NDArray[np.bool_], *, nested: bool = False) -> NDArray[np.bool_]:
    """Which spans are mentions, given which are NIL; parts follow the span that they are in.

    With `nested`, all names are mentions, and those of their parts that have a meaning.
    """
    places = np.array(spans, np.int64).reshape(-1, 2)
    forms = np.array([_form(text[start:end]) for start, end in spans], np.int64)
    return _segment(places[:, 0].copy(), places[:, 1].copy(), forms, unknown, nested)


def _form(name: str) -> int:
    if " " not in name:
        return _ONE_WORD
    return _JOINED if any(word[:1].islower() for word in name.split()) else _SEVERAL


@njit
def _segment(
    starts: Offsets, ends: Offsets, forms: Offsets, unknown: NDArray[np.bool_], nested: bool
) -> NDArray[np.bool_]:
    kept = np.zeros(len(starts), np.bool_)
    name: Whole = np.int64(0)
    while name < len(starts):
        after = name + 1
        while after < len(starts) and starts[after] < ends[name]:
            after += 1
        apart = not nested and _falls_apart(name, after - 1, ends, forms, unknown)
        kept[name] = not apart
        if apart or nested:
            for part in range(name + 1, after):
                kept[part] = not unknown[part]
        name = after
    return kept


@inner
def _falls_apart(name: Whole, last: Whole, ends: Offsets, forms: Offsets, unknown: NDArray[np.bool_]) -> bool:
    """Whether a name without a meaning is joined by a small word, or ends with a part of several words that has one."""
    if last == name or not unknown[name] or unknown[last]:
        return False
    return bool(forms[name] == _JOINED or (forms[last] != _ONE_WORD and ends[last] == ends[name]))

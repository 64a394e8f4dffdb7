"""Bytes → text, with the place of what is no text."""

import re

from wikilda._core.errors import InputError
from wikilda.documents.reading.settings import REPLACE, ReadSettings

_ESCAPED = re.compile("[\udc80-\udcff]")


def decode(data: bytes, settings: ReadSettings) -> str:
    """UTF-8, exactly as it stands; with the policy `replace` bad bytes become U+FFFD."""
    nul = data.find(b"\0")
    if nul >= 0:
        raise InputError(f"has a zero byte at {nul:,}: not text in UTF-8, but a binary file or UTF-16.")
    try:
        return data.decode("utf-8", "replace" if settings.invalid == REPLACE else "strict")
    except UnicodeDecodeError as error:
        raise InputError(
            f"is not UTF-8 ({error.reason} at byte {error.start:,}). --invalid replace reads on, with U+FFFD there."
        ) from None


def unescape(text: str, settings: ReadSettings) -> str:
    """Text that was decoded with `surrogateescape`, held to the same policy."""
    bad = _ESCAPED.search(text)
    if bad is None:
        return text
    if settings.invalid == REPLACE:
        return _ESCAPED.sub("\ufffd", text)
    raise InputError(f"is not UTF-8 (at character {bad.start():,}). --invalid replace reads on, with U+FFFD there.")


def too_large(settings: ReadSettings) -> InputError:
    """A document that nobody can have meant as one."""
    return InputError(
        f"is larger than {settings.largest:,} bytes. Split it into documents, or say --largest with a larger number."
    )

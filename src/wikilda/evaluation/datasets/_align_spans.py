"""Where annotations are in their text. Offsets in the wild may count UTF-16 units, or be off by some characters."""

NEAR = 100  # how far from its offset a mention is looked for


def place(text: str, start: int, end: int, surface: str) -> tuple[int, int] | None:
    """The span of an annotation: where it says, if its string is there, else where that is nearby; or nowhere."""
    if 0 <= start < end <= len(text) and (not surface or text[start:end].split() == surface.split()):
        return start, end  # a line may end inside a mention
    counted = _from_utf16(text, start, end)
    if counted and text[slice(*counted)] == surface:
        return counted
    if not surface:
        return None
    found = _occurrences(text, surface, start)
    if not found:
        return None
    nearest = min(found, key=lambda at: (abs(at - start), at))
    return nearest, nearest + len(surface)


def _from_utf16(text: str, start: int, end: int) -> tuple[int, int] | None:
    units = text.encode("utf-16-le", "surrogatepass")
    if not 0 <= start < end <= len(units) // 2:
        return None
    before = len(units[: 2 * start].decode("utf-16-le", "replace"))
    return before, before + len(units[2 * start : 2 * end].decode("utf-16-le", "replace"))


def _occurrences(text: str, surface: str, start: int) -> list[int]:
    first, last = max(0, start - NEAR), start + NEAR
    found, at = [], text.find(surface, first, last + len(surface))
    while at >= 0:
        found.append(at)
        at = text.find(surface, at + 1, last + len(surface))
    return found

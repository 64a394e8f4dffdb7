"""Wikitext → plain text, links and marks: a scanner made for the purpose, compiled, in three passes.

`docs/method/wikitext.md` has the rules.
"""

from wikilda.mediawiki.wikitext._output import (
    ACCOUNT,
    ANCHOR_END,
    ANCHOR_START,
    CATEGORY_MARK,
    IN_ASIDE,
    MAGIC_MARK,
    TARGET_END,
    TARGET_START,
    TEMPLATE_MARK,
)  # fmt: skip
from wikilda.mediawiki.wikitext._scan import Page, Scanned, read_page, scan
from wikilda.mediawiki.wikitext.dialect import Dialect, dialect_of, mark_key

__all__ = [
    "ACCOUNT", "ANCHOR_END", "ANCHOR_START", "CATEGORY_MARK", "IN_ASIDE", "MAGIC_MARK", "TARGET_END", "TARGET_START",
    "TEMPLATE_MARK", "Dialect", "Page", "Scanned", "dialect_of", "mark_key", "read_page", "scan",
]  # fmt: skip

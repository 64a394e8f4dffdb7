"""Wikitext → plain text, links and marks: a scanner made for the purpose, compiled, in three passes.

`docs/wikitext.md` has the rules and what was measured before choosing this over a parsing library.
"""

from wikilda.wiki.wikitext.dialect import Dialect, dialect_of, mark_key
from wikilda.wiki.wikitext.scan import Page, Scanned, read_page, scan

__all__ = ["Dialect", "Page", "Scanned", "dialect_of", "mark_key", "read_page", "scan"]

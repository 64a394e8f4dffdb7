"""Suggestions of missing links in a wiki or a folder of notes, learned from the existing links."""

from wikilda.suggestions.missing_links import Suggestion, Suggestions, suggest

__all__ = ["Suggestion", "Suggestions", "suggest"]

"""Links that the pages of a wiki or a folder of notes lack, learned from the links that they have."""

from wikilda.suggestions.missing_links import Suggestion, Suggestions, suggest

__all__ = ["Suggestion", "Suggestions", "suggest"]

"""The rules by which a wiki becomes knowledge; the paper's values are the defaults."""

from dataclasses import dataclass

from wikilda.errors import SettingsError
from wikilda.settings import setting


@dataclass(frozen=True)
class BuildSettings:
    """Settings of `wikilda build`. An empty list of words means: those of the wiki's own language."""

    min_text: int = setting(50, "a topic's main text is longer than this many characters")
    keep_disambiguation: bool = setting(False, "let disambiguation pages be topics, too")
    keep_lists: bool = setting(False, "let list pages be topics, too")
    disambiguation_templates: tuple[str, ...] = setting((), "templates that mark a disambiguation page")
    disambiguation_categories: tuple[str, ...] = setting((), "categories of disambiguation pages")
    disambiguation_suffixes: tuple[str, ...] = setting((), "endings of disambiguation pages' titles")
    list_prefixes: tuple[str, ...] = setting((), "beginnings of list pages' titles")
    redirect_words: tuple[str, ...] = setting((), "words after # that make a page a redirect")
    aside_links: bool = setting(True, "count links in templates, tables, references and captions")
    min_mention: int = setting(2, "mention strings have at least this many characters")
    topics_per_mention: int = setting(0, "keep only the best topics of a mention (0: all)")
    max_word_share: float = setting(0.05, "drop words that occur in more than this share of the topics")
    min_word_topics: int = setting(3, "drop words that occur in fewer topics")
    topics_per_word: int = setting(500, "keep only the best topics of a word (0: all)")

    def __post_init__(self) -> None:
        if not 0 < self.max_word_share <= 1:
            raise SettingsError(f"max_word_share must be over 0 and at most 1, not {self.max_word_share}")
        for name in ("min_text", "min_mention", "topics_per_mention", "min_word_topics", "topics_per_word"):
            if getattr(self, name) < 0:
                raise SettingsError(f"{name} must not be negative")

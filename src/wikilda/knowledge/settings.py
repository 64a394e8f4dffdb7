"""Settings of builds. The defaults are the paper's values."""

from dataclasses import dataclass

from wikilda._core.settings import Settings, setting


@dataclass(frozen=True)
class BuildSettings(Settings):
    """Settings of `wikilda build`. Empty lists of words use those of the wiki's language."""

    min_text: int = setting(
        50, "Least characters of a topic's main text. Larger values drop short articles.", minimum=0
    )
    keep_disambiguation: bool = setting(False, "Let disambiguation pages be topics, too.")
    keep_lists: bool = setting(False, "Let list pages be topics, too.")
    disambiguation_templates: tuple[str, ...] = setting((), "Templates that mark a disambiguation page.")
    disambiguation_categories: tuple[str, ...] = setting((), "Categories of disambiguation pages.")
    disambiguation_suffixes: tuple[str, ...] = setting((), "Endings of disambiguation pages' titles.")
    list_prefixes: tuple[str, ...] = setting((), "Beginnings of list pages' titles.")
    redirect_words: tuple[str, ...] = setting((), "Words after # that make a page a redirect.")
    aside_links: bool = setting(True, "Count links in templates, tables, references and captions.")
    max_word_share: float = setting(
        0.05,
        "Drop words that occur in more than this share of the topics. Larger values keep more common words.",
        above=0,
        maximum=1,
    )
    min_word_topics: int = setting(3, "Drop words that occur in fewer topics than this.", minimum=0)
    topics_per_word: int = setting(500, "Keep only the best topics of a word (0: all).", minimum=0)

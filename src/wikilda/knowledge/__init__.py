"""What the model is made of: topics, mentions, words and links, built from a wiki or from tables."""

from wikilda.knowledge.build import Resources, build_from_dump, build_from_tables
from wikilda.knowledge.knowledge import Knowledge
from wikilda.knowledge.settings import BuildSettings

__all__ = ["BuildSettings", "Knowledge", "Resources", "build_from_dump", "build_from_tables"]

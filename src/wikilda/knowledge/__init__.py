"""Knowledge: topics, mentions, words and links, built from a wiki or from tables."""

from typing import TYPE_CHECKING, Any

from wikilda.knowledge.knowledge import Knowledge
from wikilda.knowledge.settings import BuildSettings

if TYPE_CHECKING:
    from wikilda.knowledge.build import Resources, build_from_dump, build_from_tables

__all__ = ["BuildSettings", "Knowledge", "Resources", "build_from_dump", "build_from_tables"]


def __getattr__(name: str) -> Any:
    # Reading knowledge does not load the database engine.
    if name in ("Resources", "build_from_dump", "build_from_tables"):
        from wikilda.knowledge import build

        return getattr(build, name)
    raise AttributeError(name)

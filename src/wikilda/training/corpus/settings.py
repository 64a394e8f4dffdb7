"""How documents become a corpus."""

from dataclasses import dataclass

from wikilda._core.settings import Settings, setting


@dataclass(frozen=True)
class CorpusSettings(Settings):
    """Settings of `wikilda corpus`."""

    detect: bool = setting(True, "detect the mentions of documents that come without spans")
    longest: int = setting(20_000, "cut documents of more words and mentions than this into several", minimum=1)

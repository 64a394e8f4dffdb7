"""How documents become a corpus."""

import codecs
from dataclasses import dataclass

from wikilda._core.errors import SettingsError
from wikilda._core.settings import Settings, setting


@dataclass(frozen=True)
class CorpusSettings(Settings):
    """Settings of `wikilda corpus`."""

    text: str = setting("text", "field or column that holds a document's text")
    id: str = setting("id", "field or column that holds its id; without one, its place in the input is its id")
    mentions: str = setting("mentions", "field that holds its mention spans")
    encoding: str = setting("utf-8", "encoding of plain text files")
    detect: bool = setting(True, "find the mentions of documents that come without spans")
    longest: int = setting(20_000, "cut documents of more words and mentions than this into several", minimum=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise SettingsError(f"encoding {self.encoding!r} is not known; try utf-8, latin-1, cp1252, …") from None

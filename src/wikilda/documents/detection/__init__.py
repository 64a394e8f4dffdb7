"""Finding mentions in raw text: one interface, several detectors."""

from wikilda._core.errors import SettingsError
from wikilda.documents.detection._dictionary import DictionaryDetector, EveryName, JoinedDetector, average_odds
from wikilda.documents.detection.base import Detector, DetectorSettings
from wikilda.documents.detection.spacy import MODEL, SpacyDetector
from wikilda.knowledge import Knowledge
from wikilda.text.offsets import Spans

DEFAULT = DetectorSettings()


def choose_detector(name: str, knowledge: Knowledge, settings: DetectorSettings = DEFAULT) -> Detector:
    """The detector of a name: `dictionary`, or with spaCy's names besides `spacy` or `spacy:MODEL`."""
    kind, _, model = name.partition(":")
    if kind == "dictionary" and not model:
        return DictionaryDetector(knowledge, settings)
    if kind == "spacy":
        return JoinedDetector(DictionaryDetector(knowledge, settings), SpacyDetector(model or MODEL))
    raise SettingsError(f"there is no detector {name!r}: choose dictionary, spacy, or spacy:MODEL.")


__all__ = [
    "Detector",
    "DetectorSettings",
    "DictionaryDetector",
    "EveryName",
    "JoinedDetector",
    "SpacyDetector",
    "Spans",
    "average_odds",
    "choose_detector",
]

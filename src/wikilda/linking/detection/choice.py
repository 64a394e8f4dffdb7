"""Detectors by name, as the command line and configurations have them."""

from wikilda.errors import SettingsError
from wikilda.knowledge import Knowledge
from wikilda.linking.detection.base import Detector
from wikilda.linking.detection.dictionary import DictionaryDetector
from wikilda.linking.detection.settings import DetectorSettings
from wikilda.linking.detection.spacy import MODEL, SpacyDetector

DEFAULT = DetectorSettings()


def choose_detector(name: str, knowledge: Knowledge, settings: DetectorSettings = DEFAULT) -> Detector:
    """The detector of a name: `dictionary`, `spacy`, or `spacy:MODEL`."""
    kind, _, model = name.partition(":")
    if kind == "dictionary" and not model:
        return DictionaryDetector(knowledge, settings)
    if kind == "spacy":
        return SpacyDetector(model or MODEL)
    raise SettingsError(f"there is no detector {name!r}: choose dictionary, spacy, or spacy:MODEL.")

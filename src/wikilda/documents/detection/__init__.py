"""Finding mentions in raw text: one interface, several detectors."""

from wikilda.documents.detection._choice import choose_detector
from wikilda.documents.detection._dictionary import DictionaryDetector
from wikilda.documents.detection._settings import DetectorSettings
from wikilda.documents.detection.base import Detector
from wikilda.documents.detection.spacy import SpacyDetector
from wikilda.text.offsets import Spans

__all__ = ["Detector", "DetectorSettings", "DictionaryDetector", "SpacyDetector", "Spans", "choose_detector"]

"""Finding mentions in raw text: one interface, several detectors."""

from wikilda.linking.detection.base import Detector, Spans
from wikilda.linking.detection.dictionary import DictionaryDetector
from wikilda.linking.detection.settings import DetectorSettings

__all__ = ["Detector", "DetectorSettings", "DictionaryDetector", "Spans"]

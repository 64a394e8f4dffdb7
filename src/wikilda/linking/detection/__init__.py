"""Finding mentions in raw text: one interface, several detectors."""

from wikilda.linking.detection.base import Detector, Spans
from wikilda.linking.detection.choice import choose_detector
from wikilda.linking.detection.dictionary import DictionaryDetector
from wikilda.linking.detection.settings import DetectorSettings
from wikilda.linking.detection.spacy import SpacyDetector

__all__ = ["Detector", "DetectorSettings", "DictionaryDetector", "SpacyDetector", "Spans", "choose_detector"]

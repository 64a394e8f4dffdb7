"""Linking documents: what their mentions mean."""

from wikilda.linking.detection import Detector, DetectorSettings, DictionaryDetector
from wikilda.linking.documents import Text, marked, read_documents
from wikilda.linking.linker import Candidate, Entity, Linked, LinkedMention, Linker, TopicShare

__all__ = [
    "Candidate",
    "Detector",
    "DetectorSettings",
    "DictionaryDetector",
    "Entity",
    "Linked",
    "LinkedMention",
    "Linker",
    "Text",
    "TopicShare",
    "marked",
    "read_documents",
]

"""Linking documents: what their mentions mean."""

from wikilda.linking.answers import Candidate, Entity, Linked, LinkedMention, Source, TopicShare
from wikilda.linking.detection import Detector, DetectorSettings, DictionaryDetector, SpacyDetector
from wikilda.linking.documents import Text, marked, read_documents
from wikilda.linking.linker import Linker

__all__ = [
    "Candidate",
    "Detector",
    "DetectorSettings",
    "DictionaryDetector",
    "Entity",
    "Linked",
    "LinkedMention",
    "Linker",
    "Source",
    "SpacyDetector",
    "Text",
    "TopicShare",
    "marked",
    "read_documents",
]

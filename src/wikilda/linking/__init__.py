"""Linking documents: what their mentions mean."""

from wikilda.linking.answers import Candidate, Entity, Linked, LinkedMention, Source, TopicShare
from wikilda.linking.detection import Detector, DetectorSettings, DictionaryDetector, SpacyDetector
from wikilda.linking.documents import Text, marked
from wikilda.linking.linker import Linker
from wikilda.linking.reading import Bad, ReadSettings, read_documents

__all__ = [
    "Bad",
    "Candidate",
    "Detector",
    "DetectorSettings",
    "DictionaryDetector",
    "Entity",
    "Linked",
    "LinkedMention",
    "Linker",
    "ReadSettings",
    "Source",
    "SpacyDetector",
    "Text",
    "TopicShare",
    "marked",
    "read_documents",
]

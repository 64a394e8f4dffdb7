"""Linking: the mentions of documents and their entities."""

from wikilda.documents.detection import Detector, DetectorSettings, DictionaryDetector, SpacyDetector
from wikilda.documents.document import Document, marked
from wikilda.documents.reading import Bad, ReadSettings, read_documents
from wikilda.linking.files import LinkedFiles, link_files
from wikilda.linking.linker import Linker
from wikilda.linking.results import Candidate, Entity, Linked, LinkedMention, Source, TopicShare

__all__ = [
    "Bad",
    "Candidate",
    "Detector",
    "DetectorSettings",
    "DictionaryDetector",
    "Document",
    "Entity",
    "Linked",
    "LinkedFiles",
    "LinkedMention",
    "Linker",
    "ReadSettings",
    "Source",
    "SpacyDetector",
    "TopicShare",
    "link_files",
    "marked",
    "read_documents",
]

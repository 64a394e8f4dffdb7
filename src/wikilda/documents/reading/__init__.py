"""Documents from standard input, files and directories: text, JSON lines, CSV, TSV, Parquet, MediaWiki dumps."""

from wikilda.documents.reading._batches import Batch, batches
from wikilda.documents.reading._files import Bad, Read, read_documents
from wikilda.documents.reading.rows import FORMATS, ReadSettings

__all__ = ["FORMATS", "Bad", "Batch", "Read", "ReadSettings", "batches", "read_documents"]

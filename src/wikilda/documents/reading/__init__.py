"""Documents from standard input, files and directories: plain text, JSON lines, CSV, TSV, Parquet."""

from wikilda.documents.reading._read import Bad, Read, read_documents
from wikilda.documents.reading.settings import FORMATS, ReadSettings

__all__ = ["FORMATS", "Bad", "Read", "ReadSettings", "read_documents"]

"""Dumps of Wikimedia wikis: finding the newest finished one, and fetching it over lines that break."""

from wikilda.mediawiki.download._listing import WIKIMEDIA, Dumps, RemoteFile
from wikilda.mediawiki.download._transfer import fetch

__all__ = ["WIKIMEDIA", "Dumps", "RemoteFile", "fetch"]

"""Dumps of Wikimedia wikis: finding the newest finished one, and fetching it over lines that break."""

from wikilda.wiki.download.listing import WIKIMEDIA, Dumps, RemoteFile
from wikilda.wiki.download.transfer import fetch

__all__ = ["WIKIMEDIA", "Dumps", "RemoteFile", "fetch"]

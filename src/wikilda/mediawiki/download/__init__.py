"""Download dumps of Wikimedia wikis: find the newest finished one, and fetch it over unreliable connections."""

from pathlib import Path

from wikilda.mediawiki.download._listing import WIKIMEDIA, Dumps, RemoteFile
from wikilda.mediawiki.download._transfer import fetch, remote_file

__all__ = ["WIKIMEDIA", "Dumps", "RemoteFile", "download", "fetch", "remote_file"]


def download(
    wiki: str,
    directory: str | Path = ".",
    *,
    date: str | None = None,
    mirror: str = WIKIMEDIA,
    page_props: bool = False,
) -> list[Path]:
    """Download a dump of a Wikimedia wiki: `wikilda download`. An interrupted download resumes when called again.

    Parameters
    ----------
    wiki
        The database name: `enwiki`, `simplewiki`, `dewiktionary`, ….
    directory
        The directory of the files.
    date
        Which dump (`YYYYMMDD`); the newest finished one by default.
    mirror
        The address of the server.
    page_props
        Whether to fetch the table of page properties, too: Wikidata ids and disambiguation pages.

    Returns
    -------
    list of Path
        The files, checked against the published checksums.
    """
    dumps = Dumps(wiki, mirror)
    files = dumps.of(date, page_props=page_props) if date else dumps.newest(page_props=page_props)
    return [fetch(file, Path(directory)) for file in files]

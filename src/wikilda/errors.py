"""What goes wrong in ways that a user can mend."""

import errno
from pathlib import Path


class WikildaError(Exception):
    """An error whose message says what is wrong, where, and what to do; shown without a traceback."""


class InputError(WikildaError):
    """Something given by the user (a dump, a table, a document) cannot be read."""


class ArtifactError(WikildaError):
    """A directory is not the knowledge or model that it is taken for."""


class SettingsError(WikildaError):
    """A setting has an unknown name or an impossible value."""


def disk_full(error: OSError, where: Path) -> WikildaError | None:
    """Turn a full disk into words; None when `error` is something else."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return WikildaError(f"{where}: the disk is full. Free some space and run the same command again.")
    return None

"""What goes wrong in ways that a user can mend."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class WikildaError(Exception):
    """An error whose message says what is wrong, where, and what to do; shown without a traceback."""


class InputError(WikildaError):
    """Something given by the user (a dump, a table, a document) cannot be read."""


class ArtifactError(WikildaError):
    """A directory is not the knowledge or model that it is taken for."""


class BusyError(WikildaError):
    """Another process is writing the same target."""


class SettingsError(WikildaError):
    """A setting has an unknown name or an impossible value."""


def disk_is_full(where: Path | str) -> WikildaError:
    """A full disk, in words."""
    return WikildaError(f"{where}: the disk is full. Free some space and run the same command again.")


@contextmanager
def explain_full_disk(where: Path) -> Iterator[None]:
    """Turn the error of a full disk into words."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise disk_is_full(error.filename or where) from None

"""Write files and directories atomically, and lock them: a name holds a complete result or nothing.

Output is written to `NAME.writing`, synced to disk and renamed. `NAME.lock` is held meanwhile; a second writer is
refused. Symbolic links at the temporary names are never followed: in a shared directory others may plant them.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from wikilda import __version__
from wikilda._core.errors import BusyError, InputError, WikildaError, explain_full_disk
from wikilda._core.platform import exchange


@contextmanager
def lock(target: Path, *, wait: bool = False) -> Iterator[None]:
    """Be the only one who writes a target; while another does, wait or be refused.

    The thread that holds a lock may take it again.
    """
    from filelock import FileLock, Timeout  # only who writes needs it

    file = _beside(target.absolute(), "lock")
    file.parent.mkdir(parents=True, exist_ok=True)
    held = FileLock(file, is_singleton=True)
    try:
        held.acquire(timeout=-1 if wait else 0)
    except Timeout:
        raise BusyError(f"{target}: another process is writing it. Wait for it, or choose another name.") from None
    try:
        yield
    finally:
        if held.lock_counter == 1:
            with suppress(OSError):  # Windows removes no open file
                file.unlink()  # still locked: who has opened it sees that it is gone, and begins anew
        held.release()


def check_output(target: Path, *, overwrite: bool, inputs: Iterable[Path] = ()) -> None:
    """Refuse a file that cannot or must not be written, before the work starts."""
    if target.is_dir():
        raise InputError(f"{target}: is a directory. Name a file.")
    if not target.parent.is_dir():
        raise InputError(f"{target}: there is no directory {target.parent}.")
    if not os.path.lexists(target):
        return
    for each in inputs:
        if each.exists() and target.exists() and (target.samefile(each) or each.resolve() in target.resolve().parents):
            raise InputError(f"{target}: is also an input of this command. Choose another output.")
    if not overwrite:
        raise InputError(f"{target}: exists already. Choose another name, or use --overwrite.")
    check_decisions(target)


def check_decisions(target: Path) -> None:
    """Refuse to replace a file of `link --escalate` in which titles have been filled in: that is work of a person."""
    if not target.is_file():
        return
    with target.open("rb") as lines:
        first = lines.readline(1 << 20)
        if b'"mentions"' in first or not all(b'"%b"' % name in first for name in (b"document", b"start", b"end")):
            return
        lines.seek(0)
        for number, line in enumerate(lines, 1):
            if line.strip() and _is_decided(line):
                raise InputError(
                    f"{target}, line {number}: has a decision of a person, and the output would replace it. Move the "
                    "file to another name, or choose another output."
                )


def _is_decided(line: bytes) -> bool:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):  # a slip of whoever has filled it in
        return True
    return not isinstance(row, dict) or "title" in row


@contextmanager
def new_file(target: Path, *, wait: bool = False) -> Iterator[Path]:
    """Give the path of a file to write, and rename it to its target, replacing any other, when the block ends.

    A target that is not a file, such as a pipe or a terminal, is written to directly.
    """
    if target.exists() and not target.is_file():
        yield target
        return
    with lock(target, wait=wait), explain_full_disk(target):
        beside = _beside(target, "writing")
        beside.unlink(missing_ok=True)
        try:
            open_private(beside, exclusive=True).close()
            yield beside
            check_decisions(target)
            sync(beside)
            beside.replace(target)
            sync(target.parent)
        finally:
            beside.unlink(missing_ok=True)


def open_private(path: Path, *, exclusive: bool = False) -> IO[bytes]:
    """Open a temporary file for reading and writing, created if it is missing; symbolic links are refused."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | (os.O_EXCL if exclusive else 0)
    try:
        return os.fdopen(os.open(path, flags, 0o666), "r+b")
    except OSError as error:
        if path.is_symlink():
            raise InputError(f"{path}: is a symbolic link where a temporary file belongs. Remove it.") from error
        raise


def private_directory(path: Path) -> None:
    """Make a directory for temporary files, or take the one that is there if it is the user's own."""
    try:
        path.mkdir(parents=True)
    except FileExistsError:
        about = path.lstat()
        if path.is_symlink() or not path.is_dir() or (hasattr(os, "getuid") and about.st_uid != os.getuid()):
            raise InputError(f"{path}: is in the way of this command's temporary files. Remove it.") from None


def sync(path: Path) -> None:
    """Have the system write a file, or the names in a directory, to the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows opens no directories
    file = os.open(path, os.O_RDONLY if path.is_dir() or os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def sync_tree(directory: Path) -> None:
    """Have the system write a directory with all its files to the disk."""
    for folder, _, files in os.walk(directory):
        for name in files:
            sync(Path(folder, name))
        sync(Path(folder))


def write_text(target: Path, text: str) -> None:
    """Write a file of text."""
    with new_file(target) as file:
        file.write_text(text, "utf-8", newline="\n")


@contextmanager
def new_directory(target: Path, *, wait: bool = False) -> Iterator[Path]:
    """A directory to fill; it gets its name, in the place of any other, when the block is done."""
    with lock(target, wait=wait), explain_full_disk(target), scratch_directory(target) as beside:
        yield beside
        place_directory(beside, target)


DIGESTS = "digests.json"


@contextmanager
def sealed_directory(target: Path) -> Iterator[Path]:
    """Give a directory to fill, like `new_directory`; it gets the digests of its files, for `is_whole`."""
    with new_directory(target) as made:
        yield made
        seal(made)


def seal(directory: Path) -> None:
    """Write the digests of a directory's files."""
    (directory / DIGESTS).write_text(json.dumps(_digests(directory), sort_keys=True), "utf-8")


def is_whole(directory: Path) -> bool:
    """Whether a sealed directory has exactly the files that it was sealed with."""
    try:
        return bool(json.loads((directory / DIGESTS).read_text("utf-8")) == _digests(directory))
    except (OSError, ValueError):
        return False


def _digests(directory: Path) -> dict[str, str]:
    made = {}
    for path in sorted(directory.rglob("*")):
        if path.is_file() and path.name != DIGESTS:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16))
            made[path.relative_to(directory).as_posix()] = digest.hexdigest()
    return made


@contextmanager
def scratch_directory(target: Path) -> Iterator[Path]:
    """An empty directory beside a target that is locked; gone at the end, unless it was placed."""
    beside = _beside(target, "writing")
    _recover(target)
    _remove(beside)
    beside.mkdir(parents=True)
    try:
        yield beside
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def place_directory(made: Path, target: Path) -> None:
    """Give a finished directory its name; one that had it before goes, at the same moment where the system can."""
    with lock(target):
        old = _beside(target, "replaced")
        _remove(old)
        sync_tree(made)
        if not os.path.lexists(target):
            made.rename(target)
        elif exchange(made, target):
            _remove(made)
        else:
            target.rename(old)
            made.rename(target)
            _remove(old)
        sync(target.parent)


def _recover(target: Path) -> None:
    """Where names cannot be exchanged at once, a process may have been killed between two renames: undo the first."""
    old = _beside(target, "replaced")
    if old.exists() and not target.exists():
        old.rename(target)


def _remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    else:
        shutil.rmtree(path, ignore_errors=True)


def _beside(target: Path, ending: str) -> Path:
    return target.with_name(f"{target.name}.{ending}")


@contextmanager
def work_directory(
    target: Path, ending: str, inputs: dict[str, Any], *, restart: bool = False, precious: bool = False,
    keep: bool = True,
) -> Iterator[Path]:  # fmt: skip
    """`TARGET.ending`: kept when something goes wrong (unless nobody could use it), gone when all is done.

    What an earlier run left is used if it came from the same inputs, else removed or, if it is precious, refused; to
    restart is to remove it in any case. The target is locked meanwhile.
    """
    work = target.with_name(f"{target.name}.{ending}")
    with lock(target), explain_full_disk(work):
        private_directory(work)
        try:
            stamp = json.dumps({"wikilda": __version__} | inputs, sort_keys=True)
            _prepare(work, stamp, restart=restart, precious=precious)
            yield work
        except BaseException:
            if not keep:
                shutil.rmtree(work, ignore_errors=True)
            raise
        shutil.rmtree(work)


def _prepare(work: Path, stamp: str, *, restart: bool, precious: bool) -> None:
    known = work / "inputs.json"
    earlier = known.read_text("utf-8") if known.is_file() else None
    if earlier == stamp and not restart:
        return
    if earlier is not None and precious and not restart:
        raise WikildaError(
            f"{work}: holds unfinished work with other inputs or settings ({_difference(earlier, stamp)}). "
            "Run it with those to resume, or say --restart to begin anew."
        )
    shutil.rmtree(work)
    work.mkdir()
    write_text(known, stamp)


def _difference(earlier: str, now: str) -> str:
    before, after = json.loads(earlier), json.loads(now)
    flat = [{**each, **each.get("settings", {})} for each in (before, after)]
    names = sorted(name for name in flat[0].keys() | flat[1].keys() if name != "settings")
    other = [f"{name} {flat[0].get(name)}" for name in names if flat[0].get(name) != flat[1].get(name)]
    return ", ".join(other)

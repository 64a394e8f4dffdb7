"""The command line: one module per command, imported when the command is called."""

import errno
import gc
import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from wikilda import __version__
from wikilda._core.errors import WikildaError, explain_full_disk, printable
from wikilda._core.settings import suggestion

COMMANDS = {
    "demo": "Link a text with the sample wiki.",
    "download": "Download a dump of a Wikimedia wiki.",
    "build": "Build a model from a wiki dump or from tables.",
    "link": "Link the mentions of documents to entities.",
    "match": "Match the cells of a table with entities.",
    "identify": "Give the nodes of a graph identities.",
    "suggest": "Suggest links that notes or a wiki lack.",
    "explain": "Show the evidence for the entity of a mention.",
    "show": "Look up a title or a mention.",
    "serve": "Serve a model: an API and a web page.",
    "train": "Learn from texts without labels.",
    "corpus": "Encode documents to train on.",
    "update": "Update a model with a newer dump or a list of entities.",
    "diff": "Show what differs between two models of one wiki.",
    "topics": "Show what training has changed in topics.",
    "plot": "Plot the likelihood of documents during training.",
    "evaluate": "Measure methods on annotated documents.",
    "init": "Make an untrained model with other priors.",
    "pack": "Pack a model into one file to share.",
    "get": "Check and unpack a packed model, from a file or a URL.",
    "compile": "Compile kernels before they are needed.",
    "verify": "Check an artifact: every value and every digest.",
    "settings": "List the settings that commands take with --set.",
}


_NO_MEMORY = "there is not enough memory. Use fewer --workers, or a machine with more."


class _LazyGroup(click.Group):
    """Knows its commands by name; imports `wikilda.cli.NAME` to run NAME."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        gc.disable()  # imports make many objects and little garbage
        try:
            command: click.Command = importlib.import_module(f"wikilda.cli.{cmd_name}").command
        finally:
            gc.enable()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f"No such command {args[0]!r}{suggestion(args[0], list(COMMANDS))}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version")
def cli() -> None:
    """Entity linking on a CPU, from any MediaWiki dump, in any language."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line. Errors that a user can correct are one message and exit code 1."""
    try:
        code = guarded(lambda: cli.main(arguments, prog_name="wikilda", standalone_mode=False))
        _ignore_interrupts()  # the command has finished: nothing is left to interrupt
    except KeyboardInterrupt:  # while another message was printed
        _ignore_interrupts()
        code = _say("interrupted", 130)
    if "duckdb" not in sys.modules:  # DuckDB warns about objects that are not collected
        gc.freeze()  # a last collection of Numba's objects would take longer than linking a document
    sys.exit(code)


def _ignore_interrupts() -> None:
    if threading.current_thread() is threading.main_thread():  # others cannot be interrupted
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def guarded(run: Callable[[], Any]) -> int:
    """Run and return the exit code, printing errors that a user can correct to standard error."""
    try:
        with explain_full_disk(Path("output")):
            code = run()
    except click.exceptions.Abort:
        return _say("interrupted", 130)
    except KeyboardInterrupt:
        return _say("interrupted", 130)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except WikildaError as error:
        return _say(str(error), 1)
    except MemoryError:
        return _say(_NO_MEMORY, 1)
    except ImportError as error:
        if not lacks_memory(error):
            raise
        return _say(_NO_MEMORY, 1)
    except BrokenPipeError:
        # The reader has closed the pipe (`| head`), and Python must not try to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        if lacks_memory(error):
            return _say(_NO_MEMORY, 1)
        return _say(f"{error.filename or ''}: {error.strerror or error}".lstrip(": "), 1)
    return code if isinstance(code, int) else 0


def lacks_memory(error: BaseException | None) -> bool:
    """Whether an error came from a lack of memory. A library that does not fit is reported as missing."""
    if error is None:
        return False
    short = isinstance(error, OSError) and error.errno == errno.ENOMEM
    said = str(error)
    return (
        short
        or "failed to map segment" in said
        or "cannot allocate memory" in said.lower()
        or lacks_memory(error.__cause__ or error.__context__)
    )


def _say(message: str, code: int) -> int:
    click.echo(f"wikilda: {printable(message)}", err=True)
    return code

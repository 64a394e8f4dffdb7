"""Commands, run in this process. Each error that they end with must say what happened, where, and how to fix it."""

import re
import sys

from click.testing import CliRunner
from scripts.messages import AVOIDED, REMEDY

from tests.processes import besides_compiling
from wikilda.cli import cli, guarded

# What is only known at run time: a list of what is possible, a suggestion, a range.
_AT_RUN_TIME = re.compile(r"[Tt]here (?:is|are): \S|did you mean \S|must be \S|has no effect with|, pipe it: \S")
_PLACE = re.compile(r"[/\\.\'\"“`=:\d]|--\w|\w_\w|setting \w")  # a file, a name, a line, an option, a setting


def run(*arguments: object) -> tuple[int, str, str]:
    """Run a command in this process: exit code, what it prints, what it complains."""
    runner = CliRunner()
    with runner.isolation() as (out, err, _):
        code = guarded(lambda: cli.main([str(each) for each in arguments], prog_name="wikilda", standalone_mode=False))
        sys.stdout.flush()
        sys.stderr.flush()
        said = besides_compiling(err.getvalue().decode())
        errors = [line for line in said.splitlines() if line.startswith("wikilda: ")]
        if code == 1 and errors:
            check_error(said[said.rindex(errors[-1]) :])
        return code, out.getvalue().decode(), said


def check_error(message: str) -> None:
    """Check that a message has a place and a remedy, in plain words."""
    text = " ".join(message.removeprefix("wikilda: ").split())
    assert REMEDY.search(text) or _AT_RUN_TIME.search(text), f"no remedy: {message}"
    assert _PLACE.search(text.rstrip(".")), f"no place: {message}"
    assert not AVOIDED.search(text), f"words to avoid: {message}"

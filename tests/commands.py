"""Commands, run in this process."""

import sys

from click.testing import CliRunner

from wikilda.cli import cli, guarded


def run(*arguments: object) -> tuple[int, str, str]:
    """Run a command in this process: exit code, what it prints, what it complains."""
    runner = CliRunner()
    with runner.isolation() as (out, err, _):
        code = guarded(lambda: cli.main([str(each) for each in arguments], prog_name="wikilda", standalone_mode=False))
        sys.stdout.flush()
        sys.stderr.flush()
        return code, out.getvalue().decode(), err.getvalue().decode()

"""The options of commands that run on this machine or on Spark."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from wikilda.cli._options import more


class Cluster(NamedTuple):
    """Where Spark is, and settings of it."""

    master: str | None
    conf: dict[str, str]


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --engine, --master and --conf; it receives a `cluster`, or None if it is to run here."""

    @more("--engine", type=click.Choice(["local", "spark"]), default="local", show_default=True,
          help="Where it runs.")  # fmt: skip
    @more("--master", help="Spark's master: local[2], spark://HOST:PORT, yarn, …  [default: as spark-submit]")
    @more("--conf", multiple=True, metavar="NAME=VALUE", help="A setting of Spark; may be repeated.")
    @functools.wraps(command)
    def run(*arguments: Any, engine: str, master: str | None, conf: tuple[str, ...], **options: Any) -> Any:
        return command(*arguments, cluster=_cluster(engine, master, conf), **options)

    wrapped: Callable[..., Any] = run
    return wrapped


def _cluster(engine: str, master: str | None, conf: tuple[str, ...]) -> Cluster | None:
    if engine == "local":
        if master or conf:
            raise click.UsageError("--master and --conf are for --engine spark.")
        return None
    if any("=" not in each for each in conf):
        raise click.UsageError("--conf takes NAME=VALUE.")
    return Cluster(master, dict(each.split("=", 1) for each in conf))


def refuse(names: tuple[str, ...], why: str) -> None:
    """Refuse options that were given but cannot be followed."""
    context = click.get_current_context()
    for option in context.command.params:
        if option.name in names and context.get_parameter_source(option.name) != ParameterSource.DEFAULT:
            raise click.UsageError(f"{option.opts[-1]} {why}")

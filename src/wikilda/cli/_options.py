"""Options that come from settings: every field of a settings class is an option, or a line of a TOML file."""

import functools
import tomllib
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from wikilda._core.errors import SettingsError
from wikilda._core.settings import Settings


class _Setting(click.Option):
    """An option that is a setting."""


class Sectioned(click.Command):
    """A command whose help has its settings apart: there may be many, and they are not needed to begin with."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the two sections."""
        for title, settings in (("Options", False), ("Settings", True)):
            options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
            chosen = [each for each in options if isinstance(each, _Setting) == settings]
            if records := [record for each in chosen if (record := each.get_help_record(ctx))]:
                with formatter.section(title):
                    formatter.write_dl(records)


def settings_options(
    *kinds: type[Settings], defaults: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command an option for every setting of a kind; it receives them as one argument, `settings`.

    Without defaults (they depend on a preset) it receives just what was given, as a mapping; of several kinds, the
    first that has all of it checks it.
    """
    every = {each.name: each for kind in kinds for each in fields(kind)}
    names = list(every)

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def run(*arguments: Any, settings_file: Path | None, **options: Any) -> Any:
            given = {name: value for name in names if (value := options.pop(name)) not in (None, ())}
            from_file = _read(settings_file) if settings_file else {}
            wanted = {*from_file, *given}
            fitting = [kind for kind in kinds if wanted <= {each.name for each in fields(kind)}]
            checked: Any = (fitting or kinds)[0].from_mapping(from_file | given)
            settings = checked if defaults else {name: getattr(checked, name) for name in from_file | given}
            return command(*arguments, settings=settings, **options)

        wrapped: Callable[..., Any] = run
        for each in reversed(every.values()):
            wrapped = _option(each.name, each.default, each.metadata["help"], shown=defaults)(wrapped)
        where = click.Path(exists=True, dir_okay=False, path_type=Path)
        about = "Read settings from a TOML file; options given here go before it."
        return click.option("--settings", "settings_file", type=where, help=about)(wrapped)

    return decorate


def urn_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--urn FILE`: the urn's settings for a command that has options of its own; it receives them as `urn`."""

    @functools.wraps(command)
    def run(*arguments: Any, urn: Path | None, **options: Any) -> Any:
        from wikilda.urn import UrnSettings  # brings the compiler, which other commands do not need

        return command(*arguments, urn=UrnSettings.from_mapping(_read(urn) if urn else {}), **options)

    where = click.Path(exists=True, dir_okay=False, path_type=Path)
    about = "Settings of the urn from a TOML file, those that are options of `wikilda link`."
    return click.option("--urn", type=where, help=about)(run)


def _option(name: str, default: Any, about: str, *, shown: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    flag = "--" + name.replace("_", "-")
    words = about[0].upper() + about[1:] if about[0].isascii() else about  # not of the paper's symbols: β is not Β
    if isinstance(default, tuple):
        return click.option(flag, name, cls=_Setting, multiple=True, metavar="WORD", help=f"{words}; may be repeated.")
    standard = f"  [default: {'yes' if default is True else 'no' if default is False else default}]" if shown else ""
    if isinstance(default, bool):
        return click.option(f"{flag}/--no-{flag[2:]}", name, cls=_Setting, default=None, help=f"{words}.{standard}")
    return click.option(flag, name, cls=_Setting, type=type(default), default=None, help=f"{words}.{standard}")


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: is not valid TOML ({error}).") from None

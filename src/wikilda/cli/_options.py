"""Options: the same name and meaning in every command, settings from classes, the rarer ones behind `--help-all`."""

import functools
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from wikilda._core.errors import SettingsError, printable
from wikilda._core.platform import available_cores
from wikilda._core.settings import Settings, suggestion

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

ANY_PATH = click.Path(path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


class More(click.Option):
    """An option that few need."""


class Setting(More):
    """An option that is a field of a settings class."""


class Command(click.Command):
    """A command whose `--help` has what most people need; `--help-all` has all options, settings apart."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if any(isinstance(each, More) for each in self.params):
            about = "Show all options and settings."
            self.params.append(click.Option(
                ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all, help=about
            ))  # fmt: skip

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections."""
        shown = (click.Option, More, Setting) if ctx.meta.get("all") else (click.Option,)
        titles = {click.Option: "Options", More: "More options", Setting: "Settings"}
        for kind in shown:
            options = [each for each in self.get_params(ctx) if type(each) is kind]
            if records := [record for each in options if (record := each.get_help_record(ctx))]:
                with formatter.section(titles[kind]):
                    formatter.write_dl(records)


def _show_all(ctx: click.Context, _option: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta["all"] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def more(*names: str, **attributes: Any) -> Decorator:
    """An option behind `--help-all`."""
    return click.option(*names, cls=More, **attributes)


def model_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """`MODEL`, and `--knowledge` for one whose knowledge has moved."""
    command = more("--knowledge", type=ANY_PATH, help="The model's knowledge, if it has moved.")(command)
    return click.argument("model", type=ANY_PATH, metavar="MODEL")(command)


def output_options(what: str) -> Decorator:
    """`-o` and `--overwrite` of a command that writes a directory; it receives `target` and `overwrite`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        command = click.option("--overwrite", is_flag=True, help=f"Replace {what} that exists.")(command)
        about = "The directory to write."
        return click.option("-o", "--output", "target", type=ANY_PATH, required=True, help=about)(command)

    return decorate


def workers_option(what: str) -> Decorator:
    """`--workers`: by default one for each core."""
    return click.option(
        "-j", "--workers", type=click.IntRange(1), metavar="N", default=available_cores(), show_default="one per core",
        help=f"{what} that work at the same time.",
    )  # fmt: skip


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--json`; the command receives `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How documents are read; the command receives `reading`."""
    from wikilda.documents.reading import FORMATS, ReadSettings
    from wikilda.text.offsets import CODE_POINTS, UNITS

    @click.option("--format", type=click.Choice(FORMATS), default="auto", help="Format of the input.")
    @click.option("--text-column", default="text", show_default=True, help="Column or field with the text.")
    @more("--id-column", help="Column or field with the document's id.  [default: id, else its number]")
    @more("--offsets", type=click.Choice(UNITS), default=CODE_POINTS, show_default=True, help="Unit of offsets.")
    @more("--encoding", default="utf-8", show_default=True, help="Encoding of text, CSV and TSV files.")
    @more("--invalid", type=click.Choice(["refuse", "replace"]), default="refuse", show_default=True,
          help="What to do with a document that is not in this encoding.")  # fmt: skip
    @more("--largest", type=click.IntRange(1), default=10_000_000, show_default=True, help="Bytes of a document.")
    @functools.wraps(command)
    def run(
        *arguments: Any, format: str, text_column: str, id_column: str | None, offsets: str, encoding: str,  # noqa: A002
        invalid: str, largest: int, **options: Any,
    ) -> Any:  # fmt: skip
        reading = ReadSettings(format, text_column, id_column, offsets, encoding, invalid, largest)
        return command(*arguments, reading=reading, **options)

    wrapped: Callable[..., Any] = run
    return wrapped


def detector_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--detector`."""
    about = "How mentions are detected: dictionary, spacy, spacy:MODEL."
    return click.option("--detector", default="dictionary", show_default=True, metavar="NAME", help=about)(command)


def settings_options(*kinds: type[Settings], defaults: bool = True) -> Decorator:
    """An option for every setting of a kind; the command receives them as one argument, `settings`.

    Without defaults (they depend on a preset) it receives just what was given, as a mapping; of several kinds, the
    first that has all of it checks it.
    """

    def made(given: dict[str, Any]) -> Any:
        fitting = [kind for kind in kinds if given.keys() <= {each.name for each in fields(kind)}]
        checked = (fitting or kinds)[0].from_mapping(given)
        return checked if defaults else {name: getattr(checked, name) for name in given}

    return _from_settings({"settings": (list(kinds), lambda given, _: made(given))}, shown=defaults)


def method_options(
    *, only: Sequence[str] = ("urn", "lda"), beside: type[Settings] | None = None, first: Sequence[str] = ()
) -> Decorator:
    """`--method` and the settings of methods; the command receives those of the chosen one as `method`.

    `beside` has other settings of the same command, which it receives as `settings`. Those that come `first` are in
    the short help.
    """
    from wikilda.linking.methods import METHODS, method_settings

    kinds: list[type[Settings]] = [METHODS[name] for name in only]
    parts: dict[str, Any] = {"method": (kinds, lambda given, method: method_settings(method, given))}
    if beside is not None:
        parts["settings"] = ([beside], lambda given, _: beside.from_mapping(given))

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        about = "How mentions are decided: urn, or the paper's sampler, lda."
        wrapped = _from_settings(parts, shown=True, first=first)(command)
        return click.option("--method", type=click.Choice(only), default=only[0], show_default=True, help=about)(
            wrapped
        )

    return decorate


Parts = dict[str, tuple[list[type[Settings]], Callable[[dict[str, Any], Any], Any]]]


def _from_settings(parts: Parts, *, shown: bool, first: Sequence[str] = ()) -> Decorator:
    """Options of all settings of some parts; each part makes an argument of those of its own that were given."""
    own = {part: {each.name for kind in kinds for each in fields(kind)} for part, (kinds, _) in parts.items()}
    every = [each for kinds, _ in parts.values() for each in _distinct(kinds)]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def run(*arguments: Any, settings_file: Path | None, **options: Any) -> Any:
            given = _read(settings_file, {name for names in own.values() for name in names}) if settings_file else {}
            given |= {each.name: value for each, _ in every if (value := options.pop(each.name)) not in (None, ())}
            method = options.pop("method", None) if "method" in parts else None
            for part, (_, make) in parts.items():
                options[part] = make({name: value for name, value in given.items() if name in own[part]}, method)
            return command(*arguments, **options)

        wrapped: Callable[..., Any] = run
        for each, standard in reversed(every):
            kind = click.Option if each.name in first else Setting
            wrapped = _option(each, standard if shown else "", kind)(wrapped)
        about = "Read settings from a TOML file; options take precedence."
        return click.option("--settings", "settings_file", type=_FILE, help=about)(wrapped)

    return decorate


def _distinct(kinds: list[type[Settings]]) -> list[tuple["Field[Any]", str]]:
    """The fields of some settings, each name once, and their defaults in words; where those differ, all of them."""
    found: dict[str, tuple[Field[Any], list[str]]] = {}
    for kind in kinds:
        for each in fields(kind):
            standard = ("no", "yes")[each.default] if isinstance(each.default, bool) else str(each.default)
            _, known = found.setdefault(each.name, (each, []))
            if standard not in known:
                known.append(standard)
    return [(each, f"  [default: {' or '.join(known)}]") for each, known in found.values()]


def _option(each: "Field[Any]", standard: str, cls: type[click.Option]) -> Decorator:
    about: str = each.metadata["help"]
    flag, name = "--" + each.name.replace("_", "-"), each.name
    words = about[0].upper() + about[1:] if about[0].isascii() else about  # not the paper's symbols: β is not Β
    if isinstance(each.default, tuple):
        return click.option(flag, name, cls=cls, multiple=True, metavar="WORD", help=f"{words}; may be repeated.")
    if isinstance(each.default, bool):
        return click.option(f"{flag}/--no-{flag[2:]}", name, cls=cls, default=None, help=f"{words}.{standard}")
    return click.option(flag, name, cls=cls, type=type(each.default), default=None, help=f"{words}.{standard}")


def _read(path: Path, known: set[str]) -> dict[str, Any]:
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: is not valid TOML ({error}).") from None
    for name in found:
        if name not in known:
            raise SettingsError(f"{path}: unknown setting {name}{suggestion(name, sorted(known))}")
    return found


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


_WIDTH = 120  # where there is no terminal to ask
_LONGEST = 30  # letters of a word


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table whose numbers stand right, as wide as the terminal or as a page."""
    from rich.console import Console  # here: most commands print no table
    from rich.markup import escape
    from rich.table import Table

    made = Table(header_style="bold", box=None, padding=(0, 2, 0, 0))
    filled = [[_cell(value) for value in row] for row in rows]
    for place, column in enumerate(columns):
        numeric = bool(filled) and all(_is_number(row[place]) for row in filled)
        words = [len(word) for row in (column, *(row[place] for row in filled)) for word in row.split()]
        width = min(max(words, default=1), _LONGEST)  # words are not broken
        made.add_column(column, justify="right" if numeric else "left", overflow="fold", min_width=width)
    for row in filled:
        made.add_row(*map(escape, row))
    if title:
        click.secho(printable(title), bold=True)  # whole, however narrow the table is
    plain = Console()
    (plain if plain.is_terminal else Console(width=_WIDTH, no_color=True)).print(made)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else printable(str(value))


def _is_number(cell: str) -> bool:
    return not cell or cell.strip("+-%").replace(",", "").replace(".", "").isdigit()

"""Options that commands share. Settings have no options of their own: `--set NAME=VALUE`, or `--settings FILE`."""

import functools
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_origin

import click
from click.core import ParameterSource

from wikilda._core.errors import SettingsError, printable
from wikilda._core.platform import available_cores
from wikilda._core.settings import Settings, suggestion

if TYPE_CHECKING:
    from wikilda.documents.reading import ReadSettings

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

ANY_PATH = click.Path(path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_GIVEN = "wikilda.settings"  # key of the context: names of the settings that were given
_TRUE, _FALSE = ("true", "yes", "1", "on"), ("false", "no", "0", "off")


def model_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """`MODEL`."""
    return click.argument("model", type=ANY_PATH, metavar="MODEL")(command)


def output_options(what: str, *, required: bool = True) -> Decorator:
    """`-o` and `--overwrite` of a command that writes a directory; it receives `target` and `overwrite`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        command = click.option("--overwrite", is_flag=True, help=f"Replace {what} that exists.")(command)
        about = "Directory to write."
        return click.option("-o", "--output", "target", type=ANY_PATH, required=required, help=about)(command)

    return decorate


def workers_option(what: str) -> Decorator:
    """`--workers`: by default one for each core."""
    return click.option(
        "-j", "--workers", type=click.IntRange(1), metavar="N", default=available_cores(),
        help=f"{what}.  [default: one per core]",
    )  # fmt: skip


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--json`; the command receives `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def input_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--format` and `--text-column`, which are settings of reading with options of their own."""
    from wikilda.documents.reading import FORMATS

    command = click.option("--text-column", metavar="NAME", help="Column or field with the text.")(command)
    return click.option(
        "--format", type=click.Choice(FORMATS), metavar="NAME", help=f"Input: {', '.join(FORMATS[1:])}."
    )(command)


def detector_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--detector`."""
    about = "Detector: dictionary (default), spacy, spacy:MODEL."
    return click.option("--detector", default="dictionary", metavar="NAME", help=about)(command)


def method_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--method`, which chooses among the settings of methods."""
    from wikilda.linking.methods import METHODS

    about = "Method: urn (default), or the paper's sampler, lda."
    names = list(METHODS)
    return click.option("--method", type=click.Choice(names), default=names[0], metavar="NAME", help=about)(command)


Kinds = type[Settings] | Mapping[str, type[Settings]]


def settings_options(*own: str, raw: Sequence[str] = (), **parts: Kinds) -> Decorator:
    """Add `--set` and `--settings` to a command with some parts of settings.

    The command receives each part as an argument: settings of a class, or of the class that `--method` chooses. The
    parts `raw` it receives as mappings of what was given, with `method`. Options named `own` are settings, too.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def run(*arguments: Any, assigned: tuple[str, ...], settings_file: Path | None, **options: Any) -> Any:
            method = options.pop("method", None)
            chosen = {part: kinds if isinstance(kinds, type) else kinds[method] for part, kinds in parts.items()}
            given = _read(settings_file) if settings_file else {}
            where = dict.fromkeys(given, f"{settings_file}: ")
            for name, text in _split(assigned):
                given[name] = _typed(name, text, parts.values(), given.get(name) if name not in where else None)
                where.pop(name, None)
            click.get_current_context().meta[_GIVEN] = tuple(given)
            given |= {name: value for name in own if (value := options.pop(name)) not in (None, ())}
            _check(given, parts, chosen, method, where)
            for part, kind in chosen.items():
                mine = {name: given[name] for name in _names(kind) if name in given}
                options[part] = mine if part in raw else _made(kind, mine)
            if raw:
                options["method"] = method
            return command(*arguments, **options)

        wrapped: Callable[..., Any] = run
        about = "Settings from a TOML file; --set overrides them."
        wrapped = click.option("--settings", "settings_file", type=_FILE, metavar="FILE", help=about)(wrapped)
        about = "Set a setting (`wikilda settings`); repeatable."
        return click.option("--set", "assigned", multiple=True, metavar="NAME=VALUE", help=about)(wrapped)

    return decorate


def _names(kind: type[Settings]) -> list[str]:
    return [each.name for each in fields(kind)]


def _made(kind: type[Settings], given: dict[str, Any]) -> Settings:
    from wikilda.linking.methods import METHODS, method_settings

    method = next((name for name, settings in METHODS.items() if settings is kind), None)
    return method_settings(method, given) if method else kind.from_mapping(given)


def _split(assigned: Sequence[str]) -> Iterable[tuple[str, str]]:
    for each in assigned:
        name, equals, text = each.partition("=")
        if not equals:
            raise SettingsError(f"--set takes NAME=VALUE, not {each!r}. Write it like --set recall=0.8.")
        yield name.strip().replace("-", "_"), text


def _every(parts: Iterable[Kinds]) -> list[type[Settings]]:
    return [kind for kinds in parts for kind in ([kinds] if isinstance(kinds, type) else kinds.values())]


def _typed(name: str, text: str, parts: Iterable[Kinds], before: Any) -> Any:
    """Parse a value by the type of the setting. Lists are separated by commas, or given repeatedly."""
    found: list[Field[Any]] = [each for kind in _every(parts) for each in fields(kind) if each.name == name]
    if not found:
        return text
    kind: Any = found[0].type
    try:
        if get_origin(kind) is tuple:
            return (*(before or ()), *(each.strip() for each in text.split(",")))
        if kind is bool:
            return _flag(text)
        return kind(text) if kind in (int, float) else text
    except ValueError:
        wanted = {int: "a whole number", float: "a number", bool: "true or false"}[kind]
        raise SettingsError(f"--set {name}={text}: {name} must be {wanted}.") from None


def _flag(text: str) -> bool:
    if text.lower() not in (*_TRUE, *_FALSE):
        raise ValueError(text)
    return text.lower() in _TRUE


def _check(
    given: Mapping[str, Any], parts: Mapping[str, Kinds], chosen: Mapping[str, type[Settings]], method: str | None,
    where: Mapping[str, str],
) -> None:  # fmt: skip
    """Refuse names of settings that the command or method does not have."""
    known = sorted({name for kind in chosen.values() for name in _names(kind)})
    for name in given:
        if name in known:
            continue
        for kinds in parts.values():
            for other, kind in () if isinstance(kinds, type) else kinds.items():
                if name in _names(kind):
                    raise SettingsError(
                        f"{name} is a setting of the method {other}, not of {method}. "
                        f"Remove it, or use --method {other}."
                    )
        raise SettingsError(f"{where.get(name, '')}unknown setting {name}{suggestion(name, known)}")


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: is not valid TOML ({error}). Write lines like recall = 0.8.") from None


class Cluster(NamedTuple):
    """Spark's master and its settings."""

    master: str | None
    conf: dict[str, str]


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --engine and --conf to a command. It receives a `cluster`, or None for this machine."""

    @click.option("--engine", type=click.Choice(["local", "spark"]), default="local", metavar="NAME",
                  help="Where it runs: local (default) or spark.")  # fmt: skip
    @click.option("--conf", multiple=True, metavar="NAME=VALUE",
                  help="A setting of Spark, such as spark.master=URL; repeatable.")  # fmt: skip
    @functools.wraps(command)
    def run(*arguments: Any, engine: str, conf: tuple[str, ...], **options: Any) -> Any:
        return command(*arguments, cluster=_cluster(engine, conf), **options)

    wrapped: Callable[..., Any] = run
    return wrapped


def _cluster(engine: str, conf: tuple[str, ...]) -> Cluster | None:
    if engine == "local":
        if conf:
            raise click.UsageError("--conf is for --engine spark.")
        return None
    if any("=" not in each for each in conf):
        raise click.UsageError("--conf takes NAME=VALUE.")
    settings = dict(each.split("=", 1) for each in conf)
    return Cluster(settings.pop("spark.master", None), settings)


def refuse(names: Iterable[str], why: str) -> None:
    """Refuse options and settings that were given and have no effect: an error that ends in `why`."""
    context, wanted = click.get_current_context(), set(names)
    for option in context.command.params:
        if option.name in wanted and context.get_parameter_source(option.name) != ParameterSource.DEFAULT:
            raise click.UsageError(f"{'/'.join([option.opts[-1], *option.secondary_opts])} {why}")
    for name in context.meta.get(_GIVEN, ()):
        if name in wanted:
            raise click.UsageError(f"--set {name} {why}")


def refuse_reading(reading: "ReadSettings", *, training: bool) -> None:
    """Refuse options of reading and of detection that have no effect on documents of the given format."""
    if not training:
        refuse(["source_column"], "is for train and corpus.")
    without = f"has no effect with --format {reading.format}."
    if reading.format in ("text", "marked", "dump"):
        refuse(["text_column", "id_column", "source_column"], without)
    if reading.format in ("jsonl", "parquet", "dump"):
        refuse(["encoding"], without)
    if reading.format == "marked":
        refuse(["detector", "nested", "recall"], f"{without[:-1]}: the mentions are given.")


def list_option(given: str | None) -> tuple[str, ...]:
    """Split the value of an option at its commas."""
    return tuple(each.strip() for each in given.split(",")) if given else ()


_WIDTH = 120  # width without a terminal
_LONGEST = 30  # letters of a word


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table with right-aligned numbers, as wide as the terminal or as a page."""
    from rich.console import Console  # imported here: most commands print no table
    from rich.markup import escape
    from rich.table import Table

    made = Table(header_style="bold", box=None, padding=(0, 2, 0, 0))
    filled = [[_cell(value) for value in row] for row in rows]
    for place, column in enumerate(columns):
        numeric = bool(filled) and all(_is_number(row[place]) for row in filled)
        words = [len(word) for row in (column, *(row[place] for row in filled)) for word in row.split()]
        width = min(max(words, default=1), _LONGEST)  # words are not split
        made.add_column(column, justify="right" if numeric else "left", overflow="fold", min_width=width)
    for row in filled:
        made.add_row(*map(escape, row))
    if title:
        click.secho(printable(title), bold=True)  # never shortened
    plain = Console()
    (plain if plain.is_terminal else Console(width=_WIDTH, no_color=True)).print(made)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else printable(str(value))


def _is_number(cell: str) -> bool:
    return not cell or cell.strip("+-%").replace(",", "").replace(".", "").isdigit()

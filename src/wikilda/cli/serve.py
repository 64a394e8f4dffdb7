"""`wikilda serve`."""

from dataclasses import replace
from pathlib import Path

import click

from wikilda._core.errors import WikildaError
from wikilda.cli._options import Sectioned, settings_options, urn_option
from wikilda.lda.settings import LdaSettings
from wikilda.server.settings import ServerSettings
from wikilda.urn import UrnSettings

_ANY = click.Path(path_type=Path)


@click.command(cls=Sectioned)
@click.argument("model", type=_ANY, metavar="MODEL")
@click.option("--kb", "knowledge", type=_ANY, help="The model's knowledge, if it has moved.")
@click.option("--sweeps", type=click.IntRange(2), help="S: Gibbs sweeps over a document.")
@click.option("--seed", type=int, help="Where random numbers begin.")
@click.option("--lda", is_flag=True, help="Decide mentions by the paper's sampler, not by the urn; it cannot say why.")
@urn_option
@settings_options(ServerSettings)
def command(
    model: Path, knowledge: Path | None, sweeps: int | None, seed: int | None, lda: bool, urn: UrnSettings,
    settings: ServerSettings,
) -> None:  # fmt: skip
    """Serve a model: an API, the shapes of REL, TagMe, DBpedia Spotlight and GERBIL's NIF, and a page.

    Listens on this machine only, unless --host says otherwise. Stops on Ctrl-C or SIGTERM, after finishing what it
    has begun.
    """
    try:
        from wikilda.server.run import Plan, serve
    except ModuleNotFoundError as error:
        raise WikildaError(f"serve needs {error.name}. Install it: pip install 'wikilda[server]'") from None
    given = LdaSettings() if lda else urn
    kept = sweeps or given.sweeps
    burn_in = min(given.burn_in, kept // 2) if sweeps else given.burn_in
    chosen = replace(given, sweeps=kept, burn_in=burn_in, seed=given.seed if seed is None else seed)
    serve(Plan(model, knowledge, settings, chosen))

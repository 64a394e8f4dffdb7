"""`wikilda serve`."""

from pathlib import Path

import click

from wikilda._core.errors import WikildaError
from wikilda.cli._options import Command, method_options, model_argument
from wikilda.linking.methods import MethodSettings
from wikilda.server.settings import ServerSettings


@click.command(cls=Command)
@model_argument
@method_options(beside=ServerSettings, first=("host", "port", "workers", "keys"))
def command(model: Path, knowledge: Path | None, method: MethodSettings, settings: ServerSettings) -> None:
    """Serve a model: its own API, those of REL, TagMe, DBpedia Spotlight and GERBIL (NIF), and a web page.

    Listens on this machine only, unless --host is given. Stops on Ctrl-C or SIGTERM, after it has finished the
    requests that it works on.
    """
    try:
        from wikilda.server.run import Plan, serve
    except ModuleNotFoundError as error:
        raise WikildaError(f"serve needs {error.name}. Install it: pip install 'wikilda[server]'") from None
    serve(Plan(model, knowledge, settings, method))

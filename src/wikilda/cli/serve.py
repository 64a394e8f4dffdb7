"""`wikilda serve`."""

from pathlib import Path

import click

from wikilda.cli._options import method_option, model_argument, settings_options
from wikilda.linking.methods import METHODS, MethodSettings
from wikilda.server import serve
from wikilda.server.settings import ServerSettings


@click.command()
@model_argument
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=int, metavar="N", help="Port to listen on.  [default: 8000]")
@click.option("-j", "--workers", type=int, metavar="N", help="Processes.  [default: 1]")
@method_option
@settings_options("host", "port", "workers", method=METHODS, settings=ServerSettings)
def command(model: Path, method: MethodSettings, settings: ServerSettings) -> None:
    """Serve a model: its own API, those of REL, TagMe, DBpedia Spotlight and GERBIL (NIF), and a web page.

    Listens on this machine only, unless --host is given. Stops on Ctrl-C or SIGTERM, after it has finished the
    requests that it works on.
    """
    serve(model, settings, settings=method)

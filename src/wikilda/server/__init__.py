"""The server: the API, those of other linkers, and the page."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikilda._core.errors import WikildaError

if TYPE_CHECKING:
    from wikilda.linking.methods import MethodSettings
    from wikilda.server.settings import ServerSettings


def serve(
    model: str | Path,
    server: "ServerSettings | Mapping[str, Any] | None" = None,
    *,
    method: str | None = None,
    settings: "MethodSettings | Mapping[str, Any] | None" = None,
    knowledge: str | Path | None = None,
) -> None:
    """Serve a model until a signal stops it: `wikilda serve`. SIGHUP opens the model again.

    Parameters
    ----------
    model, method, settings, knowledge
        As in `Linker.open`.
    server
        `ServerSettings`, or a mapping of those that differ from the defaults: address, limits, keys.

    Examples
    --------
    >>> from wikilda import serve
    >>> serve(sample, {"host": "localhost", "port": 8000, "workers": 2})  # doctest: +SKIP
    """
    from wikilda.linking.methods import method_settings
    from wikilda.server.settings import ServerSettings

    try:
        from wikilda.server.run import Plan, run
    except ModuleNotFoundError as error:
        raise WikildaError(f"serve needs {error.name}. Install it: pip install 'wikilda[server]'") from None
    chosen = server if isinstance(server, ServerSettings) else ServerSettings.from_mapping(server or {})
    place = Path(knowledge) if knowledge is not None else None
    run(Plan(model=Path(model), knowledge=place, server=chosen, settings=method_settings(method, settings)))

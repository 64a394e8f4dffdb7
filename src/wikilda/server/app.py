"""The application: all routes, behind the guard."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from wikilda import __version__
from wikilda.linking import Linker
from wikilda.server import api, batch, health, openapi, page, reconcile
from wikilda.server._middleware import Guard, Keys
from wikilda.server.compat import nif, rel, spotlight, tagme
from wikilda.server.errors import Problem, problem_json
from wikilda.server.metrics import Metrics
from wikilda.server.protocol import MAX_OVERHEAD
from wikilda.server.service import Service
from wikilda.server.settings import ServerSettings

_ABOUT = """Entity linking on a CPU, from any MediaWiki dump, in any language.

`/v1` is the server's own API. The other routes have the shapes of REL, TagMe, DBpedia Spotlight and GERBIL's NIF, so
that their clients change nothing but an address. Offsets are in characters (Unicode code points). Every error is
`{"error": {"code", "message"}}`, and its message says what to change."""


def create_app(
    opener: Callable[[], Linker], settings: ServerSettings | None = None, metrics: Metrics | None = None,
    reloaded: Callable[[], None] | None = None,
) -> FastAPI:  # fmt: skip
    """An application that serves the linker which `opener` opens; opening begins when the application starts.

    A request to reload opens it again, and calls `reloaded`.
    """
    settings = settings or ServerSettings()
    service = Service(opener, settings, metrics or Metrics(), reloaded)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[dict[str, Any]]:
        service.start()
        yield {"patience": settings.patience, "max_bytes": MAX_OVERHEAD * settings.max_body}
        service.stop()

    app = FastAPI(
        title="wikilda", version=__version__, description=_ABOUT, lifespan=lifespan, docs_url=None, redoc_url=None,
        redirect_slashes=False,
    )  # fmt: skip
    app.state.service = service
    for routes in (
        api.router,
        batch.router,
        health.router,
        rel.router,
        tagme.router,
        spotlight.router,
        nif.router,
        reconcile.router,
        openapi.router,
        page.router,
    ):
        app.include_router(routes)
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _http_error)
    if settings.keys:
        app.add_middleware(Keys, keys=settings.keys)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=list(settings.origins), allow_methods=["GET", "POST"], allow_headers=["*"]
        )
    app.add_middleware(Guard, service=service)
    return app


async def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return error.response()


async def _not_valid(_: Request, error: Exception) -> Response:
    """Return the errors of a request by field, without its values."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if found and found[0]["type"] == "json_invalid":
        return JSONResponse(problem_json("not_json", "The body is not JSON."), 400)
    said = [f"{'.'.join(str(part) for part in each['loc'][1:]) or 'body'}: {each['msg']}" for each in found[:5]]
    return JSONResponse(problem_json("invalid", "; ".join(said)[:1000]), 422)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = {"Allow": ", ".join(_allowed(request))} if error.status_code == 405 else error.headers
    codes = {400: "bad_request", 404: "not_found", 405: "method_not_allowed"}
    said = {404: "There is nothing here. See /openapi.json.", 400: "The body cannot be read."}
    body = problem_json(codes.get(error.status_code, "error"), said.get(error.status_code, str(error.detail)))
    return JSONResponse(body, error.status_code, headers)


def _allowed(request: Request) -> list[str]:
    """Return all methods of a path."""
    routes = [each for each in request.app.routes if each.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for each in routes for method in getattr(each, "methods", None) or ()} - {"HEAD"})

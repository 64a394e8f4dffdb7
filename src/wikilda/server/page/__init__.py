"""The page: a few files that come with the package, and nothing from elsewhere."""

import hashlib
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from wikilda.server.errors import Problem

router = APIRouter()

_HERE = Path(__file__).parent
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_FILES = {each.name: each.read_bytes() for each in sorted(_HERE.iterdir()) if each.suffix in _KINDS}
_TAGS = {name: f'"{hashlib.blake2b(data, digest_size=8).hexdigest()}"' for name, data in _FILES.items()}
_STATUS = {"schemaVersion": 1, "label": "status", "message": "up", "color": "green"}  # what REL's server says


@router.head("/", include_in_schema=False)
@router.get("/", summary="The page, or REL's status", tags=["REL"])
async def index(request: Request) -> Response:
    """The page for browsers; for programs the status that REL's server gives."""
    if "text/html" in request.headers.get("accept", ""):
        return _file(request, "index.html")
    return JSONResponse(_STATUS)


@router.api_route("/page/{name}", methods=["GET", "HEAD"], include_in_schema=False)
async def file(request: Request, name: str) -> Response:
    """One of the page's files."""
    if name not in _FILES:
        raise Problem(404, "not_found", "The page has no such file.")
    return _file(request, name)


def _file(request: Request, name: str) -> Response:
    headers = {"ETag": _TAGS[name], "Cache-Control": "no-cache", "Vary": "Accept"}
    if request.headers.get("if-none-match") == _TAGS[name]:
        return Response(status_code=304, headers=headers)
    return Response(_FILES[name], media_type=_KINDS[Path(name).suffix], headers=headers)

"""Routes with parameters in the address (GET) or in a form (POST), and their OpenAPI."""

import json
from collections.abc import Callable
from functools import cache
from html import escape
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from wikilda.server.errors import Problem, invalid, shortened
from wikilda.server.service import LARGE, Service

Handler = TypeVar("Handler", bound=Callable[..., Any])
_NUMBERS = ("confidence", "support")
_FORM = "application/x-www-form-urlencoded"
_MOST = 1000  # fields of a request
_PIECE = 1 << 14  # bytes that are decoded together


def parameters(
    router: APIRouter,
    path: str,
    fields: dict[str, str],
    summary: str,
    *,
    required: str = "",
    also: tuple[str, ...] = (),
) -> Callable[[Handler], Handler]:
    """Give a handler a path for GET and POST, with fields and what each is; and other paths that are not documented."""

    def decorate(handler: Handler) -> Handler:
        for method, extra in (("GET", _in_address(fields, required)), ("POST", _in_form(fields, required))):
            name = f"{path.strip('/')}_{method.lower()}"
            router.add_api_route(
                path, handler, methods=[method], summary=summary, operation_id=name, openapi_extra=extra
            )
        for other in also:
            router.add_api_route(other, handler, methods=["GET", "POST"], include_in_schema=False)
        return handler

    return decorate


def _schema(name: str) -> dict[str, Any]:
    return {"type": "number", "minimum": 0} if name in _NUMBERS else {"type": "string"}


def _in_address(fields: dict[str, str], required: str) -> dict[str, Any]:
    return {
        "parameters": [
            {"name": name, "in": "query", "required": name == required, "description": about, "schema": _schema(name)}
            for name, about in fields.items()
        ]
    }  # fmt: skip


def _in_form(fields: dict[str, str], required: str) -> dict[str, Any]:
    described = {name: {**_schema(name), "description": about} for name, about in fields.items()}
    schema = {"type": "object", "properties": described, "required": [required] if required else []}
    return {"requestBody": {"required": True, "content": {_FORM: {"schema": schema}}}}


class Fields:
    """The parameters of a request. Those of the address come before those of the form."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs

    def all(self, name: str) -> list[str]:
        """All values of a name."""
        return [value for each, value in self._pairs if each == name]

    def get(self, name: str, default: str = "") -> str:
        """The first value of a name."""
        return next(iter(self.all(name)), default)

    def text(self) -> str:
        """Return the required text."""
        found = self.all("text")
        if not found:
            raise Problem(400, "no_text", "Send the text as the parameter `text`, in the address or in a form.")
        return found[0]

    def number(self, name: str, default: float) -> float:
        """A number from 0 on."""
        given = self.get(name, str(default))
        try:
            value = float(given)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise invalid(f"{name}: is not a number from 0 on.")
        return value

    def flag(self, name: str) -> bool:
        """Whether a parameter is true."""
        return self.get(name).lower() in ("true", "1", "yes")


async def fields_of(request: Request, service: Service) -> Fields:
    """The parameters of a request. Large forms are decoded in a thread, because that takes long."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await request.body()
    if body and kind not in (_FORM, ""):
        raise Problem(415, "no_form", f"The body is {shortened(kind)}; send {_FORM}, or parameters in the address.")
    form = await service.work.run(_pairs, body) if len(body) > LARGE else _pairs(body)
    return Fields([*_pairs(request.scope["query_string"]), *form])


def _pairs(data: bytes) -> list[tuple[str, str]]:
    if data.count(b"&") >= _MOST:
        raise Problem(400, "too_many_fields", f"There are more than {_MOST:,} parameters.")
    fields = (each.partition(b"=") for each in data.split(b"&") if each)
    try:
        return [(_decoded(name), _decoded(value)) for name, _, value in fields]
    except UnicodeDecodeError:
        raise Problem(400, "not_utf8", "A parameter is not UTF-8, percent-encoded.") from None


def _decoded(data: bytes) -> str:
    """Decode what is percent-encoded, in pieces: the library makes an object for each percent sign."""
    if not data.isascii():
        data.decode("ascii")  # raises the error
    data, parts, start = data.replace(b"+", b" "), [], 0
    while start < len(data):
        end = start + _PIECE
        if end < len(data) and (cut := data.rfind(b"%", end - 2, end)) >= 0:
            end = cut
        parts.append(unquote_to_bytes(data[start:end]))
        start = end
    return b"".join(parts).decode()


router = APIRouter()
_HEAD = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="/page/icon.svg">
<link rel="stylesheet" href="/page/docs.css"></head><body>
<h1>{title}</h1>{about}<p><a href="/openapi.json">openapi.json</a></p>"""
_DEPTH = 6  # of schemas within schemas that are shown


@router.get("/docs", include_in_schema=False)
async def reference(request: Request) -> Response:
    """Return all routes with their parameters and answers."""
    return HTMLResponse("".join(_page(request.app.openapi())))


@cache
def _renderer() -> Callable[[str], str]:
    from markdown_it import MarkdownIt  # no other page needs it, and servers are to start at once

    return MarkdownIt("commonmark", {"html": False}).render


def _markdown(text: str) -> str:
    """Descriptions are Markdown, as OpenAPI has it; HTML in them is shown as text."""
    return _renderer()(text)


def _page(api: dict[str, Any]) -> list[str]:
    info = api["info"]
    parts = [
        _HEAD.format(title=escape(f"{info['title']} {info['version']}"), about=_markdown(info.get("description", "")))
    ]
    tags: dict[str, list[str]] = {}
    for path, methods in api["paths"].items():
        for method, operation in methods.items():
            section = (operation.get("tags") or ["more"])[0]
            tags.setdefault(section, []).append(_operation(api, method.upper(), path, operation))
    for tag, operations in tags.items():
        parts += [f"<h2>{escape(tag)}</h2>", *operations]
    return [*parts, "</body></html>"]


def _operation(api: dict[str, Any], method: str, path: str, operation: dict[str, Any]) -> str:
    head = f"<summary><b>{method}</b> <code>{escape(path)}</code> {escape(operation.get('summary', ''))}</summary>"
    parts = [_markdown(operation.get("description", ""))]
    rows = "".join(
        f"<tr><td><code>{escape(each['name'])}</code></td><td>{escape(each['in'])}</td>"
        f"<td>{_markdown(each.get('description', ''))}</td></tr>"
        for each in operation.get("parameters", [])
    )
    parts += [f"<table>{rows}</table>"] if rows else []
    parts += _contents(api, "takes", operation.get("requestBody", {}))
    for status, answer in operation.get("responses", {}).items():
        if status.startswith("2"):
            parts += _contents(api, f"gives ({status})", answer)
    errors = ", ".join(each for each in operation.get("responses", {}) if not each.startswith("2"))
    parts += [f"<p>errors: {errors}</p>"] if errors else []
    return f"<details>{head}{''.join(parts)}</details>"


def _contents(api: dict[str, Any], title: str, given: dict[str, Any]) -> list[str]:
    found = []
    for kind, content in given.get("content", {}).items():
        shape = json.dumps(_shape(api, content.get("schema", {}), _DEPTH), indent=2, ensure_ascii=False)
        found.append(f"<h4>{title} <code>{escape(kind)}</code></h4><pre>{escape(shape)}</pre>")
    return found


def _shape(api: dict[str, Any], schema: dict[str, Any], depth: int) -> Any:
    """A schema as an example of itself: the given one, or the names of fields and what their values are."""
    if "$ref" in schema:
        schema = api["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if schema.get("examples"):
        return schema["examples"][0]
    if depth == 0:
        return "…"
    if "properties" in schema:
        return {name: _shape(api, each, depth - 1) for name, each in schema["properties"].items()}
    if "items" in schema:
        return [_shape(api, schema["items"], depth - 1)]
    for name in ("anyOf", "oneOf", "allOf"):
        if schema.get(name):
            return _shape(api, schema[name][0], depth)
    return schema.get("description") or schema.get("type") or "anything"

"""Routes that take their parameters in the address (GET) or in a form (POST), and how they look in OpenAPI."""

from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import APIRouter

Handler = TypeVar("Handler", bound=Callable[..., Any])
_NUMBERS = ("confidence", "support")
_FORM = "application/x-www-form-urlencoded"


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

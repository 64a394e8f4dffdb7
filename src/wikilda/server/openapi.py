"""How routes that take forms look in the OpenAPI document."""

from typing import Any


def form(fields: dict[str, str], *required: str) -> dict[str, Any]:
    """Parameters that may stand in the address or in a form."""
    return {
        "parameters": [
            {"name": name, "in": "query", "required": False, "description": about, "schema": {"type": "string"}}
            for name, about in fields.items()
        ],
        "requestBody": {
            "required": False,
            "content": {
                "application/x-www-form-urlencoded": {
                    "schema": {
                        "type": "object",
                        "properties": {
                            name: {"type": "string", "description": about} for name, about in fields.items()
                        },
                    }
                }
            },
        },
        **({"description": f"Required in one or the other: {', '.join(required)}."} if required else {}),
    }

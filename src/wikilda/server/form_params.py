"""Parameters of the shapes that other services have: in the address, or in a form."""

from urllib.parse import parse_qsl

from starlette.requests import Request

from wikilda.server.errors import Problem, invalid, shortened

_FORM = "application/x-www-form-urlencoded"
_MOST = 1000  # fields of a request


class Fields:
    """The parameters of a request; those that the address has go before those of the form."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs

    def all(self, name: str) -> list[str]:
        """All values of a name."""
        return [value for each, value in self._pairs if each == name]

    def get(self, name: str, default: str = "") -> str:
        """The first value of a name."""
        return next(iter(self.all(name)), default)

    def text(self) -> str:
        """The text that must be there."""
        found = self.all("text")
        if not found:
            raise Problem(400, "no_text", "Send the text as the parameter `text`, in the address or in a form.")
        return found[0]

    def number(self, name: str, default: float) -> float:
        """A number from 0 on."""
        given = self.get(name) or str(default)
        try:
            value = float(given)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise invalid(f"{name}: is not a number from 0 on.")
        return value

    def flag(self, name: str) -> bool:
        """Whether a parameter says yes."""
        return self.get(name).lower() in ("true", "1", "yes")


async def fields_of(request: Request) -> Fields:
    """The parameters of a request."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await request.body()
    if body and kind not in (_FORM, ""):
        raise Problem(415, "no_form", f"The body is {shortened(kind)}; send {_FORM}, or parameters in the address.")
    return Fields([*_pairs(request.scope["query_string"]), *_pairs(body)])


def _pairs(data: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(data.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST)
    except UnicodeDecodeError:
        raise Problem(400, "not_utf8", "A parameter is not UTF-8, percent-encoded.") from None
    except ValueError:
        raise Problem(400, "too_many_fields", f"There are more than {_MOST:,} parameters.") from None

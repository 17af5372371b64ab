"""Bodies of requests: JSON of a known shape, and small."""

from typing import TypeVar

import msgspec

from service.api.routes.session import AnyRequest
from service.errors import InvalidQuestionError, NotJsonError
from service.ingest.input_checks import reject_nul_in_json

MAX_BODY_BYTES = 65_536
_Shape = TypeVar("_Shape")


async def json_body(request: AnyRequest, shape: type[_Shape]) -> _Shape:
    """Return the body; an empty one is an empty object.

    Raises:
        NotJsonError: its content type is not JSON.
        InvalidQuestionError: it has not this shape; the text names the place.
    """
    require_json(request)
    body = await request.body()
    reject_nul_in_json(body)
    try:
        return msgspec.json.decode(body or b"{}", type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidQuestionError(f"body: {str(error)[:300]}") from error


def require_json(request: AnyRequest) -> None:
    """Reject a body whose content type is not JSON.

    Raises:
        NotJsonError: a page of another site may have a visitor's browser send any other kind
            without asking us first.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise NotJsonError(f"send `Content-Type: application/json`, not {kind[:80]!r}")

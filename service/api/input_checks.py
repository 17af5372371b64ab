"""Checks of requests for NUL characters, which no catalog can store."""

import re
from typing import Any

from litestar import Request

from lineage.errors import InvalidRequestError

_ENCODED = b"%00"
# In JSON: an escape, and not a backslash that is itself escaped.
_ESCAPED = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_DETAIL = "contains a NUL character, which names and texts must not"


def reject_nul(request: Request[Any, Any, Any]) -> None:
    """Reject a request with a NUL character in its path or query.

    Raises:
        InvalidRequestError: there is a NUL character.
    """
    if _ENCODED in request.scope["query_string"] or "\0" in request.scope["path"]:
        raise InvalidRequestError(_DETAIL)


def reject_nul_in_json(body: bytes) -> None:
    """Reject a JSON body with a NUL character.

    Raises:
        InvalidRequestError: there is a NUL character.
    """
    if _ESCAPED.search(body):
        raise InvalidRequestError(f"body: {_DETAIL}")

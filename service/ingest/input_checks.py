"""Refuses what no catalog can hold before anything is made of it: a text with a NUL in it."""

import re
from typing import Any

from litestar import Request

from service.errors import InvalidQuestionError

_ENCODED = b"%00"
# In JSON: an escape, and not a backslash that is itself escaped.
_ESCAPED = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_DETAIL = "contains a NUL character, which names and texts must not"


def reject_nul(request: Request[Any, Any, Any]) -> None:
    """Of a request's path and query.

    Raises:
        InvalidQuestionError: there is one.
    """
    if _ENCODED in request.scope["query_string"] or "\0" in request.scope["path"]:
        raise InvalidQuestionError(_DETAIL)


def reject_nul_in_json(body: bytes) -> None:
    """Of a body.

    Raises:
        InvalidQuestionError: there is one.
    """
    if _ESCAPED.search(body):
        raise InvalidQuestionError(f"body: {_DETAIL}")

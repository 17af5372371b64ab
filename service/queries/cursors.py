"""Cursors of lists: the next page begins behind the last row of a page, whatever came since.

A cursor holds the sort key of a row that was shown, and which question it was an answer to.
"""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Annotated, Any

import msgspec

from lineage.errors import InvalidRequestError

MOST_CHARACTERS = 16_384  # of one whose last row bears a very long name
# What both databases can hold and negate: a cursor is the client's, who may have written it.
Whole = Annotated[int, msgspec.Meta(ge=-(2**63) + 1, le=2**63 - 1)]
CursorText = Annotated[str, msgspec.Meta(pattern=r"\A[^\0]*\Z")]
_Key = tuple[Any, ...]


def cursor_of(question: object, key: _Key) -> str:
    """Return the cursor of the page after the row with this sort key.

    Args:
        question: the query with its filters, as anything that msgspec encodes.
        key: of the last row that is shown.
    """
    return urlsafe_b64encode(msgspec.json.encode((_mark(question), key))).decode().rstrip("=")


def start_key(cursor: str | None, question: object, shape: Any) -> _Key | None:  # noqa: ANN401 - a type
    """Return the sort key that the page starts after, or None without a cursor.

    Raises:
        InvalidRequestError: it is none, or was given for another question.
    """
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        given = urlsafe_b64decode(padded.encode("ascii"))
        mark, key = msgspec.json.decode(given, type=tuple[str, shape])
    except ValueError as error:  # msgspec's own errors are of this kind
        expected = "expected the unchanged next_cursor of an answer"
        raise InvalidRequestError(f"cursor: {expected}, got {cursor[:80]!r}") from error
    if mark != _mark(question):
        message = "cursor: belongs to another query: keep all other parameters unchanged"
        raise InvalidRequestError(message)
    return tuple(key)


def _mark(question: object) -> str:
    return hashlib.sha256(msgspec.json.encode(question)).hexdigest()[:8]

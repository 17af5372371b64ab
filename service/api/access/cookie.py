"""Cookie with a browser's token: accepted by pages only, never by the API.

A browser adds cookies to any request, also if another site made it send one: so nothing that
changes anything goes by the cookie alone; see `service.explorer.forms`.
"""

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from litestar.datastructures import Cookie

_NAME: Final = "lineward_token"
_KEPT_SECONDS: Final = 12 * 3_600


def cookie_of(token: str, *, is_secure: bool) -> Cookie:
    """Return the cookie of this token; an empty token ends the session."""
    return Cookie(
        key=_NAME,
        value=quote(token, safe=""),
        max_age=_KEPT_SECONDS if token else 0,
        path="/",
        httponly=True,
        secure=is_secure,
        # Strict would not be sent where a link of a message leads here.
        samesite="lax",
    )


def bearers(headers: Iterable[tuple[bytes, bytes]]) -> list[bytes]:
    """Return the token in the cookies as Authorization headers."""
    sent = b";".join(value for name, value in headers if name.lower() == b"cookie")
    pairs = (each.strip().partition(b"=") for each in sent.split(b";"))
    return [
        b"Bearer " + unquote_to_bytes(value)
        for name, _, value in pairs
        if name == _NAME.encode() and value
    ]

"""Decisions on accesses: who asks, and whether the version in force permits it.

The cookie with a browser's token is accepted by pages only, never by the API. A browser adds it to
any request, also if another site made it send one: so nothing that changes anything goes by the
cookie alone; see `service.api.cross_site`.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, unquote_to_bytes

import msgspec
from litestar.datastructures import Cookie

from service.api.access.versions import AccessVersion, Holder, fingerprint_of
from service.queries.visibility import EVERYTHING, Visibility

READ_ROLE, RESPOND, ALERTS, ADMIN = "read", "respond", "alerts", "admin"
OTHER = "other"
# What each action needs; what is not here needs the most.
NEEDS = {
    **dict.fromkeys(
        ("lineage", "impact", "dataset", "datasets", "why", "history", "run", "diff", "slis"),
        READ_ROLE,
    ),
    **dict.fromkeys(
        ("overview", "incidents", "incident", "graph", "suppressions", "jobs"), READ_ROLE
    ),
    **dict.fromkeys(("answer", "suppress"), RESPOND),
    "alertmanager": ALERTS,  # a webhook's secret can do nothing else
}
_BEARER = re.compile(rb"[Bb]earer +([!-~]+)")
_ADVICE = {
    "no_token": "send the header `Authorization: Bearer TOKEN`",
    "malformed_token": "expected one header `Authorization: Bearer TOKEN`",
    "unknown_token": "unknown token: it may have been replaced or removed",
    "expired": "the token has expired",
    "role": "the token's roles do not allow this",
    "whole_only": "this answer cannot be limited to the namespaces of the token",
    "namespace": "the token may not see this namespace",
}
_UNKNOWN_WHO = ("no_token", "malformed_token", "unknown_token", "expired")

_COOKIE: Final = "lineward_token"
_COOKIE_SECONDS: Final = 12 * 3_600


class AccessDecision(msgspec.Struct, frozen=True):
    """Decision on one access.

    Attributes:
        reason: a word for why not; empty when allowed.
        who: the token's name; empty where no token is known by what was shown.
        fingerprint: of the token that was shown; never the token.
    """

    reason: str
    who: str
    fingerprint: str
    visibility: Visibility = EVERYTHING

    @property
    def allowed(self) -> bool:
        """Return whether the access is permitted."""
        return not self.reason

    @property
    def status(self) -> int:
        """401: say who you are; 403: it is known, and may not."""
        return status_of(self.reason)


def status_of(reason: str) -> int:
    """Return the HTTP status of a rejection."""
    return 401 if reason in _UNKNOWN_WHO else 403


def rejection_advice(reason: str) -> str:
    """Return advice for a rejected request, without any text of the request."""
    return _ADVICE[reason]


def decide(
    version: AccessVersion, shown: Iterable[bytes], action: str, at: int, *, is_cut: bool
) -> AccessDecision:
    """Decide one access.

    Args:
        version: in force, with holders.
        shown: the values of the request's Authorization headers.
        action: what is asked, a key of `NEEDS` or anything else.
        at: now, µs.
        is_cut: whether the answer will leave out what the token may not see.
    """
    headers = list(shown)
    found = _BEARER.fullmatch(headers[0]) if len(headers) == 1 else None
    if found is None:
        return AccessDecision("malformed_token" if headers else "no_token", "", "")
    digest = hashlib.sha256(found[1]).digest()
    fingerprint = fingerprint_of(digest)
    holder = _holder_of(version, digest)
    if holder is None:
        return AccessDecision("unknown_token", "", fingerprint)
    reason = _rejection(holder, action, at, is_cut=is_cut)
    return AccessDecision(reason, holder.name, fingerprint, Visibility(holder.namespaces))


def _holder_of(version: AccessVersion, digest: bytes) -> Holder | None:
    """Compare with every token in constant time, so that timing reveals nothing."""
    found = None
    for holder in version.holders or ():
        if hmac.compare_digest(holder.digest, digest):
            found = holder
    return found


def _rejection(holder: Holder, action: str, at: int, *, is_cut: bool) -> str:
    if holder.expires_at is not None and at >= holder.expires_at:
        return "expired"
    needed = NEEDS.get(action, ADMIN)
    if needed not in holder.roles and ADMIN not in holder.roles:
        return "role"
    if not is_cut and "*" not in holder.namespaces:
        return "whole_only"
    return ""


def cookie_of(token: str, *, is_secure: bool) -> Cookie:
    """Return the cookie of this token; an empty token ends the session."""
    return Cookie(
        key=_COOKIE,
        value=quote(token, safe=""),
        max_age=_COOKIE_SECONDS if token else 0,
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
        if name == _COOKIE.encode() and value
    ]

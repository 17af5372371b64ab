"""M10: judgement of each access from the audit log and the stored versions alone.

None of this is the code that let the access in: another matcher, another table of what needs what.
A fault in either shows as a difference.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

WHOLE = "*"
# Allowed to read, and to those who respond: all else needs `admin`. Written down here on its own,
# not taken from the gate.
READABLE = (
    *("dataset", "datasets", "diff", "graph", "history", "impact", "lineage", "run", "slis"),
    *("why", "incident", "incidents", "jobs", "overview", "suppressions"),
)
ANSWERABLE = ("suppress", "answer")
POSTABLE = ("alertmanager",)


class Token(msgspec.Struct, frozen=True):
    """Permissions of one token, as stored."""

    name: str
    fingerprint: str
    roles: list[str]
    namespaces: list[str]
    expires_at: int | None = None


class AccessFileVersion(msgspec.Struct, frozen=True):
    """Version and its start time (µs); `tokens` is None where access was open."""

    since: int
    hash: str
    tokens: list[Token] | None


def version_at(versions: Sequence[AccessFileVersion], at: int) -> AccessFileVersion | None:
    """Return the version in force at a time; `versions` are ordered by start."""
    in_force = None
    for version in versions:
        if version.since > at:
            break
        in_force = version
    return in_force


def access_fault(row: Mapping[str, Any], versions: Sequence[AccessFileVersion]) -> str | None:
    """Return why this access should have been rejected; None where it was right to permit it.

    Args:
        row: of `access_audit`, with decision `allow`.
        versions: all that were stored.
    """
    version = version_at(versions, row["at"])
    if version is None or version.tokens is None:
        return "no_version"
    if version.hash != row["version"]:
        return "another_version"
    token = next((one for one in version.tokens if one.name == row["who"]), None)
    if token is None:
        return "unknown_token"
    if not token.fingerprint or token.fingerprint != row["fingerprint"]:
        return "another_token"
    return _beyond(token, row)


def _beyond(token: Token, row: Mapping[str, Any]) -> str | None:
    """Return what an access did that its token does not allow."""
    if token.expires_at is not None and token.expires_at <= row["at"]:
        return "expired"
    if not any(_allows(role, row["action"]) for role in token.roles):
        return "role"
    if WHOLE in token.namespaces:
        return None
    if row["action"] not in READABLE:
        return "namespace"
    seen = msgspec.json.decode(row["namespaces"], type=list[str])
    allowed = all(any(covers(one, name) for one in token.namespaces) for name in seen)
    return None if allowed else "namespace"


def _allows(role: str, action: str) -> bool:
    allowed = {"read": READABLE, "respond": ANSWERABLE, "alerts": POSTABLE}
    return role == "admin" or action in allowed.get(role, ())


def covers(pattern: str, name: str) -> bool:
    """Return whether a pattern of `*` and `?` matches the whole name; two pointers, no regex."""
    at = mark = 0
    star, resume = -1, 0
    for_scheme = _usual(pattern)
    while at < len(name):
        here = for_scheme[mark] if mark < len(for_scheme) else ""
        if here == "*":
            star, resume, mark = mark, at, mark + 1
        elif here in {"?", name[at]} and here:
            at, mark = at + 1, mark + 1
        elif star >= 0:
            resume += 1
            at, mark = resume, star + 1
        else:
            return False
    return not for_scheme[mark:].strip("*")


def _usual(pattern: str) -> str:
    """Return a pattern in the scheme that namespaces are folded to."""
    usual = {"s3a": "s3", "s3n": "s3", "abfs": "abfss", "wasb": "wasbs", "gcs": "gs"}
    scheme, cut, rest = pattern.partition("://")
    return f"{usual.get(scheme, scheme)}{cut}{rest}" if cut else pattern

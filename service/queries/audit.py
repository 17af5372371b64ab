"""Audits: operator actions with their results, and who asked the API for what."""

from typing import Final

import msgspec

from lineage.catalog.reader import CatalogReader
from lineage.catalog.rows import Row
from lineage.errors import InvalidRequestError
from service.queries.cursors import Whole, cursor_of, start_key
from service.queries.timestamps import iso_of

_ACTIONS = """
SELECT id, at, who, via, action, detail, answer FROM audit
WHERE (CAST(:who AS TEXT) IS NULL OR who = :who)
  AND (CAST(:action AS TEXT) IS NULL OR action = :action)
  AND (CAST(:before AS BIGINT) IS NULL OR id < CAST(:before AS BIGINT))
ORDER BY id DESC LIMIT :limit
"""

MOST_AUDIT_ROWS: Final = 1_000
_LOOKED_AT = 100_000  # rows of one question: a rare name is in none of them
_DECISIONS = ("allow", "deny")
_ACCESSES = """
SELECT id, at, who, fingerprint, action, subject, namespaces, decision, reason, status, version,
  request_id
FROM (SELECT * FROM access_audit WHERE id < :before ORDER BY id DESC LIMIT :looked_at) AS newest
WHERE (CAST(:who AS TEXT) IS NULL OR who = CAST(:who AS TEXT))
  AND (CAST(:action AS TEXT) IS NULL OR action = CAST(:action AS TEXT))
  AND (CAST(:decision AS TEXT) IS NULL OR decision = CAST(:decision AS TEXT))
ORDER BY id DESC LIMIT :most
"""
_OLDEST = """
SELECT min(id), count(*) FROM (
  SELECT id FROM access_audit WHERE id < :before ORDER BY id DESC LIMIT :looked_at) AS newest
"""
_LAST = 2**62


class AuditFilters(msgspec.Struct, frozen=True):
    """Filter of rows by person and action; null is any."""

    who: str | None = None
    action: str | None = None


class AuditRow(msgspec.Struct, frozen=True):
    """`answer`: `done`, `rejected: WHY`, or null where it was not known when this was written."""

    id: int
    at: str
    who: str
    via: str | None
    action: str
    detail: str
    answer: str | None


class AuditPage(msgspec.Struct, frozen=True):
    """Page of rows, newest first; `next_cursor` leads to older ones."""

    rows: list[AuditRow]
    partial: bool
    partial_reason: str | None
    next_cursor: str | None


def list_actions(
    reader: CatalogReader, wanted: AuditFilters, *, limit: int, cursor: str | None = None
) -> AuditPage:
    """Return at most `limit` rows.

    Raises:
        InvalidRequestError: a cursor that is none of this question's.
    """
    question = "audit", wanted
    (before,) = start_key(cursor, question, tuple[Whole]) or (None,)
    values = {**msgspec.structs.asdict(wanted), "before": before, "limit": limit + 1}
    found = reader.rows(_ACTIONS, values)
    rows = [AuditRow(**row._asdict() | {"at": iso_of(row.at)}) for row in found[:limit]]
    is_cut = len(found) > limit
    return AuditPage(
        rows,
        partial=is_cut,
        partial_reason=f"{limit:,} shown; older ones exist" if is_cut else None,
        next_cursor=cursor_of(question, (rows[-1].id,)) if is_cut else None,
    )


class AccessFilters(msgspec.Struct, frozen=True):
    """Filter of rows by token, action and decision; null is any."""

    who: str | None = None
    action: str | None = None
    decision: str | None = None


class AccessRow(msgspec.Struct, frozen=True):
    """Access.

    Attributes:
        who: name of the token; empty where no token is known by what was shown.
        fingerprint: of the token that was shown; never the token.
        subject: what was asked for.
        namespaces: that the answer named.
        decision: allow | deny; `reason` is empty for an access that was allowed.
        version: hash of the access policy that decided.
    """

    id: int
    at: str
    who: str
    fingerprint: str
    action: str
    subject: str
    namespaces: list[str]
    decision: str
    reason: str
    status: int
    version: str
    request_id: str


class AccessPage(msgspec.Struct, frozen=True):
    """Newest first; `next_cursor` leads to older ones."""

    rows: list[AccessRow]
    partial: bool
    partial_reason: str | None
    next_cursor: str | None


def list_accesses(
    reader: CatalogReader, filters: AccessFilters, *, limit: int, cursor: str | None = None
) -> AccessPage:
    """Return at most `limit` accesses.

    Raises:
        InvalidRequestError: no such decision, or a cursor of another question.
    """
    if filters.decision is not None and filters.decision not in _DECISIONS:
        expected = f"expected one of {', '.join(_DECISIONS)}, got {filters.decision[:80]!r}"
        raise InvalidRequestError(f"decision: {expected}")
    question = "access_audit", filters
    (before,) = start_key(cursor, question, tuple[Whole]) or (_LAST,)
    window = {"before": before, "looked_at": _LOOKED_AT}
    values = {**window, **msgspec.structs.asdict(filters), "most": limit + 1}
    found = reader.rows(_ACCESSES, values)
    rows = [_row(row) for row in found[:limit]]
    ((oldest, looked_at),) = reader.rows(_OLDEST, window)
    if len(found) > limit:
        reason, behind = f"{limit:,} shown; older ones exist", rows[-1].id
    elif looked_at == _LOOKED_AT:
        reason, behind = f"of {_LOOKED_AT:,} accesses; there are older ones", oldest
    else:
        return AccessPage(rows, partial=False, partial_reason=None, next_cursor=None)
    cursor_behind = cursor_of(question, (behind,))
    return AccessPage(rows, partial=True, partial_reason=reason, next_cursor=cursor_behind)


def _row(row: Row) -> AccessRow:
    namespaces = msgspec.json.decode(row.namespaces, type=list[str])
    return AccessRow(**row._asdict() | {"at": iso_of(row.at), "namespaces": namespaces})

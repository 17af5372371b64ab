"""Operator actions and their results."""

import msgspec

from lineage.catalog.reader import CatalogReader
from service.queries.cursors import Whole, cursor_of, key_of
from service.queries.timestamps import iso_of

_ROWS = """
SELECT id, at, who, via, action, detail, answer FROM audit
WHERE (CAST(:who AS TEXT) IS NULL OR who = :who)
  AND (CAST(:action AS TEXT) IS NULL OR action = :action)
  AND (CAST(:before AS BIGINT) IS NULL OR id < CAST(:before AS BIGINT))
ORDER BY id DESC LIMIT :limit
"""


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


def audit(
    reader: CatalogReader, wanted: AuditFilters, *, limit: int, cursor: str | None = None
) -> AuditPage:
    """Return at most `limit` rows.

    Raises:
        InvalidQuestionError: a cursor that is none of this question's.
    """
    question = "audit", wanted
    (before,) = key_of(cursor, question, tuple[Whole]) or (None,)
    values = {**msgspec.structs.asdict(wanted), "before": before, "limit": limit + 1}
    found = reader.rows(_ROWS, values)
    rows = [AuditRow(**row._asdict() | {"at": iso_of(row.at)}) for row in found[:limit]]
    is_cut = len(found) > limit
    return AuditPage(
        rows,
        partial=is_cut,
        partial_reason=f"{limit:,} shown; older ones exist" if is_cut else None,
        next_cursor=cursor_of(question, (rows[-1].id,)) if is_cut else None,
    )

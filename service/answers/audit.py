"""What people wanted, by whom and by what way, and what became of it."""

import msgspec

from lineage.catalog.reader import Reader
from service.answers.moments import iso_of

_ROWS = """
SELECT id, at, who, via, action, detail, answer FROM audit
WHERE (CAST(:who AS TEXT) IS NULL OR who = :who)
  AND (CAST(:action AS TEXT) IS NULL OR action = :action)
  AND (CAST(:before AS BIGINT) IS NULL OR id < :before)
ORDER BY id DESC LIMIT :limit
"""


class Wanted(msgspec.Struct, frozen=True):
    """Which rows: of one person, of one action, older than one; none of them is all."""

    who: str | None = None
    action: str | None = None
    before: int | None = None


class AuditRow(msgspec.Struct, frozen=True):
    """`answer`: `done`, `refused: WHY`, or null where it was not known when this was written."""

    id: int
    at: str
    who: str
    via: str | None
    action: str
    detail: str
    answer: str | None


class AuditPage(msgspec.Struct, frozen=True):
    """The newest first; `next_before` leads to older ones."""

    rows: list[AuditRow]
    partial: bool
    partial_reason: str | None
    next_before: int | None


def audit(reader: Reader, wanted: Wanted, *, limit: int) -> AuditPage:
    """At most `limit` rows."""
    values = {**msgspec.structs.asdict(wanted), "limit": limit + 1}
    found = reader.rows(_ROWS, values)
    rows = [AuditRow(number, iso_of(at), *rest) for number, at, *rest in found[:limit]]
    if len(found) <= limit:
        return AuditPage(rows, partial=False, partial_reason=None, next_before=None)
    reason = f"the newest {limit}; there are older ones"
    return AuditPage(rows, partial=True, partial_reason=reason, next_before=rows[-1].id)

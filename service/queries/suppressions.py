"""Suppression windows: of people and of the policy, soonest end first."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import msgspec

from lineage.catalog.reader import CatalogReader
from lineage.catalog.rows import Row
from lineage.process.clock import to_micros
from service.queries.timestamps import iso_of

if TYPE_CHECKING:
    from lineage.policy import Policy
    from lineage.policy.model import MatchPattern, Suppression

_MOST = 1_000
_ROWS = f"""
SELECT id, name, pattern, from_at, until_at, "by", via, reason, ended_at FROM suppression
WHERE :ended = 1 OR (ended_at IS NULL AND until_at > :now)
ORDER BY until_at DESC LIMIT {_MOST}
"""  # noqa: S608 - a number of ours


class SuppressionRow(msgspec.Struct, frozen=True):
    """Suppression window; of a recurring one the current one, or the next.

    Attributes:
        id: by which it is ended; null: it is the policy's.
        state: active, planned or ended.
    """

    id: int | None
    name: str
    pattern: str
    begin: str = msgspec.field(name="from")
    until: str
    state: Literal["active", "planned", "ended"]
    cron: str | None
    by: str
    via: str
    reason: str


class SuppressionList(msgspec.Struct, frozen=True):
    """Suppression windows in the order in which they end."""

    suppressions: list[SuppressionRow]
    partial: bool
    partial_reason: str | None


def list_suppressions(
    reader: CatalogReader, policy: "Policy", now: datetime, *, with_ended: bool = False
) -> SuppressionList:
    """List active and planned windows; `with_ended`: ended ones too."""
    at = to_micros(now)
    asked = reader.rows(_ROWS, {"now": at, "ended": int(with_ended)})
    rows = [_asked(row, at) for row in asked]
    rows += [row for row in _of_policy(policy, now) if with_ended or row.state != "ended"]
    rows.sort(key=lambda row: row.until)
    reason = f"the {_MOST} that end last" if len(asked) == _MOST else None
    return SuppressionList(rows, partial=reason is not None, partial_reason=reason)


def _asked(row: Row, at: int) -> SuppressionRow:
    end = row.until_at if row.ended_at is None else min(row.until_at, row.ended_at)
    return SuppressionRow(
        row.id,
        row.name,
        row.pattern,
        begin=iso_of(row.from_at),
        until=iso_of(end),
        state=_state(row.from_at, end, at),
        cron=None,
        by=row.by,
        via=row.via,
        reason=row.reason,
    )


def _of_policy(policy: "Policy", now: datetime) -> Iterator[SuppressionRow]:
    for one in policy.suppressions:
        span = _span(one, policy, now)
        if span is None:
            continue
        begin, until = map(to_micros, span)
        yield SuppressionRow(
            None,
            one.name,
            _shown(one.match),
            begin=iso_of(begin),
            until=iso_of(until),
            state=_state(begin, until, to_micros(now)),
            cron=one.cron,
            by="policy",
            via="policy",
            reason=one.name,
        )


def _span(one: "Suppression", policy: "Policy", now: datetime) -> tuple[datetime, datetime] | None:
    recurring = one.recurring(policy.time_zone)
    if recurring is None:
        return one.once
    return recurring.window_at(now) or recurring.next_window(now)


def _state(begin: int, until: int, at: int) -> Literal["active", "planned", "ended"]:
    if until <= at:
        return "ended"
    return "active" if begin <= at else "planned"


def _shown(match: "MatchPattern") -> str:
    return match if isinstance(match, str) else f"{match.namespace} {match.name}"

"""Load the SLI violations of the newest evaluation."""

from typing import Any

from sqlalchemy import Connection, Row, text

from alerts.root_cause.snapshot import SliViolation
from lineage.states import FRESHNESS

_BAD = """
    SELECT s.dataset_key, s.sli, s.reason, s.since, s.was_good,
        a.last_written_at + s.limit_seconds * 1e6 AS deadline_at,
        CASE WHEN s.limit_origin = 'learned' THEN l.learned_at END AS learned_at,
        coalesce(a.last_written_at, 0) > s.since AS is_written,
        coalesce(p.is_regulated, 1 = 0) AS is_regulated
    FROM dataset_state s
    JOIN dataset d ON d.dataset_key = s.dataset_key
    LEFT JOIN dataset_activity a ON a.dataset_key = s.dataset_key
    LEFT JOIN dataset_limit l ON l.dataset_key = s.dataset_key
    LEFT JOIN dataset_policy p ON p.dataset_key = s.dataset_key
    WHERE s.state = 'bad' AND d.retired_at IS NULL
    ORDER BY s.dataset_key, s.sli
"""
# Of these two, a state is unknown by our own gaps alone.
_UNKNOWN = """
    SELECT DISTINCT dataset_key FROM dataset_state WHERE state = 'unknown' AND sli IN ('M1', 'M2')
"""


def load_violations(connection: Connection, as_of: int) -> list[SliViolation]:
    """Return every dataset and SLI that is bad as of the newest evaluation, `as_of` in µs."""
    rows = connection.execute(text(_BAD))
    return [_violation(row, as_of) for row in rows if not _has_recovered(row, as_of)]


def load_unknown_keys(connection: Connection) -> frozenset[int]:
    """Return datasets whose state is unknown because of our own gaps."""
    return frozenset(connection.scalars(text(_UNKNOWN)))


def _has_recovered(row: Row[Any], as_of: int) -> bool:
    """Return whether it was written since it is bad, and is not due again."""
    is_late = row.sli == FRESHNESS.id and row.deadline_at is not None
    return is_late and row.is_written and int(row.deadline_at) > as_of


def _violation(row: Row[Any], as_of: int) -> SliViolation:
    since = row.since
    if row.sli == FRESHNESS.id and row.deadline_at is not None:
        # Since the deadline, not since the evaluation; a limit counts once it is learned.
        since = min(as_of, max(int(row.deadline_at), row.learned_at or 0))
    return SliViolation(
        row.dataset_key,
        row.sli,
        row.reason,
        since,
        is_standing=not row.was_good,
        is_regulated=bool(row.is_regulated),
    )

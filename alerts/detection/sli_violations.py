"""Load the SLI violations of the newest evaluation."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, text

from alerts.root_cause.snapshot import SliViolation
from lineage.states import FRESHNESS

_BAD = """
    SELECT s.dataset_key, s.sli, s.reason, s.since, s.was_good,
        a.last_written_at + s.limit_seconds * 1e6,
        CASE WHEN s.limit_origin = 'learned' THEN l.learned_at END,
        coalesce(a.last_written_at, 0) > s.since, coalesce(p.is_regulated, 1 = 0)
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


def _has_recovered(row: Sequence[Any], as_of: int) -> bool:
    """Return whether it was written since it is bad, and is not due again."""
    _, sli, _, _, _, deadline, _, is_written, _ = row
    return sli == FRESHNESS.id and is_written and deadline is not None and int(deadline) > as_of


def _violation(row: Sequence[Any], as_of: int) -> SliViolation:
    key, sli, reason, since, was_good, deadline, learned_at, _, is_regulated = row
    if sli == FRESHNESS.id and deadline is not None:
        # Not the evaluation that found it: the deadline. Nobody could miss one not yet learned.
        since = min(as_of, max(int(deadline), learned_at or 0))
    flags = {"is_standing": not was_good, "is_regulated": bool(is_regulated)}
    return SliViolation(key, sli, reason, since, **flags)

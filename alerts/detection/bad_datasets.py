"""Violations of SLIs in the newest evaluation, and runs that failed since the last write."""

from collections.abc import Iterable
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, bindparam, text

from alerts.root_cause.snapshot import SliViolation
from lineage.catalog.queries import FAILS, leaf_job, split_batches
from lineage.states import COVERAGE, FRESHNESS, UNKNOWN

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
_UNKNOWN = f"""
    SELECT DISTINCT dataset_key FROM dataset_state
    WHERE state = '{UNKNOWN}' AND sli IN ('{COVERAGE.id}', '{FRESHNESS.id}')
"""  # noqa: S608 - constants only

_FAILED = text(
    f"""
    SELECT d.canonical_key AS dataset_key, r.run_id,
        coalesce(r.failed_at, a.last_failed_at) AS failed_at,
        {leaf_job("namespace")} AS job_namespace, {leaf_job("name")} AS job_name,
        coalesce(r.error_message, CASE WHEN r.run_id = a.last_failed_run_id THEN a.last_failure END)
            AS error
    FROM run_io io
    JOIN dataset d ON d.dataset_key = io.dataset_key
    JOIN run r ON r.run_key = io.run_key
    LEFT JOIN dataset_activity a ON a.dataset_key = d.canonical_key
    WHERE d.canonical_key IN :keys AND io.direction = 'write'
    AND (r.failed_at > coalesce(a.last_written_at, 0)
        -- A run without an end, though its root run ended, has no time of a failure.
        OR r.failed_at IS NULL AND r.run_id = a.last_failed_run_id
        AND {FAILS})
    UNION ALL
    -- One that was killed before it named what it writes.
    SELECT a.dataset_key, r.run_id, a.last_failed_at, {leaf_job("namespace")}, {leaf_job("name")},
        coalesce(r.error_message, a.last_failure)
    FROM dataset_activity a JOIN run r ON r.run_id = a.last_failed_run_id
    WHERE a.dataset_key IN :keys AND {FAILS}
    AND NOT EXISTS (SELECT 1 FROM run_io x WHERE x.run_key = r.run_key)
    ORDER BY dataset_key, failed_at, run_id
    """  # noqa: S608 - our own columns
).bindparams(bindparam("keys", expanding=True))


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


class FailedRuns(msgspec.Struct, frozen=True):
    """Failed runs of a dataset's job since its newest write.

    Attributes:
        first_at: of the first failed run, µs; a failed retry does not change it.
        run_id: of the newest of these runs, and its job.
        error: as the run reported it; None: it reported none.
    """

    first_at: int
    run_id: str
    job_namespace: str
    job_name: str
    error: str | None = None


def load_failures(connection: Connection, keys: Iterable[int]) -> dict[int, FailedRuns]:
    """Return the failures of these datasets, by canonical key."""
    found: dict[int, FailedRuns] = {}
    for piece in split_batches(keys):
        for row in connection.execute(_FAILED, {"keys": piece}):
            known = found.get(row.dataset_key)
            first_at = row.failed_at if known is None else known.first_at
            found[row.dataset_key] = FailedRuns(
                first_at, row.run_id, row.job_namespace, row.job_name, row.error
            )
    return found

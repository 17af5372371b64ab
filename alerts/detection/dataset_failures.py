"""Load the runs that failed since a dataset was last written."""

from collections.abc import Iterable

import msgspec
from sqlalchemy import Connection, bindparam, text

from lineage.catalog.queries import FAILS, leaf_job, split_batches

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

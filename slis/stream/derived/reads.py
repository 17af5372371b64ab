"""Reads derived from the runs that a batch touched, for the keys of these runs only."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, or_

from lineage.catalog import tables
from lineage.catalog.new_rows import insert_or_fold
from lineage.catalog.upsert import both, either, least
from slis.stream.merge.known_roots import IS_KNOWN


def _of_the_greater_job(kept: Any, given: Any) -> ColumnElement[Any]:  # noqa: ANN401 - columns
    """Return the value of the job whose namespace and name sort last."""
    before, after = kept.table.c, given.table.c
    is_tied = and_(after.job_namespace == before.job_namespace, after.job_name > before.job_name)
    return case((or_(after.job_namespace > before.job_namespace, is_tied), given), else_=kept)


def derive_reads(connection: Connection, landed_at: int, *, is_any_known: bool) -> None:
    """Fold reads into `dataset_read`: one a root run and dataset; of a stream, one an hour.

    Args:
        connection: inside the transaction of the batch.
        landed_at: of the batch.
        is_any_known: whether the catalog knew a root run of the batch.
    """
    insert_or_fold(
        connection,
        tables.dataset_read,
        """
        SELECT dataset_key, root_run_id, 0 AS bucket,
            max(CASE WHEN place = 1 THEN job_namespace END) AS job_namespace,
            max(CASE WHEN place = 1 THEN job_name END) AS job_name,
            min(first_event_at) AS read_at, :landed_at AS landed_at,
            max(is_reported) = 1 AS is_reported,
            1 = 0 AS is_streaming,
            min(is_history) = 1 AS is_history
        FROM (
            SELECT t.*, row_number() OVER (PARTITION BY dataset_key, root_run_id
                ORDER BY job_namespace DESC, job_name DESC) AS place
            FROM t_touched t WHERE direction = 'read' AND is_streaming = 0 AND {chosen}
        ) AS r GROUP BY dataset_key, root_run_id
        UNION ALL
        SELECT dataset_key, root_run_id, bucket, job_namespace, job_name, at, :landed_at, 1 = 1,
            1 = 1, is_history = 1
        FROM t_streamed WHERE direction = 'read' AND {chosen}
        """,
        {
            "job_namespace": _of_the_greater_job,
            "job_name": _of_the_greater_job,
            "read_at": least,
            "is_reported": either,
            "is_streaming": either,
            "is_history": both,
        },
        known=IS_KNOWN,
        is_any_known=is_any_known,
        keeps="landed_at",
        given={"landed_at": landed_at},
    )

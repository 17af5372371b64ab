"""Contributions of a batch's runs, by canonical dataset."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, text

from lineage.catalog.queries import HAS_WRITTEN, leaf_job
from slis.evaluation.wording import BY_EVENT_LOG
from slis.stream.derived.connectors import IS_CONNECTOR
from slis.stream.facets.facet_rows import job_key
from slis.stream.merge.checkpoints import SELECT_TOUCHED
from slis.stream.reading.problems import MOST_EDGES
from slis.stream.staging import staging
from slis.stream.staging import tables as staged

SCHEMA_CHANGES = "('ALTER', 'TRUNCATE', 'DROP', 'RENAME')"
# The error of a run `r`.
FAILURE = f"CASE WHEN r.evidence IS NOT NULL THEN '{BY_EVENT_LOG}' ELSE '' END || r.error_message"

# The listener never ends an RDD job: its start makes no run that is waited for.
STARTED_AT = """
    CASE WHEN coalesce(r.job_type, '') <> 'RDD_JOB' THEN coalesce(r.last_start_at, r.started_at) END
"""
# Whether a source of a dataset, by an output `io` of it, is inferred for the run `r`.
_IS_INFERRED = f"""
    {HAS_WRITTEN} AND EXISTS (
        SELECT 1 FROM inferred_input n JOIN dataset x ON x.dataset_key = n.downstream_key
        JOIN dataset y ON y.dataset_key = n.upstream_key
        WHERE n.run_key = r.run_key AND x.canonical_key = {{canonical}}
            AND y.canonical_key <> x.canonical_key)
"""  # noqa: S608 - our own columns
_CONTRIBUTIONS = f"""
    SELECT run_key, dataset_key, first_event_at, last_event_at, started_at, completed_at, failed_at,
        nominal_start_at, rows, schema_key, code_version, root_run_id, run_id,
        job_namespace, job_name,
        CASE WHEN integration = 'SPARK'
            AND substr(event_job_name, 1, length(job_name) + 1) = job_name || '.'
            THEN event_job_name END AS event_job_name, direction,
        partition, is_streaming,
        is_history, is_reported, failure,
        CASE WHEN direction = 'write' AND completed_at IS NOT NULL AND failed_at IS NULL
            AND is_schema_change = 0 THEN 1 ELSE 0 END AS is_write, is_schema_change,
        CASE WHEN lifecycle = 'DROP' THEN 1 ELSE 0 END AS is_dropped,
        CASE WHEN edges > {MOST_EDGES} THEN 0 ELSE names_input END AS names_input,
        CASE WHEN edges > {MOST_EDGES} THEN 1 ELSE 0 END AS is_wide
    FROM (
        SELECT *, CASE WHEN lifecycle IN {SCHEMA_CHANGES} THEN 1
            WHEN lifecycle = 'CREATE' AND names_input = 0
                AND has_statistics = 0 THEN 1 ELSE 0 END AS is_schema_change
        FROM (
            SELECT r.run_key, {{canonical}} AS dataset_key, io.first_event_at, io.last_event_at,
                {STARTED_AT} AS started_at,
                r.completed_at, r.failed_at, coalesce(r.nominal_start_at,
                io.partition_at) AS nominal_start_at,
                io.rows, io.schema_key, r.code_version,
                r.root_run_id, r.run_id, {leaf_job("namespace")} AS job_namespace,
                {leaf_job("name")} AS job_name, r.job_name AS event_job_name, r.integration,
                io.direction,
                io.partition, io.lifecycle,
                CASE WHEN r.processing_type = 'STREAMING' THEN 1 ELSE 0 END AS is_streaming,
                CASE WHEN r.is_history THEN 1 ELSE 0 END AS is_history,
                CASE WHEN io.has_statistics THEN 1 ELSE 0 END AS has_statistics,
                CASE WHEN io.is_reported AND coalesce(r.evidence, 'failed') = 'failed'
                    THEN 1 ELSE 0 END AS is_reported,
                {FAILURE} AS failure,
                CASE WHEN io.direction = 'write' AND {{inferred}} THEN 1
                    ELSE max(CASE WHEN io.direction = 'read' AND io.is_reported THEN 1 ELSE 0 END)
                    OVER (PARTITION BY r.run_key) END AS names_input,
                CASE WHEN {IS_CONNECTOR} THEN 0 ELSE 1 END
                    * sum(CASE io.direction WHEN 'read' THEN 1 ELSE 0 END)
                    OVER (PARTITION BY r.run_key)
                    * sum(CASE io.direction WHEN 'write' THEN 1 ELSE 0 END)
                    OVER (PARTITION BY r.run_key) AS edges
            FROM {{chosen}}
        ) AS touched_io
    ) AS classified
"""  # noqa: S608 - our own tables
_COLUMNS = (
    "run_key, dataset_key, first_event_at, last_event_at, started_at, completed_at, "
    "failed_at, nominal_start_at, "
    "rows, schema_key, code_version, "
    "root_run_id, run_id, job_namespace, job_name, event_job_name, direction, partition, "
    "is_streaming, "
    "is_history, is_reported, failure, is_write, "
    "is_schema_change, is_dropped, names_input, is_wide"
)


def select_contributions(chosen: str, canonical: str, *, has_inferred: bool = True) -> str:
    """Return the query of what runs read and wrote, with what makes them a write.

    Args:
        chosen: the runs `r`, and what they read and wrote, `io`.
        canonical: the key of its canonical dataset.
        has_inferred: whether a run of these has inferred inputs: most batches have no such run.
    """
    inferred = _IS_INFERRED.format(canonical=canonical) if has_inferred else "1 = 0"
    return _CONTRIBUTIONS.format(chosen=chosen, canonical=canonical, inferred=inferred)


def collect_contributions(connection: Connection, *, has_inferred: bool) -> None:
    """Select what the batch's runs contribute now (`staging.touched`).

    Their streams' hours, and the jobs that they are of.
    """
    chosen = "t_run r JOIN t_io io ON io.run_key = r.run_key"
    query = select_contributions(chosen, "io.canonical_key", has_inferred=has_inferred)
    connection.execute(text(f"INSERT INTO t_touched ({_COLUMNS}) {query}"))
    connection.execute(text(_STREAMED))
    staging.insert_rows(connection, staged.job, _JOB_COLUMNS, _keyed_jobs(connection, _JOBS))


_STREAMED = f"""
    INSERT INTO t_streamed (dataset_key, bucket, at, rows, root_run_id, job_namespace, job_name,
        direction, names_input, is_history, is_measured)
    SELECT d.canonical_key, io.hour,
        CASE WHEN io.direction = 'write' THEN max(io.streamed_at) ELSE min(io.first_event_at) END,
        max(io.rows), r.root_run_id, max({leaf_job("namespace")}), max({leaf_job("name")}),
        io.direction,
        max(CASE WHEN EXISTS (SELECT 1 FROM t_io i WHERE i.run_key = r.run_key
        AND i.direction = 'read') OR io.direction = 'write'
        AND {_IS_INFERRED.format(canonical="d.canonical_key")} THEN 1 ELSE 0 END),
        min(CASE WHEN r.is_history THEN 1 ELSE 0 END), max(io.is_measured)
    FROM (
        SELECT s.run_key, n.dataset_key, s.direction, s.hour, s.first_event_at, s.streamed_at,
            s.rows, s.is_measured
        FROM s_run_io s JOIN s_name n ON n.spelling_key = s.spelling_key
        UNION ALL {SELECT_TOUCHED}
    ) AS io
    JOIN t_run r ON r.run_key = io.run_key
    JOIN dataset d ON d.dataset_key = io.dataset_key
    WHERE io.hour IS NOT NULL AND (io.direction = 'read' OR io.streamed_at IS NOT NULL)
    GROUP BY d.canonical_key, io.hour, r.root_run_id, io.direction
"""  # noqa: S608 - our own columns


# PostgreSQL sorts the rows of a UNION by their columns: numbers first, since texts take it longer.
_JOBS = """
    SELECT s.job_namespace, s.job_name, s.dataset_key, d.namespace, d.name FROM (
        SELECT dataset_key, job_namespace, job_name FROM t_touched WHERE direction = 'write'
        UNION SELECT dataset_key, job_namespace, job_name
            FROM t_streamed WHERE direction = 'write'
        UNION SELECT d.canonical_key, e.job_namespace, e.job_name FROM s_declared_edge e
            JOIN s_name n ON n.spelling_key = e.downstream_spelling_key
            JOIN dataset d ON d.dataset_key = n.dataset_key
    ) AS s JOIN dataset d ON d.dataset_key = s.dataset_key
"""


_JOB_COLUMNS = ("job_namespace", "job_name", "dataset_key", "job_key")
_ADD_JOB = text(
    "INSERT INTO t_job (job_namespace, job_name, dataset_key, job_key) VALUES "
    "(:job_namespace, :job_name, :dataset_key, :job_key) "
    "ON CONFLICT (dataset_key, job_key) DO NOTHING"
)


def key_jobs(connection: Connection, query: str, given: Mapping[str, Any]) -> None:
    """Add the keys of jobs to `staging.job`.

    Args:
        connection: inside the transaction of the batch.
        query: gives job_namespace, job_name, dataset_key, and the dataset's namespace and name.
        given: parameters of the query.
    """
    jobs = _keyed_jobs(connection, query, given)
    if jobs:
        connection.execute(_ADD_JOB, [dict(zip(_JOB_COLUMNS, job, strict=True)) for job in jobs])


def _keyed_jobs(
    connection: Connection, query: str, given: Mapping[str, Any] | None = None
) -> list[tuple[str, str, int, int]]:
    """Return rows of `staging.job`, one a key, which is a hash that SQL cannot compute."""
    found: dict[tuple[int, int], tuple[str, str, int, int]] = {}
    for job in connection.execute(text(query), given or {}):
        of_job = job_key(job.job_namespace, job.job_name, (job.namespace, job.name))
        row = (job.job_namespace, job.job_name, job.dataset_key, of_job)
        found.setdefault((job.dataset_key, of_job), row)
    return list(found.values())

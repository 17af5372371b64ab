"""Match of executions with the runs of events, by application and time, to the millisecond."""

from typing import Any

from sqlalchemy import Connection, Row, text

from lineage.catalog.queries import write_bucket
from slis.evidence.statements import (
    IN_ATTEMPT,
    INSERT_CHANGED_RUNS,
    SPARK_ID,
    Given,
    execute_statement,
)
from slis.stream.derived.retracted_edges import remove_edges

_OF_APPLICATION = f"""
    r.application_id = {SPARK_ID} AND {IN_ATTEMPT} AND coalesce(r.evidence, '') <> 'alone'
""".format(a="application")
_ROOTS = f"""
    UPDATE application SET
        root_run_id = (SELECT max(r.root_run_id) FROM run r WHERE {_OF_APPLICATION}),
        openlineage_run_id = (SELECT coalesce(
                max(CASE WHEN r.job_type = 'APPLICATION' THEN r.run_id END),
                max(CASE WHEN coalesce(r.job_type, '') <> 'APPLICATION' THEN r.parent_run_id END))
            FROM run r WHERE {_OF_APPLICATION})
    WHERE application_id IN (
        SELECT application_id FROM execution WHERE run_key IS NULL AND started_at >= :since)
"""  # noqa: S608 - our own columns
# {common}: what the run and the execution have in common.
_MATCHED = f"""
    INSERT INTO t_match (execution_key, run_key, group_key)
    SELECT e.execution_key, min(r.run_key), e.group_key FROM execution e
    JOIN application a ON a.application_id = e.application_id
    JOIN run r ON r.root_run_id = a.root_run_id AND {{common}}
    WHERE e.run_key IS NULL AND e.started_at >= :since AND coalesce(r.evidence, '') <> 'alone'
        AND coalesce(r.job_type, '') <> 'APPLICATION'
        AND (r.application_id = {SPARK_ID.format(a="a")} OR r.parent_run_id = a.openlineage_run_id)
        AND {IN_ATTEMPT.format(a="a")}
        AND e.execution_key NOT IN (SELECT execution_key FROM t_match)
    GROUP BY e.execution_key, e.group_key
"""  # noqa: S608 - our own columns
_CONDITIONS = (
    "r.started_at = e.started_at",
    "r.started_at IS NULL AND (r.completed_at = e.ended_at OR r.failed_at = e.ended_at)",
    "r.started_at IS NULL AND r.spark_job_id = e.spark_job_id",
)
_KEEP_MATCHES = """
    UPDATE execution SET run_key = m.run_key
    FROM t_match m WHERE m.execution_key = execution.execution_key
"""
_UNSETTLED = """
    UPDATE execution SET is_settled = (1 = 0), is_checked = (1 = 0)
    WHERE group_key IN (SELECT group_key FROM t_match)
"""
_ALONE_NO_MORE = """
    SELECT r.run_key, r.root_run_id FROM run r
    WHERE r.evidence = 'alone' AND r.run_key IN (SELECT group_key FROM t_match)
"""
_WRITES_OF_RUN = f"""
    SELECT DISTINCT w.dataset_key, w.root_run_id, w.bucket, w.written_at, w.landed_at
    FROM run r JOIN run_io io ON io.run_key = r.run_key
    JOIN dataset d ON d.dataset_key = io.dataset_key
    JOIN dataset_write w ON w.dataset_key = d.canonical_key AND w.root_run_id = r.root_run_id
        AND w.bucket = {write_bucket("r.completed_at")}
    WHERE r.run_key = :run
"""  # noqa: S608 - our own columns
_UNCOUNTED_READS_OF_RUN = """
    DELETE FROM dataset_read WHERE root_run_id = :root AND counted_at IS NULL AND NOT is_reported
    AND dataset_key IN (SELECT d.canonical_key FROM run_io io
        JOIN dataset d ON d.dataset_key = io.dataset_key WHERE io.run_key = :run)
"""
# The edges that it alone stood for go with it. SQLite keeps the order of a CROSS JOIN.
_EDGES_OF_RUN = text("""
    SELECT DISTINCT x.upstream_key, x.downstream_key, x.job_key, x.root_run_id
    FROM run_io io CROSS JOIN dataset d CROSS JOIN edge e CROSS JOIN edge_run x
    WHERE io.run_key = :run AND io.direction = 'write' AND d.dataset_key = io.dataset_key
        AND e.downstream_key = d.canonical_key AND x.upstream_key = e.upstream_key
        AND x.downstream_key = e.downstream_key AND x.job_key = e.job_key
        AND x.root_run_id = :root AND NOT x.is_reported
""")
_FORGOTTEN = (
    """
    UPDATE dataset_activity SET last_failed_at = NULL, last_failed_run_id = NULL,
        last_failure = NULL
    WHERE last_failed_run_id = (SELECT run_id FROM run WHERE run_key = :run)
    """,
    _UNCOUNTED_READS_OF_RUN,
    "DELETE FROM run_io WHERE run_key = :run",
    "DELETE FROM run WHERE run_key = :run",
)


def match_executions(connection: Connection, given: Given) -> list[Row[Any]]:
    """Find the runs of executions; returns the writes of those that stood for them until now."""
    execute_statement(connection, _ROOTS, given)
    for common in _CONDITIONS:
        execute_statement(connection, _MATCHED.format(common=common), given)
    for statement in (_KEEP_MATCHES, _UNSETTLED):
        execute_statement(connection, statement, given)
    execute_statement(
        connection,
        INSERT_CHANGED_RUNS.format(which="run_key IN (SELECT run_key FROM t_match)"),
        given,
    )
    alone = connection.execute(text(_ALONE_NO_MORE)).all()
    return [write for run in alone for write in _forget(connection, run.run_key, run.root_run_id)]


def _forget(connection: Connection, run: int, root: str) -> list[Row[Any]]:
    """Remove a run that stood for events to come; returns its writes."""
    keys: Given = {"run": run, "root": root}
    writes = connection.execute(text(_WRITES_OF_RUN), {"run": run}).all()
    edges = [dict(edge) for edge in connection.execute(_EDGES_OF_RUN, keys).mappings()]
    remove_edges(connection, edges)
    for statement in _FORGOTTEN:
        execute_statement(connection, statement, keys)
    return list(writes)

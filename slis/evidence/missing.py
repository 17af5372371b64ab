"""Facts that the evidence has and events lack: marked as not reported."""

from sqlalchemy import Connection

from slis.evidence.statements import (
    INSERT_CHANGED_RUNS,
    SPARK_ID,
    Given,
    execute_statement,
    has_rows,
)
from slis.evidence.written_rows import count_rows

# Groups are due a while after their outermost execution ended: events may come until then.
_GROUPS = """
    SELECT g.group_key FROM execution g
    WHERE NOT g.is_settled AND g.ended_at BETWEEN :since AND :due AND g.started_at >= :since
        AND g.execution_key = g.group_key
"""
_DUE = f"INSERT INTO t_due (group_key) {_GROUPS}"
_ARE_DUE = "SELECT group_key FROM t_due"
# News is in what was not settled yet: what is found or matched again is unsettled by that.
_OPEN_ENDS = """
    SELECT e.execution_key FROM execution e JOIN run r ON r.run_key = e.run_key
    WHERE NOT e.is_settled AND e.ended_at BETWEEN :since AND :due AND e.started_at >= :since
        AND r.completed_at IS NULL AND r.failed_at IS NULL
"""
_FAILED = """
    UPDATE run SET failed_at = e.ended_at, evidence = 'failed',
        error_message = coalesce(run.error_message, e.error_message)
    FROM execution e
    WHERE e.run_key = run.run_key AND NOT e.is_settled AND e.error_message IS NOT NULL
        AND e.ended_at >= :since AND run.failed_at IS NULL AND e.started_at >= :since
"""
_COMPLETED = f"""
    UPDATE run SET completed_at = e.ended_at, evidence = 'completed'
    FROM execution e
    WHERE e.run_key = run.run_key AND NOT e.is_settled AND e.error_message IS NULL
        AND e.ended_at >= :since AND (e.ended_at <= :due OR e.group_key IN ({_ARE_DUE}))
        AND run.completed_at IS NULL AND run.failed_at IS NULL AND e.started_at >= :since
"""  # noqa: S608 - our own tables
_SPARK_ID = SPARK_ID.format(a="a")
_ALONE = f"""
    INSERT INTO run (run_key, run_id, job_namespace, job_name, root_run_id, root_job_namespace,
        root_job_name, leaf_job_namespace, leaf_job_name, first_event_at, last_event_at,
        started_at, completed_at, failed_at, job_type,
        integration, engine, engine_version, application_id, error_message, is_history, evidence,
        landed_at)
    SELECT g.group_key, g.application_id || '/' || g.execution_id,
        coalesce(n.leaf_namespace, n.namespace), coalesce(n.leaf_name, n.name),
        coalesce(a.root_run_id, a.application_id), n.namespace, n.name, n.leaf_namespace,
        n.leaf_name, g.started_at, g.ended_at, g.started_at,
        CASE WHEN g.error_message IS NULL THEN g.ended_at END,
        CASE WHEN g.error_message IS NOT NULL THEN g.ended_at END, 'SQL_JOB', 'SPARK', 'spark',
        a.spark_version, {_SPARK_ID}, g.error_message, g.ended_at < :horizon, 'alone',
        :landed_at
    FROM execution g
    JOIN application a ON a.application_id = g.application_id
    JOIN t_named n ON n.application_id = a.application_id
    WHERE g.group_key IN ({_ARE_DUE}) AND g.execution_key = g.group_key
        AND NOT EXISTS (
            SELECT 1 FROM execution e WHERE e.group_key = g.group_key AND e.run_key IS NOT NULL)
        AND EXISTS (
            SELECT 1 FROM execution e JOIN execution_io io
            ON io.execution_key = e.execution_key OR io.execution_key = e.stream_key
            WHERE e.group_key = g.group_key)
    ON CONFLICT DO NOTHING
"""  # noqa: S608 - our own tables
_NEWEST_OF_NAME = """
    SELECT r.{part}_job_namespace FROM run r WHERE r.{part}_job_name = a.name AND {which}
    ORDER BY r.first_event_at DESC LIMIT 1
"""
_NAMESPACES = ", ".join(
    f"({_NEWEST_OF_NAME.format(part=part, which=which)})"
    for part in ("root", "leaf")
    for which in ("r.evidence IS NULL", "r.evidence IN ('failed', 'completed')")
)
# What people call the job: as its own events do, else as those of other runs of that application.
_NAMED = f"""
    INSERT INTO t_named (application_id, namespace, name, leaf_namespace, leaf_name)
    SELECT a.application_id,
        coalesce((SELECT max(r.root_job_namespace) FROM run r WHERE r.root_run_id = a.root_run_id),
            a.namespace, {_NAMESPACES}, 'default'),
        coalesce((SELECT max(r.root_job_name) FROM run r WHERE r.root_run_id = a.root_run_id),
            a.name, a.application_id),
        (SELECT max(r.leaf_job_namespace) FROM run r WHERE r.application_id = {_SPARK_ID}),
        (SELECT max(r.leaf_job_name) FROM run r WHERE r.application_id = {_SPARK_ID})
    FROM application a WHERE a.application_id IN (
        SELECT application_id FROM execution WHERE group_key IN ({_ARE_DUE}))
"""  # noqa: S608 - our own tables
# Whether one name is the other's folder: the listener names the folder of a file that is read.
_SAME = """
    (rd.canonical_key = d.canonical_key OR (rd.namespace = d.namespace AND (
        substr(d.name, 1, length(rd.name) + 1) = rd.name || '/'
        OR substr(rd.name, 1, length(d.name) + 1) = d.name || '/')))
"""
# A micro-batch read it, says one run, and says not what for; another wrote, and says not what of.
_READ_BESIDE = """
    (t.direction = 'read' AND ro.run_key <> t.run_key AND EXISTS (
        SELECT 1 FROM run_io w WHERE w.run_key = t.run_key AND w.direction = 'write')
    AND NOT EXISTS (
        SELECT 1 FROM run_io w WHERE w.run_key = ro.run_key AND w.direction = 'write'))
"""
_TOUCHED = f"""
    INSERT INTO run_io (run_key, day, dataset_key, direction, first_event_at, last_event_at,
        has_statistics, is_reported, landed_at)
    SELECT t.run_key, r.day, t.dataset_key, t.direction, min(t.started_at), max(t.ended_at),
        1 = 0, 1 = 0, :landed_at
    FROM (
        SELECT coalesce(e.run_key, (SELECT min(o.run_key) FROM execution o
                WHERE o.group_key = e.group_key), e.group_key) AS run_key,
            e.group_key, io.dataset_key, io.direction, e.started_at,
            coalesce(e.ended_at, e.started_at) AS ended_at
        FROM execution e JOIN execution_io io
            ON io.execution_key = e.execution_key OR io.execution_key = e.stream_key
        WHERE e.group_key IN ({_ARE_DUE})
    ) AS t JOIN dataset d ON d.dataset_key = t.dataset_key
    JOIN run r ON r.run_key = t.run_key
    WHERE NOT EXISTS (
        SELECT 1 FROM execution o JOIN run_io ro ON ro.run_key = o.run_key
        JOIN dataset rd ON rd.dataset_key = ro.dataset_key
        WHERE o.group_key = t.group_key AND ro.direction = t.direction AND ro.is_reported
            AND {_SAME} AND NOT {_READ_BESIDE})
    GROUP BY t.run_key, r.day, t.dataset_key, t.direction
    ON CONFLICT DO NOTHING
"""  # noqa: S608 - our own tables
_CHANGED_IO = "INSERT INTO s_run (run_key) SELECT DISTINCT run_key FROM run_io WHERE {which}"
_SETTLED = f"""
    UPDATE execution SET is_settled = (1 = 1) WHERE group_key IN ({_ARE_DUE})
"""  # noqa: S608 - our own tables


def is_settled_by_time(connection: Connection, given: Given) -> bool:
    """Return whether time alone completes what is known: a group, or the end of a run."""
    return any(has_rows(connection, query, given) for query in (_GROUPS, _OPEN_ENDS))


def add_what_is_missing(connection: Connection, given: Given) -> None:
    """Store failures, ends, whole runs, inputs and outputs that no event reported."""
    groups = execute_statement(connection, _DUE, given)
    news = """evidence = '{0}' AND run_key IN (
        SELECT e.run_key FROM execution e WHERE NOT e.is_settled AND e.started_at >= :since)"""
    for statement, word in ((_FAILED, "failed"), (_COMPLETED, "completed")):
        if execute_statement(connection, statement, given):
            execute_statement(
                connection, INSERT_CHANGED_RUNS.format(which=news.format(word)), given
            )
    if not groups:
        return
    execute_statement(connection, _NAMED, given)
    if execute_statement(connection, _ALONE, given):
        which = "evidence = 'alone' AND landed_at = :landed_at"
        execute_statement(connection, INSERT_CHANGED_RUNS.format(which=which), given)
    if execute_statement(connection, _TOUCHED, given):
        which = "NOT is_reported AND landed_at = :landed_at"
        execute_statement(connection, _CHANGED_IO.format(which=which), given)
    count_rows(connection)
    execute_statement(connection, _SETTLED, given)

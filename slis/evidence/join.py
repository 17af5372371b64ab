"""Evidence and events of the same executions, brought together.

An execution is the run whose START has its start to the millisecond; where that START was lost, the
run that ended with it, or ran its Spark job. What then is in the evidence alone goes where the
events' facts are, marked as not reported: runs without any event, outputs and inputs that no event
names, failures that the events call a success, ends that nobody told.
"""

from sqlalchemy import Connection, text

from slis.stream import staging
from slis.stream.activity import derive_activity
from slis.stream.edges import derive_edges
from slis.stream.touch import touch
from slis.stream.writes import derive_reads, derive_writes, work_out

_MATCH_DAYS_MICROS = 8 * 86_400_000_000  # events later than that are nobody's

_ROOTS = """
    UPDATE application SET
        root_run_id = (SELECT max(r.root_run_id) FROM run r
            WHERE r.application_id = application.application_id
            AND coalesce(r.evidence, '') <> 'alone'),
        openlineage_run_id = (SELECT coalesce(
                max(CASE WHEN r.job_type = 'APPLICATION' THEN r.run_id END),
                max(CASE WHEN coalesce(r.job_type, '') <> 'APPLICATION' THEN r.parent_run_id END))
            FROM run r WHERE r.application_id = application.application_id
            AND coalesce(r.evidence, '') <> 'alone')
    WHERE application_id IN (
        SELECT application_id FROM execution WHERE run_key IS NULL AND started_at >= :since)
"""
# {told}: what the run and the execution have in common.
_MATCHED = """
    INSERT INTO t_match (execution_key, run_key, group_key)
    SELECT e.execution_key, min(r.run_key), e.group_key FROM execution e
    JOIN application a ON a.application_id = e.application_id
    JOIN run r ON r.root_run_id = a.root_run_id AND {told}
    WHERE e.run_key IS NULL AND e.started_at >= :since AND coalesce(r.evidence, '') <> 'alone'
        AND coalesce(r.job_type, '') <> 'APPLICATION'
        AND (r.application_id = a.application_id OR r.parent_run_id = a.openlineage_run_id)
        AND e.execution_key NOT IN (SELECT execution_key FROM t_match)
    GROUP BY e.execution_key, e.group_key
"""
_TOLD = (
    "r.started_at = e.started_at",
    "r.started_at IS NULL AND (r.completed_at = e.ended_at OR r.failed_at = e.ended_at)",
    "r.started_at IS NULL AND r.spark_job_id = e.spark_job_id",
)
_KEEP_MATCHES = """
    UPDATE execution SET run_key = m.run_key
    FROM t_match m WHERE m.execution_key = execution.execution_key
"""
_UNSETTLED = """
    UPDATE execution SET is_settled = (1 = 0)
    WHERE group_key IN (SELECT group_key FROM t_match)
"""
_ALONE_NO_MORE = """
    SELECT r.run_key, r.root_run_id FROM run r
    WHERE r.evidence = 'alone' AND r.run_key IN (SELECT group_key FROM t_match)
"""
_WRITES_OF_RUN = """
    SELECT DISTINCT w.dataset_key, w.root_run_id, w.written_at, w.landed_at FROM run_io io
    JOIN dataset d ON d.dataset_key = io.dataset_key
    JOIN dataset_write w ON w.dataset_key = d.canonical_key AND w.root_run_id = :root
        AND w.bucket = 0
    WHERE io.run_key = :run
"""
_UNCOUNTED_READS_OF_RUN = """
    DELETE FROM dataset_read WHERE root_run_id = :root AND counted_at IS NULL AND NOT is_reported
    AND dataset_key IN (SELECT d.canonical_key FROM run_io io
        JOIN dataset d ON d.dataset_key = io.dataset_key WHERE io.run_key = :run)
"""
_FAILED = """
    UPDATE run SET failed_at = e.ended_at, evidence = 'failed',
        error_message = coalesce(run.error_message, e.error_message)
    FROM execution e
    WHERE e.run_key = run.run_key AND e.error_message IS NOT NULL AND e.ended_at IS NOT NULL
        AND run.failed_at IS NULL AND e.started_at >= :since
"""
_COMPLETED = """
    UPDATE run SET completed_at = e.ended_at, evidence = 'completed'
    FROM execution e
    WHERE e.run_key = run.run_key AND e.error_message IS NULL AND e.ended_at <= :due
        AND run.completed_at IS NULL AND run.failed_at IS NULL AND e.started_at >= :since
"""
_CHANGED = "INSERT INTO s_run (run_key) SELECT run_key FROM run WHERE {which}"
# Groups are due a while after their outermost execution ended: events may come until then.
_DUE = """
    SELECT g.group_key FROM execution g
    WHERE g.execution_key = g.group_key AND NOT g.is_settled AND g.ended_at <= :due
        AND g.started_at >= :since
"""
_ALONE = f"""
    INSERT INTO run (run_key, run_id, job_namespace, job_name, root_run_id, root_job_namespace,
        root_job_name, first_event_at, last_event_at, started_at, completed_at, failed_at, job_type,
        integration, engine, engine_version, application_id, error_message, is_history, evidence,
        landed_at)
    SELECT g.group_key, g.application_id || '/' || g.execution_id, n.namespace, n.name,
        coalesce(a.root_run_id, a.application_id), n.namespace, n.name, g.started_at, g.ended_at,
        g.started_at, CASE WHEN g.error_message IS NULL THEN g.ended_at END,
        CASE WHEN g.error_message IS NOT NULL THEN g.ended_at END, 'SQL_JOB', 'SPARK', 'spark',
        a.spark_version, a.application_id, g.error_message, g.ended_at < :horizon, 'alone',
        :landed_at
    FROM execution g
    JOIN application a ON a.application_id = g.application_id
    JOIN t_named n ON n.application_id = a.application_id
    WHERE g.group_key IN ({_DUE}) AND g.execution_key = g.group_key
        AND NOT EXISTS (
            SELECT 1 FROM execution e WHERE e.group_key = g.group_key AND e.run_key IS NOT NULL)
        AND EXISTS (
            SELECT 1 FROM execution e JOIN execution_io io
            ON io.execution_key = e.execution_key OR io.execution_key = e.stream_key
            WHERE e.group_key = g.group_key)
    ON CONFLICT (run_key) DO NOTHING
"""  # noqa: S608 - our own tables
# What people call the job: as its own events do, else as those of other runs of that application.
_NAMED = f"""
    INSERT INTO t_named (application_id, namespace, name)
    SELECT a.application_id,
        coalesce((SELECT max(r.root_job_namespace) FROM run r WHERE r.root_run_id = a.root_run_id),
            a.namespace,
            (SELECT max(w.job_namespace) FROM dataset_write w WHERE w.job_name = a.name
                AND w.is_reported), 'default'),
        coalesce((SELECT max(r.root_job_name) FROM run r WHERE r.root_run_id = a.root_run_id),
            a.name, a.application_id)
    FROM application a WHERE a.application_id IN (
        SELECT application_id FROM execution WHERE group_key IN ({_DUE}))
"""  # noqa: S608 - our own tables
# Whether one name is the other's folder: the listener names the folder of a file that is read.
_SAME = """
    (rd.canonical_key = d.canonical_key OR (rd.namespace = d.namespace AND (
        substr(d.name, 1, length(rd.name) + 1) = rd.name || '/'
        OR substr(rd.name, 1, length(d.name) + 1) = d.name || '/')))
"""
_TOUCHED = f"""
    INSERT INTO run_io (run_key, dataset_key, direction, first_event_at, last_event_at,
        has_statistics, is_reported, landed_at)
    SELECT t.run_key, t.dataset_key, t.direction, min(t.started_at), max(t.ended_at), 1 = 0, 1 = 0,
        :landed_at
    FROM (
        SELECT coalesce(e.run_key, (SELECT min(o.run_key) FROM execution o
                WHERE o.group_key = e.group_key), e.group_key) AS run_key,
            e.group_key, io.dataset_key, io.direction, e.started_at,
            coalesce(e.ended_at, e.started_at) AS ended_at
        FROM execution e JOIN execution_io io
            ON io.execution_key = e.execution_key OR io.execution_key = e.stream_key
        WHERE e.group_key IN ({_DUE})
    ) AS t JOIN dataset d ON d.dataset_key = t.dataset_key
    WHERE EXISTS (SELECT 1 FROM run r WHERE r.run_key = t.run_key) AND NOT EXISTS (
        SELECT 1 FROM execution o JOIN run_io ro ON ro.run_key = o.run_key
        JOIN dataset rd ON rd.dataset_key = ro.dataset_key
        WHERE o.group_key = t.group_key AND ro.direction = t.direction AND ro.is_reported
            AND {_SAME})
    GROUP BY t.run_key, t.dataset_key, t.direction
    ON CONFLICT (run_key, dataset_key, direction) DO NOTHING
"""  # noqa: S608 - our own tables
_CHANGED_IO = "INSERT INTO s_run (run_key) SELECT DISTINCT run_key FROM run_io WHERE {which}"
_SETTLED = f"""
    UPDATE execution SET is_settled = (1 = 1) WHERE group_key IN (SELECT group_key FROM ({_DUE})
        AS due)
"""  # noqa: S608 - our own tables


def join(connection: Connection, *, now: int, settle_micros: int, horizon: int) -> int:
    """Bring together what there is, and derive what follows for writes, reads and edges.

    Args:
        connection: inside a transaction of its own.
        now: microseconds; `landed_at` of what is found.
        settle_micros: how long after an execution its events may still come.
        horizon: microseconds; what ended before, before lineage was watched, teaches and never
            counts.

    Returns:
        How many runs changed.
    """
    staging.create(connection)
    given = {
        "since": now - _MATCH_DAYS_MICROS,
        "due": now - settle_micros,
        "landed_at": now,
        "horizon": horizon,
    }
    _match(connection, given)
    _add_what_is_missing(connection, given)
    changed = connection.scalar(text("SELECT count(DISTINCT run_key) FROM s_run")) or 0
    if changed:
        touch(connection)
        derive_writes(connection, now)
        derive_reads(connection, now)
        derive_edges(connection)
        derive_activity(connection)
    return changed


def _run(connection: Connection, statement: str, given: dict[str, int]) -> int:
    """Execute a statement with those parameters that it names."""
    query = text(statement)
    named = query.compile().params
    return connection.execute(query, {name: given[name] for name in named}).rowcount


def _match(connection: Connection, given: dict[str, int]) -> None:
    _run(connection, _ROOTS, given)
    for told in _TOLD:
        _run(connection, _MATCHED.format(told=told), given)
    for statement in (_KEEP_MATCHES, _UNSETTLED):
        _run(connection, statement, given)
    for alone in connection.execute(text(_ALONE_NO_MORE)).all():
        _forget(connection, alone.run_key, alone.root_run_id, given["landed_at"])
    _run(connection, _CHANGED.format(which="run_key IN (SELECT run_key FROM t_match)"), given)


def _forget(connection: Connection, run: int, root: str, landed_at: int) -> None:
    """A run that stood for events to come: they came."""
    keys = {"run": run, "root": root}
    writes = connection.execute(text(_WRITES_OF_RUN), keys).all()
    connection.execute(text(_UNCOUNTED_READS_OF_RUN), keys)
    for table in ("run_io", "run"):
        connection.execute(text(f"DELETE FROM {table} WHERE run_key = :run"), {"run": run})  # noqa: S608
    for write in writes:
        work_out(connection, write, landed_at)


def _add_what_is_missing(connection: Connection, given: dict[str, int]) -> None:
    news = "evidence = '{0}' AND run_key IN (SELECT e.run_key FROM execution e WHERE {1})"
    for statement, word, which in (
        (_FAILED, "failed", "e.error_message IS NOT NULL AND e.started_at >= :since"),
        (_COMPLETED, "completed", "e.ended_at <= :due AND e.started_at >= :since"),
    ):
        if _run(connection, statement, given):
            _run(connection, _CHANGED.format(which=news.format(word, which)), given)
    _run(connection, _NAMED, given)
    if _run(connection, _ALONE, given):
        which = "evidence = 'alone' AND landed_at = :landed_at"
        _run(connection, _CHANGED.format(which=which), given)
    if _run(connection, _TOUCHED, given):
        which = "NOT is_reported AND landed_at = :landed_at"
        _run(connection, _CHANGED_IO.format(which=which), given)
    _run(connection, _SETTLED, given)

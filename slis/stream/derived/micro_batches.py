"""Inferred inputs of what `foreachBatch` writes, from the stream's run of that micro-batch.

Spark reports a micro-batch as several runs of one application: a STREAMING run that names what the
batch was read from, and within its time a BATCH run for each write. The writes may name no inputs.
"""

from typing import Final, Literal

from sqlalchemy import Connection, Row, text

from lineage.catalog.queries import NAMES_INPUTS, has_direction
from lineage.process.clock import HOUR_MICROS
from slis.stream.derived.contributions import SCHEMA_CHANGES
from slis.stream.merge.batch_runs import stage_missing

FOREACH_BATCH: Final = "foreach_batch"
# A micro-batch that lasts longer is not found: an application may have 4,000 runs an hour.
_LONGEST_MICROS: Final = HOUR_MICROS
_OF_ONE_APPLICATION = "s.root_run_id = w.root_run_id AND s.parent_run_id = w.parent_run_id"


def _has_io(run: str, direction: Literal["read", "write"]) -> str:
    of_run = f"x.run_key = {run} AND {has_direction(direction, 'x')}"
    return f"EXISTS (SELECT 1 FROM run_io x WHERE {of_run})"  # noqa: S608 - our own columns


# The runs of the batch, and those that began within a micro-batch of it. SQLite keeps the order of
# a CROSS JOIN, here and below: runs are found by their root run and their start.
_STORE_RUNS = text(f"""
    INSERT INTO t_micro_write (run_key)
    SELECT run_key FROM t_run
    UNION
    SELECT w.run_key FROM t_run s CROSS JOIN run w
    WHERE s.integration = 'SPARK' AND s.processing_type = 'STREAMING'
        AND {_OF_ONE_APPLICATION} AND w.processing_type = 'BATCH'
        AND w.started_at >= s.started_at AND w.started_at < s.started_at + {_LONGEST_MICROS}
""")  # noqa: S608 - our own columns
# A stream with outputs of its own has its edges; what runs beside it is another query. A stopped
# stream never ends its micro-batch: what its application writes later is independent.
_STORE_PAIRS = text(f"""
    INSERT INTO t_micro_batch (run_key, stream_key)
    SELECT w.run_key, s.run_key FROM t_micro_write q CROSS JOIN run w CROSS JOIN run s
    WHERE w.run_key = q.run_key AND w.integration = 'SPARK' AND w.processing_type = 'BATCH'
        AND w.completed_at IS NOT NULL AND {_has_io("w.run_key", "write")}
        AND NOT {NAMES_INPUTS.format(run="w.run_key")}
        AND {_OF_ONE_APPLICATION} AND coalesce(s.processing_type, '') = 'STREAMING'
        AND s.started_at <= w.started_at AND s.started_at > w.started_at - {_LONGEST_MICROS}
        AND coalesce(s.completed_at, s.failed_at) >= w.completed_at
        AND {_has_io("s.run_key", "read")}
        AND NOT {_has_io("s.run_key", "write")}
""")  # noqa: S608 - our own columns
# Where micro-batches of several queries overlap, the write is of one of them: only an input of all
# of them is certain. A statement that only creates or alters a table has no inputs.
_STORE_SOURCES = text(f"""
    INSERT INTO t_named_source (run_key, downstream_key, upstream_key, origin, namespace, name)
    SELECT p.run_key, o.dataset_key, i.dataset_key, '{FOREACH_BATCH}', u.namespace, u.name
    FROM t_micro_batch p
    JOIN run_io i ON i.run_key = p.stream_key AND i.direction = 'read' AND i.is_reported
    JOIN dataset u ON u.dataset_key = i.dataset_key
    JOIN run_io o ON o.run_key = p.run_key AND o.direction = 'write'
    WHERE coalesce(o.lifecycle, '') NOT IN {SCHEMA_CHANGES}
        AND (coalesce(o.lifecycle, '') <> 'CREATE' OR o.has_statistics)
    GROUP BY p.run_key, o.dataset_key, i.dataset_key, u.namespace, u.name
    HAVING count(*) = (SELECT count(*) FROM t_micro_batch m WHERE m.run_key = p.run_key)
""")  # noqa: S608 - our own columns
_OUTDATED = text(f"""
    SELECT DISTINCT r.run_key, r.root_run_id FROM t_micro_write q CROSS JOIN inferred_input n
    JOIN run r ON r.run_key = n.run_key
    WHERE n.run_key = q.run_key AND n.origin = '{FOREACH_BATCH}' AND NOT EXISTS (
        SELECT 1 FROM t_named_source t WHERE t.run_key = n.run_key AND t.origin = n.origin
            AND t.downstream_key = n.downstream_key AND t.upstream_key = n.upstream_key)
""")  # noqa: S608 - our own columns
# The facts of a run from before this batch are derived again only where its inputs change.
_CHANGED = text(f"""
    INSERT INTO s_run (run_key)
    SELECT DISTINCT t.run_key FROM t_named_source t
    WHERE t.origin = '{FOREACH_BATCH}' AND NOT EXISTS (
        SELECT 1 FROM inferred_input n WHERE n.run_key = t.run_key AND n.origin = t.origin
            AND n.downstream_key = t.downstream_key AND n.upstream_key = t.upstream_key)
    AND t.run_key NOT IN (SELECT run_key FROM s_run)
""")  # noqa: S608 - our own columns
_NAME_RUNS = text("""
    INSERT INTO s_run (run_key) SELECT CAST(:run AS BIGINT)
    WHERE NOT EXISTS (SELECT 1 FROM s_run WHERE run_key = :run)
""")
# Other batches can change no inputs of a micro-batch: most of them.
_MAY_CHANGE = text(f"""
    SELECT 1 FROM t_run r WHERE r.integration = 'SPARK' AND (r.processing_type = 'STREAMING'
        OR r.processing_type = 'BATCH' AND r.run_key IN (SELECT run_key FROM t_unsourced))
    UNION ALL
    SELECT 1 FROM t_run r CROSS JOIN inferred_input n
    WHERE n.run_key = r.run_key AND n.origin = '{FOREACH_BATCH}' LIMIT 1
""")  # noqa: S608 - a word of ours


def stage_micro_batches(connection: Connection) -> list[Row[tuple[int, str]]]:
    """Put the inputs of micro-batches into `staging.named_source`, for their writes without inputs.

    Runs of earlier batches whose inputs change by this are put into `staging.run`, and staged.

    Returns:
        Key and root run of the runs that have such inputs no longer: their inferred inputs are to
        be removed before those of `staging.named_source` are stored.
    """
    if connection.execute(_MAY_CHANGE).first() is None:
        return []
    for statement in (_STORE_RUNS, _STORE_PAIRS, _STORE_SOURCES, _CHANGED):
        connection.execute(statement)
    outdated = list(connection.execute(_OUTDATED).all())
    if outdated:
        connection.execute(_NAME_RUNS, [{"run": run.run_key} for run in outdated])
    stage_missing(connection)
    return outdated

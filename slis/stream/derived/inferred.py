"""Inferred inputs of runs that name none, from the facets of what the runs have written.

dbt names no inputs for a model on seeds, and a MERGE may name its target alone. The column lineage
of the output names the sources then. What `foreachBatch` writes has the inputs of its stream. An
inferred input makes an edge with an origin, and no read: `dataset_read` holds what runs themselves
name as inputs. Once an event names inputs of the run, the inferred ones are gone.
"""

from sqlalchemy import Connection, text

from lineage.catalog import tables
from lineage.catalog.queries import HAS_WRITTEN, NAMES_INPUTS, leaf_job
from lineage.catalog.upsert import greatest, least, upsert
from slis.stream.derived.micro_batches import FOREACH_BATCH, stage_micro_batches
from slis.stream.derived.retracted_edges import remove_edges, renew_times
from slis.stream.merge.batch_runs import renew_canonical_keys
from slis.stream.names.canonical import resolve_components
from slis.stream.names.spellings import folder_key_of

_STORE = """
    SELECT t.run_key, t.downstream_key, t.upstream_key, t.origin,
        max(t.namespace) AS upstream_namespace, max(t.name) AS upstream_name, :at AS seen_at
    FROM t_named_source t WHERE t.run_key IN (SELECT run_key FROM t_unsourced)
        AND t.upstream_key <> t.downstream_key
    GROUP BY t.run_key, t.downstream_key, t.upstream_key, t.origin
"""
# SQLite keeps the order of a CROSS JOIN, here and below: large tables are asked by their keys.
_OF_BATCH = """
    (SELECT DISTINCT run_key FROM s_run) AS s CROSS JOIN inferred_input n
    JOIN t_run r ON r.run_key = n.run_key AND n.run_key = s.run_key
"""
# Of a run that the catalog did not know, the batch itself has stored them.
_ANY = text("""
    SELECT 1 FROM (SELECT run_key FROM t_known UNION ALL SELECT run_key FROM t_unsourced) AS s
    CROSS JOIN inferred_input n WHERE n.run_key = s.run_key LIMIT 1
""")
_OF_WRITES = f"""
    {_OF_BATCH}
    JOIN dataset x ON x.dataset_key = n.downstream_key
    JOIN run_io io ON io.run_key = n.run_key AND io.direction = 'write'
    JOIN dataset o ON o.dataset_key = io.dataset_key AND o.canonical_key = x.canonical_key
        AND {HAS_WRITTEN}
"""
_OUTDATED = text(f"""
    SELECT DISTINCT r.run_key, r.root_run_id FROM {_OF_BATCH}
    WHERE {NAMES_INPUTS.format(run="r.run_key")}
""")  # noqa: S608 - our own tables
_LEAF_JOB = f"{leaf_job('namespace')} AS job_namespace, {leaf_job('name')} AS job_name"
# The edges that the root run has by this run's inferred inputs; `seen_at`: when another run of the
# root reported the edge last, by inferred inputs too.
_EDGES = text(f"""
    SELECT e.upstream_key, e.downstream_key, e.job_key, e.root_run_id, w.seen_at
    FROM (
        SELECT DISTINCT y.canonical_key AS upstream_key, x.canonical_key AS downstream_key,
            {_LEAF_JOB}
        FROM run r JOIN inferred_input n ON n.run_key = r.run_key
        JOIN dataset x ON x.dataset_key = n.downstream_key
        JOIN dataset y ON y.dataset_key = n.upstream_key
        WHERE r.run_key = :run
    ) AS p
    CROSS JOIN edge g CROSS JOIN edge_run e LEFT JOIN (
        SELECT y.canonical_key AS upstream_key, x.canonical_key AS downstream_key, {_LEAF_JOB},
            max(io.last_event_at) AS seen_at
        FROM run r JOIN inferred_input n ON n.run_key = r.run_key
        JOIN dataset x ON x.dataset_key = n.downstream_key
        JOIN dataset y ON y.dataset_key = n.upstream_key
        JOIN run_io io ON io.run_key = n.run_key AND io.direction = 'write'
        JOIN dataset o ON o.dataset_key = io.dataset_key AND o.canonical_key = x.canonical_key
        WHERE r.root_run_id = :root AND r.run_key <> :run AND {HAS_WRITTEN}
        GROUP BY y.canonical_key, x.canonical_key, {leaf_job("namespace")}, {leaf_job("name")}
    ) AS w ON w.upstream_key = p.upstream_key AND w.downstream_key = p.downstream_key
        AND w.job_namespace = p.job_namespace AND w.job_name = p.job_name
    WHERE g.upstream_key = p.upstream_key AND g.downstream_key = p.downstream_key
        AND g.job_namespace = p.job_namespace AND g.job_name = p.job_name
        AND e.upstream_key = g.upstream_key AND e.downstream_key = g.downstream_key
        AND e.job_key = g.job_key AND e.root_run_id = :root AND e.origin IS NOT NULL
""")  # noqa: S608 - our own tables
# What the stream of a micro-batch names is no word of the run.
_STAGE_AGAIN = text(f"""
    INSERT INTO t_named_source (run_key, downstream_key, upstream_key, origin, namespace, name)
    SELECT run_key, downstream_key, upstream_key, origin, upstream_namespace, upstream_name
    FROM inferred_input WHERE run_key = :run AND origin <> '{FOREACH_BATCH}'
""")  # noqa: S608 - a word of ours
_DELETE = text("DELETE FROM inferred_input WHERE run_key = :run")
_SET_SEEN = text("""
    UPDATE edge_run SET seen_at = :seen_at WHERE upstream_key = :upstream_key
    AND downstream_key = :downstream_key AND job_key = :job_key AND root_run_id = :root_run_id
""")
# Sources that facets named in an earlier batch, of runs of this batch that named inputs then. The
# run reads what it writes, and nothing else: an output that came later shows that.
_ANY_REPORTED = text("""
    SELECT 1 FROM t_unsourced q CROSS JOIN t_run r CROSS JOIN edge_told e
    WHERE r.run_key = q.run_key AND e.root_run_id = r.root_run_id LIMIT 1
""")
_REPORTED_BEFORE = text("""
    SELECT s.run_key AS run, e.root_run_id AS root, e.downstream_key AS downstream,
        e.upstream_key AS upstream, e.oracle, e.upstream_namespace AS namespace,
        e.upstream_name AS name
    FROM (
        SELECT r.run_key, r.root_run_id FROM t_unsourced q CROSS JOIN t_run r
        WHERE r.run_key = q.run_key
            AND EXISTS (SELECT 1 FROM edge_told e WHERE e.root_run_id = r.root_run_id)
            AND EXISTS (SELECT 1 FROM run_io i WHERE i.run_key = r.run_key
                AND i.direction = 'read')
    ) AS s JOIN edge_told e ON e.root_run_id = s.root_run_id
    WHERE EXISTS (
        SELECT 1 FROM run_io o JOIN dataset y ON y.dataset_key = o.dataset_key
        WHERE o.run_key = s.run_key AND o.direction = 'write'
            AND y.canonical_key = e.downstream_key)
    AND NOT EXISTS (
        SELECT 1 FROM run q JOIN run_io o ON o.run_key = q.run_key AND o.direction = 'write'
        JOIN dataset y ON y.dataset_key = o.dataset_key AND y.canonical_key = e.downstream_key
        WHERE q.root_run_id = s.root_run_id AND q.run_key <> s.run_key)
""")
_TAKE_BACK = tuple(
    text(statement)
    for statement in (
        """
        INSERT INTO t_named_source (run_key, downstream_key, upstream_key, origin, namespace, name)
        VALUES (:run, :downstream, :upstream, :oracle, :namespace, :name)
        """,
        """
        DELETE FROM edge_told WHERE root_run_id = :root AND downstream_key = :downstream
        AND upstream_key = :upstream AND oracle = :oracle
        """,
    )
)
_SOURCES = f"""
    SELECT n.upstream_key AS dataset_key, max(n.upstream_namespace) AS namespace,
        max(n.upstream_name) AS name, n.upstream_key AS canonical_key,
        min(io.first_event_at) AS first_seen_at, max(io.last_event_at) AS last_seen_at
    FROM {_OF_WRITES} GROUP BY n.upstream_key
"""  # noqa: S608 - our own tables
_NEW_SOURCES = text(f"""
    SELECT s.dataset_key, s.namespace, s.name FROM ({_SOURCES}) AS s
    WHERE NOT EXISTS (SELECT 1 FROM dataset d WHERE d.dataset_key = s.dataset_key)
""")  # noqa: S608 - our own tables
_SET_FOLDER = text("UPDATE dataset SET folder_key = :folder WHERE dataset_key = :key")
_INFERRED = text(f"""
    INSERT INTO t_inferred (run_key, downstream_key, upstream_key, origin)
    SELECT n.run_key, x.canonical_key, y.canonical_key, min(n.origin) FROM {_OF_WRITES}
    JOIN dataset y ON y.dataset_key = n.upstream_key
    WHERE x.canonical_key <> y.canonical_key
    GROUP BY n.run_key, x.canonical_key, y.canonical_key
""")  # noqa: S608 - our own tables


def store_sources(connection: Connection, landed_at: int) -> None:
    """Store `staging.named_source` as inferred inputs of the runs that name no inputs.

    Remove the inferred inputs of each run of the batch that names inputs by now, and their edges.
    Such sources are in `staging.named_source` again, to be compared with these inputs.
    """
    _take_back_reported(connection)
    for run in stage_micro_batches(connection):
        _retract(connection, run.run_key, run.root_run_id)
    upsert(
        connection,
        tables.inferred_input,
        _STORE,
        {"seen_at": least},
        keeps="upstream_namespace upstream_name",
        given={"at": landed_at},
    )
    for run in connection.execute(_OUTDATED).all() if _is_any_inferred(connection) else ():
        _retract(connection, run.run_key, run.root_run_id)


def _is_any_inferred(connection: Connection) -> bool:
    """Return whether a run of the batch has inferred inputs: in most batches none has."""
    return connection.execute(_ANY).first() is not None


def _take_back_reported(connection: Connection) -> None:
    """Put back into `staging.named_source` what was stored as missing inputs of the runs."""
    if connection.execute(_ANY_REPORTED).first() is None:
        return
    rows = [dict(row) for row in connection.execute(_REPORTED_BEFORE).mappings()]
    for statement in _TAKE_BACK if rows else ():
        connection.execute(statement, rows)


def _retract(connection: Connection, run: int, root: str) -> None:
    edges = [dict(row) for row in connection.execute(_EDGES, {"run": run, "root": root}).mappings()]
    shared = [edge for edge in edges if edge["seen_at"] is not None]
    if shared:
        connection.execute(_SET_SEEN, shared)
    renew_times(connection, shared)
    remove_edges(connection, [edge for edge in edges if edge["seen_at"] is None])
    for statement in (_STAGE_AGAIN, _DELETE):
        connection.execute(statement, {"run": run})


def infer_inputs(connection: Connection) -> bool:
    """Put the inferred inputs of the batch's runs into `staging.inferred`, by canonical dataset.

    Sources that no event names as a dataset become datasets. Return whether a run has any.
    """
    if not _is_any_inferred(connection):
        return False
    new = connection.execute(_NEW_SOURCES).all()
    seen = {"first_seen_at": least, "last_seen_at": greatest}
    upsert(connection, tables.dataset, _SOURCES, seen, keeps="namespace name canonical_key")
    # A fold of the policy takes the folder as soon as an event names the file.
    folders = [(row.dataset_key, folder_key_of(row.namespace, row.name)) for row in new]
    files = [{"key": key, "folder": folder} for key, folder in folders if folder is not None]
    if files:
        connection.execute(_SET_FOLDER, files)
    if folders:
        resolve_components(connection, {key for key, _ in folders})
        renew_canonical_keys(connection)
    connection.execute(_INFERRED)
    return True

"""Infer the inputs of runs that name none, from the facets of what the runs have written.

dbt names no inputs for a model on seeds, and a MERGE may name its target alone. The column lineage
of the output names the sources then. An inferred input makes an edge with an origin, and no read:
`dataset_read` holds what runs themselves name as inputs. Once an event names inputs of the run, the
inferred ones are gone.
"""

from typing import Final

from sqlalchemy import Connection, text

from lineage.catalog import tables
from lineage.catalog.tables.runs import HAS_WRITTEN
from lineage.catalog.upsert import greatest, least, upsert
from slis.stream.canonical import settle

# Whether a run names an input. Reading what it writes itself, as a MERGE does, names no source.
NAMES_INPUTS: Final = """
    EXISTS (
        SELECT 1 FROM run_io i JOIN dataset x ON x.dataset_key = i.dataset_key
        WHERE i.run_key = {run} AND i.direction = 'read' AND i.is_reported
            AND x.canonical_key NOT IN (
                SELECT y.canonical_key FROM run_io o JOIN dataset y ON y.dataset_key = o.dataset_key
                WHERE o.run_key = {run} AND o.direction = 'write'))
"""
# Asked once a run: each output of a run names all of its sources.
_STORE = f"""
    SELECT t.run_key, t.downstream_key, t.upstream_key, t.origin,
        max(t.namespace) AS upstream_namespace, max(t.name) AS upstream_name, :at AS seen_at
    FROM (
        SELECT q.run_key FROM (SELECT DISTINCT run_key FROM t_told) AS q
        WHERE NOT {NAMES_INPUTS.format(run="q.run_key")}
    ) AS s JOIN t_told t ON t.run_key = s.run_key
    WHERE t.upstream_key <> t.downstream_key
    GROUP BY t.run_key, t.downstream_key, t.upstream_key, t.origin
"""  # noqa: S608 - our own tables
_OF_BATCH = """
    (SELECT DISTINCT run_key FROM s_run) AS s JOIN inferred_input n ON n.run_key = s.run_key
    JOIN run r ON r.run_key = n.run_key
"""
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
_PAIRS = """
    SELECT y.canonical_key, x.canonical_key FROM inferred_input n
    JOIN dataset x ON x.dataset_key = n.downstream_key
    JOIN dataset y ON y.dataset_key = n.upstream_key
"""
# The edges that the root run has by this run's inferred inputs alone.
_EDGES = f"""
    SELECT e.upstream_key, e.downstream_key, e.job_key FROM edge_run e
    WHERE e.root_run_id = :root AND e.origin IS NOT NULL
        AND (e.upstream_key, e.downstream_key) IN ({_PAIRS} WHERE n.run_key = :run)
        AND (e.upstream_key, e.downstream_key) NOT IN ({_PAIRS}
            JOIN run q ON q.run_key = n.run_key
            WHERE q.root_run_id = :root AND n.run_key <> :run)
"""  # noqa: S608 - our own tables
_KEYS = "upstream_key, downstream_key, job_key"
_OTHER_RUNS = """
    SELECT max(x.seen_at) FROM edge_run x WHERE x.upstream_key = edge.upstream_key
    AND x.downstream_key = edge.downstream_key AND x.job_key = edge.job_key
    AND x.root_run_id <> :root
"""
_RETRACT = tuple(
    text(statement)
    for statement in (
        """
        INSERT INTO t_told (run_key, downstream_key, upstream_key, origin, namespace, name)
        SELECT run_key, downstream_key, upstream_key, origin, upstream_namespace, upstream_name
        FROM inferred_input WHERE run_key = :run
        """,
        f"""
        UPDATE edge SET runs = runs - 1,
            last_seen_at = coalesce(({_OTHER_RUNS}), last_seen_at),
            last_reported_at = coalesce(({_OTHER_RUNS} AND x.is_reported), last_reported_at)
        WHERE ({_KEYS}) IN ({_EDGES})
        """,  # noqa: S608 - our own tables
        f"DELETE FROM edge WHERE runs = 0 AND ({_KEYS}) IN ({_EDGES})",  # noqa: S608 - likewise
        f"DELETE FROM edge_run WHERE root_run_id = :root AND ({_KEYS}) IN ({_EDGES})",  # noqa: S608
        "DELETE FROM inferred_input WHERE run_key = :run",
    )
)
_SOURCES = f"""
    SELECT n.upstream_key AS dataset_key, max(n.upstream_namespace) AS namespace,
        max(n.upstream_name) AS name, n.upstream_key AS canonical_key,
        min(io.first_event_at) AS first_seen_at, max(io.last_event_at) AS last_seen_at
    FROM {_OF_WRITES} GROUP BY n.upstream_key
"""  # noqa: S608 - our own tables
_NEW_SOURCES = text(f"""
    SELECT s.dataset_key FROM ({_SOURCES}) AS s
    WHERE NOT EXISTS (SELECT 1 FROM dataset d WHERE d.dataset_key = s.dataset_key)
""")  # noqa: S608 - our own tables
_INFERRED = text(f"""
    INSERT INTO t_inferred (run_key, downstream_key, upstream_key, origin)
    SELECT n.run_key, x.canonical_key, y.canonical_key, min(n.origin) FROM {_OF_WRITES}
    JOIN dataset y ON y.dataset_key = n.upstream_key
    WHERE x.canonical_key <> y.canonical_key
    GROUP BY n.run_key, x.canonical_key, y.canonical_key
""")  # noqa: S608 - our own tables


def store_sources(connection: Connection, landed_at: int) -> None:
    """Store the sources in `staging.told` as inferred inputs of the runs that name no inputs.

    Remove the inferred inputs of each run of the batch that names inputs by now, and their edges.
    Such sources are in `staging.told` again, to be compared with these inputs.
    """
    upsert(
        connection,
        tables.inferred_input,
        _STORE,
        {"seen_at": least},
        keeps="upstream_namespace upstream_name",
        given={"at": landed_at},
    )
    for run in connection.execute(_OUTDATED).all():
        given = {"run": run.run_key, "root": run.root_run_id}
        for statement in _RETRACT:
            connection.execute(statement, given)


def infer_inputs(connection: Connection) -> None:
    """Put the inferred inputs of the batch's runs into `staging.inferred`, by canonical dataset.

    Sources that no event names as a dataset become datasets.
    """
    new = set(connection.scalars(_NEW_SOURCES))
    seen = {"first_seen_at": least, "last_seen_at": greatest}
    upsert(connection, tables.dataset, _SOURCES, seen, keeps="namespace name canonical_key")
    settle(connection, new)
    connection.execute(_INFERRED)

"""Move of what is stored of a run to its root run, once an event of it names its parent.

Some clients send the parent facet with START only. Where another event of the run was landed in an
earlier batch, the run stood for its own root, and its writes, reads and edges were stored so.
"""

from typing import Any

from sqlalchemy import Connection, text

from lineage.catalog.queries import leaf_job
from slis.stream.facets.facet_rows import job_key

_NEW_ROOTS = text(f"""
    SELECT r.run_key, r.root_run_id AS old_root, max(s.root_run_id) AS new_root,
        r.root_job_namespace AS old_namespace, r.root_job_name AS old_name,
        max({leaf_job("namespace", "s")}) AS namespace, max({leaf_job("name", "s")}) AS name
    FROM s_run s JOIN t_known r ON r.run_key = s.run_key
    WHERE r.parent_run_id IS NULL AND s.parent_run_id IS NOT NULL
        AND s.root_run_id <> r.root_run_id
    GROUP BY r.run_key, r.root_run_id, r.root_job_namespace, r.root_job_name
""")  # noqa: S608 - our own columns
_TOUCHED = """
    SELECT d.canonical_key FROM run_io io JOIN dataset d ON d.dataset_key = io.dataset_key
    WHERE io.run_key = :run AND io.direction = '{direction}'
"""
_WRITTEN, _NAMED = (_TOUCHED.format(direction=direction) for direction in ("write", "read"))
_READ = f"""
    {_NAMED} UNION SELECT d.canonical_key FROM inferred_input n
    JOIN dataset d ON d.dataset_key = n.upstream_key WHERE n.run_key = :run
"""  # noqa: S608 - our own tables
_WRITES = f"root_run_id = :old AND dataset_key IN ({_WRITTEN})"
_READS = f"root_run_id = :old AND dataset_key IN ({_READ})"
_EDGES = f"""
    root_run_id = :old AND upstream_key IN ({_READ}) AND downstream_key IN ({_WRITTEN})
"""
_EDGE_KEYS = "upstream_key, downstream_key, job_key"
# Each row takes the new root; where the new root has such a row already, it stands for both.
_STATEMENTS = tuple(
    text(statement)
    for statement in (
        f"""
        UPDATE dataset_activity SET writes = writes - (
            SELECT count(*) FROM dataset_write w JOIN dataset_write n
            ON n.dataset_key = w.dataset_key AND n.bucket = w.bucket AND n.root_run_id = :new
            WHERE w.dataset_key = dataset_activity.dataset_key AND w.root_run_id = :old)
        WHERE dataset_key IN ({_WRITTEN})
        """,  # noqa: S608 - our own tables
        f"""
        UPDATE dataset_write SET root_run_id = :new WHERE {_WRITES}
        AND (dataset_key, bucket) NOT IN (
            SELECT n.dataset_key, n.bucket FROM dataset_write n WHERE n.root_run_id = :new
            AND n.dataset_key IN ({_WRITTEN}))
        """,  # noqa: S608 - likewise
        f"DELETE FROM dataset_write WHERE {_WRITES}",  # noqa: S608 - likewise
        f"""
        UPDATE dataset_read SET root_run_id = :new WHERE {_READS}
        AND (dataset_key, bucket) NOT IN (
            SELECT n.dataset_key, n.bucket FROM dataset_read n WHERE n.root_run_id = :new
            AND n.dataset_key IN ({_READ}))
        """,  # noqa: S608 - likewise
        f"DELETE FROM dataset_read WHERE {_READS}",  # noqa: S608 - likewise
        f"""
        UPDATE edge SET runs = runs - 1 WHERE ({_EDGE_KEYS}) IN (
            SELECT {_EDGE_KEYS} FROM edge_run WHERE {_EDGES})
        AND ({_EDGE_KEYS}) IN (SELECT {_EDGE_KEYS} FROM edge_run WHERE root_run_id = :new
            AND upstream_key IN ({_READ}) AND downstream_key IN ({_WRITTEN}))
        """,  # noqa: S608 - likewise
        f"""
        UPDATE edge_run SET root_run_id = :new WHERE {_EDGES} AND ({_EDGE_KEYS}) NOT IN (
            SELECT {_EDGE_KEYS} FROM edge_run WHERE root_run_id = :new
            AND upstream_key IN ({_READ}) AND downstream_key IN ({_WRITTEN}))
        """,  # noqa: S608 - likewise
        f"DELETE FROM edge_run WHERE {_EDGES}",  # noqa: S608 - likewise
    )
)


# The parent of a query is its job: the batch derives the edges of that job.
_EDGES_OF_OLD_JOB = f"""
    SELECT {_EDGE_KEYS} FROM edge_run WHERE {_EDGES} AND job_key IN (
        SELECT e.job_key FROM edge e WHERE e.downstream_key = edge_run.downstream_key
        AND e.job_namespace = :old_namespace AND e.job_name = :old_name)
"""  # noqa: S608 - our own tables
_DROP_EDGES = tuple(
    text(statement)
    for statement in (
        f"UPDATE edge SET runs = runs - 1 WHERE ({_EDGE_KEYS}) IN ({_EDGES_OF_OLD_JOB})",  # noqa: S608
        f"DELETE FROM edge_run WHERE ({_EDGE_KEYS}) IN ({_EDGES_OF_OLD_JOB}) AND {_EDGES}",  # noqa: S608
        f"""
        DELETE FROM edge WHERE runs = 0 AND declared_at IS NULL
        AND job_namespace = :old_namespace AND job_name = :old_name
        AND upstream_key IN ({_READ}) AND downstream_key IN ({_WRITTEN})
        """,  # noqa: S608 - our own tables
    )
)
_RENAME_READS = text(
    f"""
    UPDATE dataset_read SET job_namespace = :namespace, job_name = :name
    WHERE {_READS} AND job_namespace = :old_namespace AND job_name = :old_name
    """  # noqa: S608 - our own tables
)
_RENAME_WRITE = text("""
    UPDATE dataset_write SET job_namespace = :namespace, job_name = :name, job_key = :job_key
    WHERE dataset_key = :dataset AND root_run_id = :old AND job_namespace = :old_namespace
        AND job_name = :old_name
""")
_WRITTEN_NAMES = text(
    f"SELECT dataset_key, namespace, name FROM dataset WHERE dataset_key IN ({_WRITTEN})"  # noqa: S608 - our own tables
)


def move_to_new_roots(connection: Connection) -> None:
    """Move the rows of runs whose parent the batch names first; before runs are merged."""
    for run in connection.execute(_NEW_ROOTS).all():
        given: dict[str, Any] = {
            "run": run.run_key,
            "old": run.old_root,
            "new": run.new_root,
            "old_namespace": run.old_namespace,
            "old_name": run.old_name,
            "namespace": run.namespace,
            "name": run.name,
        }
        if (run.namespace, run.name) != (run.old_namespace, run.old_name):
            _rename_job(connection, given)
        for statement in _STATEMENTS:
            connection.execute(statement, given)


def _rename_job(connection: Connection, given: dict[str, Any]) -> None:
    """Give what the run wrote and read the job's new name; its edges are derived again."""
    for statement in (*_DROP_EDGES, _RENAME_READS):
        connection.execute(statement, given)
    for dataset in connection.execute(_WRITTEN_NAMES, given).all():
        of_dataset = (dataset.namespace, dataset.name)
        new_key = job_key(given["namespace"], given["name"], of_dataset)
        connection.execute(
            _RENAME_WRITE, {**given, "dataset": dataset.dataset_key, "job_key": new_key}
        )

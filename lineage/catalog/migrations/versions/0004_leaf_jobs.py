"""Name the job that people know below its root: a dbt model, an Airflow task, an application."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from lineage.names.keys import key

revision = "0004"
down_revision = "0003"

_COLUMNS = ("leaf_job_namespace", "leaf_job_name")
_BELOW_ROOT = "leaf_job_name IS NOT NULL"
_FIRST_PART = {
    "sqlite": "substr(job_name, 1, instr(job_name || '.', '.') - 1)",
    "postgresql": "split_part(job_name, '.', 1)",
}
_LEAF_NAME = """
    CASE WHEN integration = 'SPARK' AND coalesce(job_type, '') <> 'APPLICATION' THEN {first_part}
        WHEN job_type IN ('QUERY', 'SQL') THEN (SELECT max(p.job_name) FROM run p
            WHERE p.run_id = run.parent_run_id)
        ELSE job_name END
"""
_LEAF_NAMESPACE = """
    CASE WHEN job_type IN ('QUERY', 'SQL') THEN coalesce((SELECT max(p.job_namespace) FROM run p
        WHERE p.run_id = run.parent_run_id), job_namespace) ELSE job_namespace END
"""
# The parts of a Spark application without a parent of its own are named after their root.
_NAME_LEAVES = f"""
    UPDATE run SET leaf_job_name = {_LEAF_NAME}, leaf_job_namespace = {_LEAF_NAMESPACE}
    WHERE parent_run_id IS NOT NULL AND job_name <> root_job_name
    AND NOT (coalesce(integration, '') = 'SPARK'
        AND substr(job_name, 1, length(root_job_name) + 1) = root_job_name || '.')
"""  # noqa: S608 - our own columns
_DROP_ROOTS = """
    UPDATE run SET leaf_job_name = NULL, leaf_job_namespace = NULL
    WHERE leaf_job_name IS NULL
        OR leaf_job_name = root_job_name AND leaf_job_namespace = root_job_namespace
"""
# What each run below a root read or wrote, in the order of the runs' ends: the last counts.
_TOUCHED = """
    SELECT c.dataset_key, r.root_run_id, c.namespace, c.name, r.leaf_job_namespace, r.leaf_job_name
    FROM run r JOIN run_io io ON io.run_key = r.run_key AND io.direction = '{direction}'
    JOIN dataset d ON d.dataset_key = io.dataset_key
    JOIN dataset c ON c.dataset_key = d.canonical_key
    WHERE r.leaf_job_name IS NOT NULL
    ORDER BY coalesce(r.completed_at, r.last_event_at), r.run_key
"""
# The edges that each run below a root made.
_EDGES = """
    SELECT x.downstream_key, x.root_run_id, c.namespace, c.name, r.leaf_job_namespace,
        r.leaf_job_name, x.upstream_key, x.job_key
    FROM run r JOIN run_io io ON io.run_key = r.run_key AND io.direction = 'write'
    JOIN dataset d ON d.dataset_key = io.dataset_key
    JOIN dataset c ON c.dataset_key = d.canonical_key
    JOIN run_io i ON i.run_key = r.run_key AND i.direction = 'read'
    JOIN dataset u ON u.dataset_key = i.dataset_key
    JOIN edge_run x ON x.upstream_key = u.canonical_key AND x.downstream_key = c.dataset_key
        AND x.root_run_id = r.root_run_id
    WHERE r.leaf_job_name IS NOT NULL
"""
_TO_LEAF = "job_namespace = :namespace, job_name = :name"
_OF_ROOT = "dataset_key = :dataset AND root_run_id = :root"
_RENAME_WRITES = f"UPDATE dataset_write SET job_key = :new, {_TO_LEAF} WHERE {_OF_ROOT}"  # noqa: S608 - our own columns
_RENAME_READS = f"UPDATE dataset_read SET {_TO_LEAF} WHERE {_OF_ROOT}"  # noqa: S608 - our own columns
_LAST_WRITE = """(
    SELECT w.{0} FROM dataset_write w WHERE w.dataset_key = dataset_activity.dataset_key
    AND w.root_run_id = dataset_activity.last_write_root_run_id ORDER BY w.bucket DESC LIMIT 1)
"""
_RENAME_LAST_JOBS = f"""
    UPDATE dataset_activity SET last_job_namespace = {_LAST_WRITE.format("job_namespace")},
        last_job_name = {_LAST_WRITE.format("job_name")}
    WHERE EXISTS (SELECT 1 FROM run r WHERE r.leaf_job_name IS NOT NULL
        AND r.root_run_id = dataset_activity.last_write_root_run_id)
    AND EXISTS {_LAST_WRITE.format("job_name")}
"""  # noqa: S608 - our own columns
_OLD = "upstream_key = :upstream AND downstream_key = :dataset AND job_key = :old"
_NEW = _OLD.replace(":old", ":new")
_NEW_EDGE = f"SELECT {{0}}(seen_at) FROM edge_run WHERE {_NEW}"  # noqa: S608 - our own columns
_ADD_RUNS_OF_EDGES = f"""
    INSERT INTO edge_run (upstream_key, downstream_key, job_key, root_run_id, seen_at, is_reported)
    SELECT upstream_key, downstream_key, CAST(:new AS BIGINT), root_run_id, seen_at, is_reported
    FROM edge_run WHERE {_OLD} AND root_run_id = :root
    ON CONFLICT (upstream_key, downstream_key, job_key, root_run_id) DO NOTHING
"""  # noqa: S608 - our own columns
_ADD_EDGES = f"""
    INSERT INTO edge (upstream_key, downstream_key, job_key, job_namespace, job_name,
        first_seen_at, last_seen_at, runs, last_reported_at)
    SELECT upstream_key, downstream_key, CAST(:new AS BIGINT), CAST(:namespace AS TEXT),
        CAST(:name AS TEXT), first_seen_at, ({_NEW_EDGE.format("max")}),
        ({_NEW_EDGE.format("count")}), last_reported_at
    FROM edge WHERE {_OLD}
    ON CONFLICT (upstream_key, downstream_key, job_key) DO NOTHING
"""  # noqa: S608 - our own columns
_DROP_RUNS_OF_EDGES = f"DELETE FROM edge_run WHERE {_OLD} AND root_run_id = :root"  # noqa: S608 - our own columns
# What the root job made itself stays its own.
_LEFT = f"SELECT count(*) FROM edge_run WHERE {_OLD}"  # noqa: S608 - our own columns
_COUNT_OLD_EDGES = f"UPDATE edge SET runs = ({_LEFT}) WHERE {_OLD}"  # noqa: S608 - our own columns
_DROP_OLD_EDGES = f"DELETE FROM edge WHERE {_OLD} AND runs = 0"  # noqa: S608 - our own columns


def upgrade() -> None:
    """Name the jobs below roots; runs that roles of the release before add meanwhile have none.

    Those roles wait for the end of it.
    """
    with op.batch_alter_table("run") as run:
        for column in _COLUMNS:
            run.add_column(sa.Column(column, sa.Text(), nullable=True))
    with op.batch_alter_table("edge") as edge:
        edge.add_column(sa.Column("event_job_name", sa.Text(), nullable=True))
    where = sa.text(_BELOW_ROOT)
    op.create_index(
        "run_leaf_job",
        "run",
        ["leaf_job_name", "evidence", "first_event_at"],
        sqlite_where=where,
        postgresql_where=where,
    )
    connection = op.get_bind()
    first_part = _FIRST_PART[connection.dialect.name]
    for statement in (_NAME_LEAVES.format(first_part=first_part), _DROP_ROOTS):
        connection.execute(sa.text(statement))
    _rename_jobs(connection)
    _rename_edges(connection)


def _rename_jobs(connection: sa.Connection) -> None:
    """Give writes and reads the name of the job below the root that made them."""
    for direction, statement in (("write", _RENAME_WRITES), ("read", _RENAME_READS)):
        _execute(connection, statement, _rows(connection, _TOUCHED.format(direction=direction)))
    connection.execute(sa.text(_RENAME_LAST_JOBS))


def _rename_edges(connection: sa.Connection) -> None:
    """Give each job below a root the edges that it made: an edge of the root would go stale."""
    rows = [row for row in _rows(connection, _EDGES) if row["old"] != row["new"]]
    _execute(connection, _ADD_RUNS_OF_EDGES, rows)
    edges = {(row["upstream"], row["dataset"], row["old"], row["new"]): row for row in rows}
    _execute(connection, _ADD_EDGES, list(edges.values()))
    _execute(connection, _DROP_RUNS_OF_EDGES, rows)
    for statement in (_COUNT_OLD_EDGES, _DROP_OLD_EDGES):
        _execute(connection, statement, list(edges.values()))


def _execute(connection: sa.Connection, statement: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(sa.text(statement), rows)


def _rows(connection: sa.Connection, query: str) -> list[dict[str, Any]]:
    names = ("dataset", "root", "dataset_namespace", "dataset_name", "namespace", "name")
    found = [
        dict(zip((*names, "upstream", "old"), row, strict=False))
        for row in connection.execute(sa.text(query))
    ]
    for row in found:
        dataset = (row.pop("dataset_namespace"), row.pop("dataset_name"))
        row["new"] = key(row["namespace"], row["name"], *dataset)
    return found


def downgrade() -> None:
    """Undo `upgrade`; writes and edges keep the leaf job's name."""
    op.drop_index("run_leaf_job", "run")
    with op.batch_alter_table("edge") as edge:
        edge.drop_column("event_job_name")
    with op.batch_alter_table("run") as run:
        for column in reversed(_COLUMNS):
            run.drop_column(column)

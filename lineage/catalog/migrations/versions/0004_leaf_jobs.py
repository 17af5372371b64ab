"""Name the job that people know below its root: a dbt model, an Airflow task, an application."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from lineage.keys import key

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
# The newest leaf job of each root job that wrote a dataset.
_RENAMED = """
    SELECT c.dataset_key, c.namespace, c.name, r.root_job_namespace, r.root_job_name,
        r.leaf_job_namespace, r.leaf_job_name
    FROM run r JOIN run_io io ON io.run_key = r.run_key AND io.direction = 'write'
    JOIN dataset d ON d.dataset_key = io.dataset_key
    JOIN dataset c ON c.dataset_key = d.canonical_key
    WHERE r.leaf_job_name IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY max(r.first_event_at), r.leaf_job_name
"""
_OF_JOB = "job_namespace = :root_namespace AND job_name = :root_name"
_TO_LEAF = "job_namespace = :namespace, job_name = :name"
_EDGE = "downstream_key = :dataset AND job_key = :old"
_RENAMING = (
    f"""
    UPDATE dataset_write SET job_key = :new, {_TO_LEAF} WHERE dataset_key = :dataset AND {_OF_JOB}
    """,  # noqa: S608 - our own columns
    """
    UPDATE dataset_activity SET last_job_namespace = :namespace, last_job_name = :name
    WHERE dataset_key = :dataset AND last_job_namespace = :root_namespace
        AND last_job_name = :root_name
    """,
    # Two roots may have run one leaf job: the edges of the second are dropped.
    *(
        f"""
        DELETE FROM {table} WHERE {_EDGE} AND ({others}) IN (
            SELECT {others} FROM {table} WHERE downstream_key = :dataset AND job_key = :new)
        """  # noqa: S608 - our own tables
        for table, others in (("edge_run", "upstream_key, root_run_id"), ("edge", "upstream_key"))
    ),
    f"UPDATE edge_run SET job_key = :new WHERE {_EDGE}",  # noqa: S608 - our own columns
    f"UPDATE edge SET job_key = :new, {_TO_LEAF} WHERE {_EDGE}",  # noqa: S608 - our own columns
)


def upgrade() -> None:
    """Keep working while roles of the release before still run: they name no leaf job."""
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


def _rename_jobs(connection: sa.Connection) -> None:
    """Give writes and edges the name of the leaf job: an edge that keeps its root's goes stale."""
    newest = {tuple(row[:5]): tuple(row) for row in connection.execute(sa.text(_RENAMED))}
    renamed = [_keys(row) for row in newest.values()]
    for statement in _RENAMING if renamed else ():
        connection.execute(sa.text(statement), renamed)


def _keys(row: tuple[Any, ...]) -> dict[str, object]:
    dataset_key, dataset_namespace, dataset_name, *jobs = row
    root_namespace, root_name, namespace, name = jobs
    dataset = (dataset_namespace, dataset_name)
    return {
        "dataset": dataset_key,
        "root_namespace": root_namespace,
        "root_name": root_name,
        "namespace": namespace,
        "name": name,
        "old": key(root_namespace, root_name, *dataset),
        "new": key(namespace, name, *dataset),
    }


def downgrade() -> None:
    """Undo `upgrade`; writes and edges keep the leaf job's name."""
    op.drop_index("run_leaf_job", "run")
    with op.batch_alter_table("edge") as edge:
        edge.drop_column("event_job_name")
    with op.batch_alter_table("run") as run:
        for column in reversed(_COLUMNS):
            run.drop_column(column)

"""Root jobs of the jobs that write datasets: the DAG of a task, the application of a query."""

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import BindParameter, Connection, TextClause, bindparam, text

from lineage.catalog.queries import leaf_job, split_batches
from lineage.names.names import Name

# Only a root job whose namespace is known to write the dataset is believed, the first known first:
# anybody may send an event that names another root for a run.
_ROOTS = f"""
    SELECT {leaf_job("namespace")} AS job_namespace, {leaf_job("name")} AS job_name, p.landed_at,
        r.root_job_namespace, r.root_job_name
    FROM {{chosen}}
    JOIN run_io io ON io.run_key = r.run_key AND io.direction = 'write'
    JOIN dataset_producer p ON p.dataset_key = io.dataset_key
        AND p.job_namespace = substr(r.root_job_namespace, 1, 200)
    {{where}} AND r.root_job_name <> ''
"""  # noqa: S608 - our own columns
_WANTED: BindParameter[Any] = bindparam("wanted", expanding=True)
_OF_RUNS: Final = text(_ROOTS.format(chosen="run r", where="WHERE r.run_id IN :wanted")).bindparams(
    _WANTED
)
_OF_WRITES: Final = text(
    _ROOTS.format(
        chosen=f"""dataset_activity a JOIN run r ON r.root_run_id = a.last_write_root_run_id
        AND {leaf_job("namespace")} = a.last_job_namespace
        AND {leaf_job("name")} = a.last_job_name""",
        where="""JOIN dataset d ON d.dataset_key = io.dataset_key
        AND d.canonical_key = a.dataset_key WHERE a.dataset_key IN :wanted""",
    )
).bindparams(_WANTED)


def load_roots_of_writers(connection: Connection, dataset_keys: Iterable[int]) -> dict[Name, Name]:
    """Return the root job of each job that wrote one of these datasets last; it may be itself."""
    return _load(connection, _OF_WRITES, dataset_keys)


def load_roots_of_runs(connection: Connection, run_ids: Iterable[str]) -> dict[Name, Name]:
    """Return the root job of the job of each of these runs, by its id; it may be itself."""
    return _load(connection, _OF_RUNS, run_ids)


def _load(
    connection: Connection, query: TextClause, wanted: Iterable[int] | Iterable[str]
) -> dict[Name, Name]:
    found: dict[Name, tuple[int, str, str]] = {}
    for piece in split_batches(sorted(wanted)):
        for row in connection.execute(query, {"wanted": piece}):
            job = row.job_namespace, row.job_name
            root = row.landed_at, row.root_job_namespace, row.root_job_name
            found[job] = min(found.get(job, root), root)
    return {job: (namespace, name) for job, (_, namespace, name) in found.items()}

"""Load what the catalog knows of the jobs at fault: their root jobs, and the owners of both."""

from collections.abc import Iterable

import msgspec
from sqlalchemy import Connection, bindparam, text

from alerts.incidents.faults import Cluster
from lineage import keys
from lineage.catalog.pieces import pieces
from lineage.catalog.tables.runs import leaf_job

# Only a root job whose namespace is known to write the dataset is believed, the first known first:
# anybody may send an event that names another root for a run.
_ROOTS = f"""
    SELECT {leaf_job("namespace")}, {leaf_job("name")}, r.root_job_namespace, r.root_job_name
    FROM {{chosen}}
    JOIN run_io io ON io.run_key = r.run_key AND io.direction = 'write'
    JOIN dataset_producer p ON p.dataset_key = io.dataset_key
        AND p.job_namespace = substr(r.root_job_namespace, 1, 200)
    {{where}} ORDER BY p.landed_at DESC, r.root_job_namespace DESC, r.root_job_name DESC
"""  # noqa: S608 - our own columns
_OF_RUNS = text(_ROOTS.format(chosen="run r", where="WHERE r.run_id IN :wanted")).bindparams(
    bindparam("wanted", expanding=True)
)
_OF_WRITES = text(
    _ROOTS.format(
        chosen=f"""dataset_activity a JOIN run r ON r.root_run_id = a.last_write_root_run_id
        AND {leaf_job("namespace")} = a.last_job_namespace
        AND {leaf_job("name")} = a.last_job_name""",
        where="""JOIN dataset d ON d.dataset_key = io.dataset_key
        AND d.canonical_key = a.dataset_key WHERE a.dataset_key IN :wanted""",
    )
).bindparams(bindparam("wanted", expanding=True))
_OWNERS = text("""
    SELECT subject_key, min(owner) FROM ownership
    WHERE subject = 'job' AND subject_key IN :wanted GROUP BY subject_key
""").bindparams(bindparam("wanted", expanding=True))

Name = tuple[str, str]


class JobsAtFault(msgspec.Struct, frozen=True):
    """Root jobs and the owners of jobs.

    Attributes:
        roots: the root job of each job that is below one; by namespace and name.
        owners: by the ownership facet of the job; by namespace and name.
    """

    roots: dict[Name, Name] = {}
    owners: dict[Name, str] = {}

    def names(self, job: Name) -> list[Name]:
        """Return the job, then its root job: a rule that matches either is meant for it."""
        return [job, self.roots[job]] if job in self.roots else [job]


def load_jobs_at_fault(connection: Connection, faults: Iterable[Cluster]) -> JobsAtFault:
    """Load the root jobs and owners of the jobs that these faults are of."""
    of_jobs = [each for each in faults if each.root.entity == "job"]
    roots: dict[Name, Name] = {}
    for query, wanted in (
        (_OF_WRITES, {key for each in of_jobs for key in each.root_keys}),
        (_OF_RUNS, {run_id for each in of_jobs for run_id in each.run_ids}),
    ):
        for piece in pieces(sorted(wanted)):
            for namespace, name, *root in connection.execute(query, {"wanted": piece}):
                roots[namespace, name] = (root[0], root[1])
    below = {job: root for job, root in roots.items() if root[1] and root != job}
    return JobsAtFault(below, _owners(connection, {*roots, *roots.values()}))


def _owners(connection: Connection, jobs: set[Name]) -> dict[Name, str]:
    by_key = {keys.key(*job): job for job in jobs if job[1]}
    return {
        by_key[key]: owner
        for piece in pieces(sorted(by_key))
        for key, owner in connection.execute(_OWNERS, {"wanted": piece})
    }

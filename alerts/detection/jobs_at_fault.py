"""Load what the catalog knows of the jobs at fault: their root jobs, and the owners of both."""

from collections.abc import Iterable

import msgspec
from sqlalchemy import Connection, bindparam, text

from alerts.root_cause.faults import FaultGroup
from lineage.catalog.queries import split_batches
from lineage.catalog.root_jobs import Name, load_roots_of_runs, load_roots_of_writers
from lineage.names import keys

_OWNERS = text("""
    SELECT subject_key, min(owner) FROM ownership
    WHERE subject = 'job' AND subject_key IN :wanted GROUP BY subject_key
""").bindparams(bindparam("wanted", expanding=True))


class JobsAtFault(msgspec.Struct, frozen=True):
    """Root jobs and the owners of jobs.

    Attributes:
        roots: the root job of each job that is below one; by namespace and name.
        owners: by the ownership facet of the job; by namespace and name.
    """

    roots: dict[Name, Name] = {}
    owners: dict[Name, str] = {}

    def names_of(self, job: Name) -> list[Name]:
        """Return the job, then its root job: a rule that matches either is meant for it."""
        return [job, self.roots[job]] if job in self.roots else [job]


def load_jobs_at_fault(connection: Connection, faults: Iterable[FaultGroup]) -> JobsAtFault:
    """Load the root jobs and owners of the jobs that these faults are of."""
    of_jobs = [each for each in faults if each.root.entity == "job"]
    roots = {
        **load_roots_of_writers(connection, {key for each in of_jobs for key in each.root_keys}),
        **load_roots_of_runs(connection, {run_id for each in of_jobs for run_id in each.run_ids}),
    }
    below = {job: root for job, root in roots.items() if root != job}
    return JobsAtFault(below, _owners(connection, {*roots, *roots.values()}))


def _owners(connection: Connection, jobs: set[Name]) -> dict[Name, str]:
    by_key = {keys.key(*job): job for job in jobs if job[1]}
    return {
        by_key[key]: owner
        for piece in split_batches(sorted(by_key))
        for key, owner in connection.execute(_OWNERS, {"wanted": piece})
    }

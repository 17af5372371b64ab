"""Names, tiers, owners and states of datasets; root jobs and owners of the jobs at fault."""

from collections.abc import Iterable, Iterator

import msgspec
from sqlalchemy import Connection, bindparam, text

from alerts.root_cause.faults import FaultGroup
from lineage.catalog.queries import FAILS, JOIN_WORST_STATE, TIER_IN_FORCE, split_batches
from lineage.catalog.root_jobs import load_roots_of_runs, load_roots_of_writers
from lineage.names import keys
from lineage.names.names import Name
from lineage.states import FAILING, FRESHNESS, GOOD, LEARNING, UNKNOWN

_DATASETS = text(
    f"""
    SELECT d.dataset_key AS key, d.namespace, d.name, {TIER_IN_FORCE} AS tier, p.owner,
        CASE WHEN {FAILS} AND s.state IN ('{GOOD}', '{LEARNING}') THEN '{FAILING}'
            ELSE coalesce(s.state, '{UNKNOWN}') END AS state,
        CAST(a.last_written_at + two.limit_seconds * 1e6 AS BIGINT) AS limit_at,
        coalesce(p.is_declared, false) AS is_declared, a.last_written_at IS NULL AS is_unwritten
    FROM dataset d
    LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
    LEFT JOIN dataset_activity a ON a.dataset_key = d.dataset_key
    {JOIN_WORST_STATE}
    LEFT JOIN dataset_state two ON two.dataset_key = d.dataset_key
        AND two.sli = '{FRESHNESS.id}'
    WHERE d.dataset_key IN :keys AND d.retired_at IS NULL
    """  # noqa: S608 - constants only
).bindparams(bindparam("keys", expanding=True))

_OWNERS = text("""
    SELECT subject_key, min(owner) FROM ownership
    WHERE subject = 'job' AND subject_key IN :wanted GROUP BY subject_key
""").bindparams(bindparam("wanted", expanding=True))


class DatasetInfo(msgspec.Struct, frozen=True):
    """Names, tier, owner and state of a dataset.

    Attributes:
        owner: by the policy or its facet.
        state: the most severe of its SLIs; `failing` where its last run failed and none is worse.
        is_declared: the policy names it outright.
        is_unwritten: no job was ever seen to write it.
    """

    key: int
    namespace: str
    name: str
    tier: str
    owner: str | None
    state: str
    limit_at: int | None
    is_declared: bool
    is_unwritten: bool


def load_dataset_info(connection: Connection, keys: Iterable[int]) -> dict[int, DatasetInfo]:
    """Return the datasets by key, without retired and unknown ones."""
    return {each.key: each for each in _load_info(connection, keys)}


def _load_info(connection: Connection, keys: Iterable[int]) -> Iterator[DatasetInfo]:
    for piece in split_batches(keys):
        rows = connection.execute(_DATASETS, {"keys": piece})
        yield from (DatasetInfo(**row) for row in rows.mappings())


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

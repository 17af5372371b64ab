"""Owners of datasets by the catalog: what events, rules for jobs and SparkApplications name."""

from typing import Any, NamedTuple

from sqlalchemy import Connection, text

from lineage.catalog.queries import FOREIGN_OWNERS
from lineage.catalog.root_jobs import load_roots_of_writers
from lineage.names import keys
from lineage.names.names import Name
from lineage.policy import Policy, owner_of_job

_OWNERS = """
    SELECT subject_key, owner FROM ownership WHERE subject = 'dataset' ORDER BY 1, 2
"""
# The newest owner of each job counts; of several, the last by name.
_JOB_OWNERS = """
    SELECT subject_key, owner FROM ownership WHERE subject = 'job' ORDER BY last_seen_at, owner
"""
# Of a job without the listener the namespace is unknown: '' stands for any. Only jobs that wrote a
# dataset: with generated names each submission is a job of its own, and they may be millions.
# By the applications: no dataset is read where there is none.
_APPLICATION_OWNERS = """
    SELECT coalesce(job_namespace, ''), job_name, max(owner) FROM spark_application
    WHERE is_newest AND owner IS NOT NULL
        AND job_name || '' IN (SELECT last_job_name FROM dataset_activity)
    GROUP BY 1, 2 ORDER BY 1, 2
"""
# Which job writes how many datasets, and which: another writer may bring another owner.
_WRITERS_CHANGES = """
    SELECT a.last_job_namespace, a.last_job_name, count(*), sum(a.dataset_key % 1000003)
    FROM dataset_activity a WHERE a.last_job_name IS NOT NULL
    GROUP BY a.last_job_namespace, a.last_job_name ORDER BY 1, 2
"""
_HAS_OWNED_JOB = """
    SELECT EXISTS (SELECT 1 FROM ownership WHERE subject = 'job')
        OR EXISTS (SELECT 1 FROM spark_application WHERE is_newest AND owner IS NOT NULL)
"""
_WRITERS = """
    SELECT dataset_key, last_job_namespace, last_job_name FROM dataset_activity
    WHERE last_job_name IS NOT NULL
"""
_Row = tuple[Any, ...]


class Owners(NamedTuple):
    """Owner by dataset.

    Attributes:
        of_events: by the ownership facet of the dataset, else by that of the job that wrote it
            last.
        of_jobs: by the policy's rule for the job that wrote it last, or for the root job of that.
        of_cluster: by the SparkApplication of that job.
    """

    of_events: dict[int, str]
    of_jobs: dict[int, str]
    of_cluster: dict[int, str]


def list_changes(connection: Connection, policy: Policy) -> list[_Row]:
    """Return rows that differ as soon as another owner may follow from the writers.

    Not where a job that was known without a root job gets one: that waits for another change.
    """
    has_owners = policy.jobs or connection.scalar(text(_HAS_OWNED_JOB))
    writers = _ask(connection, _WRITERS_CHANGES) if has_owners else []
    return [*writers, *_ask(connection, _APPLICATION_OWNERS)]


def load_owners(connection: Connection, policy: Policy) -> Owners:
    """Return the owners of all datasets, as the catalog and the policy's rules for jobs have it."""
    # What others say of a dataset makes nobody its owner, while its own writers can say so.
    foreign = set(_ask(connection, FOREIGN_OWNERS))
    of_events: dict[int, str] = {}
    for dataset_key, owner in _ask(connection, _OWNERS):
        if (dataset_key, owner) not in foreign:
            of_events.setdefault(dataset_key, owner)
    # The owner of a job owns what the job writes, where no event names an owner of that.
    by_facet: dict[int, str] = dict(_ask(connection, _JOB_OWNERS))
    applications = {
        (namespace, name): owner for namespace, name, owner in _ask(connection, _APPLICATION_OWNERS)
    }
    is_asked = by_facet or applications or policy.jobs
    writers: dict[int, Name] = {
        dataset_key: (namespace, name)
        for dataset_key, namespace, name in (_ask(connection, _WRITERS) if is_asked else ())
    }
    of_cluster: dict[int, str] = {}
    for dataset_key, job in writers.items():
        if owner := by_facet.get(keys.key(*job)):
            of_events.setdefault(dataset_key, owner)
        if owner := applications.get(job, applications.get(("", job[1]))):
            of_cluster[dataset_key] = owner
    return Owners(of_events, _owners_by_rule(connection, policy, writers), of_cluster)


def _owners_by_rule(
    connection: Connection, policy: Policy, writers: dict[int, Name]
) -> dict[int, str]:
    """Return the owner of each dataset by the rule for its writer, else for the root job of it."""
    if not policy.jobs:
        return {}
    by_job = {job: owner_of_job(policy, *job) for job in set(writers.values())}
    without = [dataset_key for dataset_key, job in writers.items() if not by_job[job]]
    for job, root in load_roots_of_writers(connection, without).items():
        by_job[job] = by_job.get(job) or owner_of_job(policy, *root)
    return {key: owner for key, job in writers.items() if (owner := by_job[job])}


def _ask(connection: Connection, query: str) -> list[_Row]:
    return [tuple(row) for row in connection.execute(text(query))]

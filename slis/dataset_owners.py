"""Owners of datasets by the catalog: what events and SparkApplications name."""

from typing import Any, NamedTuple

from sqlalchemy import Connection, text

from lineage import keys
from lineage.catalog.foreign_owners import FOREIGN_OWNERS

_OWNERS = """
    SELECT subject_key, owner FROM ownership WHERE subject = 'dataset' ORDER BY 1, 2
"""
# The newest owner of each job counts; of several, the last by name.
_JOB_OWNERS = """
    SELECT subject_key, owner FROM ownership WHERE subject = 'job' ORDER BY last_seen_at, owner
"""
# Of a job without the listener the namespace is unknown: '' stands for any. Only jobs that wrote a
# dataset: with generated names each submission is a job of its own, and they may be millions.
_APPLICATION_OWNERS = """
    SELECT coalesce(job_namespace, ''), job_name, max(owner) FROM spark_application
    WHERE is_newest AND owner IS NOT NULL
        AND job_name IN (SELECT last_job_name FROM dataset_activity)
    GROUP BY 1, 2 ORDER BY 1, 2
"""
# Which job writes how many datasets, and which: another writer may bring another owner.
_WRITERS_CHANGES = """
    SELECT a.last_job_namespace, a.last_job_name, count(*), sum(a.dataset_key % 1000003)
    FROM dataset_activity a WHERE a.last_job_name IS NOT NULL AND (
        EXISTS (SELECT 1 FROM ownership WHERE subject = 'job')
        OR EXISTS (SELECT 1 FROM spark_application WHERE is_newest AND owner IS NOT NULL))
    GROUP BY a.last_job_namespace, a.last_job_name ORDER BY 1, 2
"""
_WRITERS = """
    SELECT dataset_key, last_job_namespace, last_job_name FROM dataset_activity
    WHERE last_job_name IS NOT NULL
"""
Row = tuple[Any, ...]


class Owners(NamedTuple):
    """Owner by dataset: of its events or its job's, and of its job's SparkApplication."""

    of_events: dict[int, str]
    of_cluster: dict[int, str]


def list_changes(connection: Connection) -> list[Row]:
    """Return rows that differ as soon as another owner may follow from the writers."""
    return [*_ask(connection, _WRITERS_CHANGES), *_ask(connection, _APPLICATION_OWNERS)]


def load_owners(connection: Connection) -> Owners:
    """Return the owners of all datasets, as the catalog has them."""
    # What others say of a dataset makes nobody its owner, while its own writers can say so.
    foreign = set(_ask(connection, FOREIGN_OWNERS))
    of_events: dict[int, str] = {}
    for dataset_key, owner in _ask(connection, _OWNERS):
        if (dataset_key, owner) not in foreign:
            of_events.setdefault(dataset_key, owner)
    # The owner of a job owns what the job writes, where no event names an owner of that.
    of_jobs: dict[int, str] = dict(_ask(connection, _JOB_OWNERS))
    of_cluster: dict[int, str] = {}
    applications = {(row[0], row[1]): row[2] for row in _ask(connection, _APPLICATION_OWNERS)}
    for dataset_key, *job in _ask(connection, _WRITERS) if of_jobs or applications else ():
        if owner := of_jobs.get(keys.key(*job)):
            of_events.setdefault(dataset_key, owner)
        if owner := applications.get((job[0], job[1]), applications.get(("", job[1]))):
            of_cluster[dataset_key] = owner
    return Owners(of_events, of_cluster)


def _ask(connection: Connection, query: str) -> list[Row]:
    return [tuple(row) for row in connection.execute(text(query))]

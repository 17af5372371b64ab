"""Attributes of runs that several jobs can have in common."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, Row, bindparam, text

from alerts.root_cause.common_causes import Attribute, FailingJob
from lineage.catalog.queries import leaf_job, split_batches
from lineage.names.keys import key

# What a fleet shares: what is of one job alone, as its code, cannot be common to several.
_ATTRIBUTES = "r.engine, r.engine_version, r.adapter_version, r.spark_conf"
_FAILED = text(
    f"""
    SELECT {leaf_job("namespace")} AS namespace, {leaf_job("name")} AS name, {_ATTRIBUTES}
    FROM run r
    WHERE r.run_id IN :run_ids
    """  # noqa: S608 - constants only
).bindparams(bindparam("run_ids", expanding=True))
_LAST_GOOD = f"""
    SELECT DISTINCT a.last_job_namespace AS namespace, a.last_job_name AS name, {_ATTRIBUTES},
        p.owner
    FROM dataset_activity a JOIN run r ON r.root_run_id = a.last_write_root_run_id
    LEFT JOIN dataset_policy p ON p.dataset_key = a.dataset_key
    WHERE a.last_written_at >= :since
"""  # noqa: S608 - likewise
# By the indexes of runs by job.
_OF_JOB = f"""
    SELECT DISTINCT {leaf_job("namespace")} AS namespace, {leaf_job("name")} AS name, r.engine,
        r.engine_version, r.adapter_version
    FROM run r WHERE r.{{part}}_job_name IN :names AND r.first_event_at >= :since
    AND r.completed_at IS NOT NULL AND r.failed_at IS NULL
"""  # noqa: S608 - our own columns
_VERSIONS = text(" UNION ".join(_OF_JOB.format(part=part) for part in ("leaf", "root"))).bindparams(
    bindparam("names", expanding=True)
)
_LISTENER: Final = "OpenLineage listener"


class GoodRun(msgspec.Struct):
    """Newest good run of a job.

    Attributes:
        attributes: what it reports of itself.
        owners: of the datasets that it wrote; unowned ones add none.
    """

    namespace: str
    name: str
    attributes: dict[str, str] = msgspec.field(default_factory=dict)
    owners: set[str] = msgspec.field(default_factory=set)


def load_last_good(connection: Connection, since: int) -> dict[int, GoodRun]:
    """Return the newest good run of each job since then (µs), by job key."""
    found: dict[int, GoodRun] = {}
    for row in connection.execute(text(_LAST_GOOD), {"since": since}):
        run = found.setdefault(key(row.namespace, row.name), GoodRun(row.namespace, row.name))
        run.attributes |= _attributes(row)
        run.owners |= {row.owner} if row.owner else set()
    return found


def load_versions(
    connection: Connection, jobs: Iterable[GoodRun], since: int
) -> dict[int, set[Attribute]]:
    """Return all version attributes of good runs of these jobs since then (µs), by job key."""
    found: dict[int, set[Attribute]] = {}
    for piece in split_batches(sorted({job.name for job in jobs})):
        rows = connection.execute(_VERSIONS, {"names": piece, "since": since})
        for row in rows:
            versions = _version_attributes(row)
            found.setdefault(key(row.namespace, row.name), set()).update(versions.items())
    return found


def load_failing_jobs(
    connection: Connection, run_ids: Iterable[str], before: Mapping[int, GoodRun]
) -> list[FailingJob]:
    """Return the jobs of these failed runs, with the attributes of their last good runs."""
    now: dict[int, dict[str, str]] = {}
    named: dict[int, frozenset[str]] = {}
    for piece in split_batches(sorted(run_ids)):
        for row in connection.execute(_FAILED, {"run_ids": piece}):
            job = key(row.namespace, row.name)
            now.setdefault(job, {}).update(_attributes(row))
            named[job] = named.get(job, frozenset()) | _version_attributes(row).keys()
    was = {job: run.attributes for job, run in before.items()}
    return [
        FailingJob(job, values, was.get(job), named[job]) for job, values in sorted(now.items())
    ]


def _attributes(row: Row[Any]) -> dict[str, str]:
    conf = row.spark_conf
    settings = {} if conf is None else msgspec.json.decode(conf, type=dict[str, str])
    return _version_attributes(row) | settings


def _version_attributes(row: Row[Any]) -> dict[str, str]:
    named = {row.engine or "engine": row.engine_version, _LISTENER: row.adapter_version}
    return {name: value for name, value in named.items() if value}

"""SparkApplications of the namespaces that are watched, and how well they are watched."""

from datetime import datetime
from typing import Final

import msgspec

from lineage.catalog.meta_keys import LONGEST_PAUSE_MICROS, ListenerState
from lineage.catalog.reader import CatalogReader
from lineage.catalog.rows import Row
from lineage.process.clock import to_micros
from service.queries.run_shapes import IsoTime
from service.queries.timestamps import iso, seconds_between

MOST_APPLICATIONS: Final = 1_000
_LISTENER: Final = {
    None: "unknown",
    ListenerState.ABSENT: "no",
    ListenerState.IN_SETTINGS: "yes",
    ListenerState.BY_EVENTS: "yes",
}
# The last submission of each job, as long as its object exists.
_LAST: Final = "FROM spark_application WHERE is_newest AND deleted_at IS NULL"
_COUNTED: Final = f"""
SELECT CASE WHEN has_listener = {ListenerState.BY_EVENTS} THEN {ListenerState.IN_SETTINGS}
  ELSE has_listener END AS listener,
  COUNT(*) AS jobs, SUM(CASE WHEN problem IS NULL THEN 0 ELSE 1 END) AS failed
{_LAST} GROUP BY 1 ORDER BY 1
"""
_LISTED: Final = f"""
SELECT kube_namespace, name, job_namespace, job_name, state, has_listener, owner, submitted_at,
  ended_at, problem
{_LAST} AND (:every = 1 OR (:unlistened = 1 AND has_listener = {ListenerState.ABSENT})
  OR (:failed = 1 AND problem IS NOT NULL))
ORDER BY submitted_at DESC, uid LIMIT :most
"""
_WATCHES: Final = """
SELECT resource, kube_namespace, complete_since, complete_until, problem FROM kubernetes_watch
ORDER BY kube_namespace, resource LIMIT 200
"""


class SparkApplication(msgspec.Struct, frozen=True):
    """Last SparkApplication of a job.

    Attributes:
        listener: `yes`, `no`, or `unknown` in rows of an older release.
        problem: the operator's message about a failure.
    """

    kube_namespace: str
    name: str
    job_namespace: str | None
    job_name: str
    state: str
    listener: str
    owner: str | None
    submitted_at: IsoTime | None
    ended_at: IsoTime | None
    problem: str | None


class ApplicationList(msgspec.Struct, frozen=True):
    """SparkApplications, the newest first."""

    applications: list[SparkApplication]
    partial: bool
    partial_reason: str | None


class KubernetesWatch(msgspec.Struct, frozen=True):
    """Watch of one resource in one namespace; `problem` is null while it works."""

    resource: str
    kube_namespace: str
    complete_since: IsoTime | None
    age_seconds: float | None  # since it was last known to be complete
    problem: str | None


class KubernetesStatus(msgspec.Struct, frozen=True):
    """Jobs that ran as SparkApplications, by whether they have the listener; and the watches."""

    jobs: dict[str, int]
    failed: int
    watches: list[KubernetesWatch]


def kubernetes_status(reader: CatalogReader, now: datetime) -> KubernetesStatus | None:
    """Return how Kubernetes is watched; None where it never was."""
    rows = reader.rows(_WATCHES)
    if not rows:
        return None
    counts = reader.rows(_COUNTED)
    return KubernetesStatus(
        jobs={_LISTENER[row.listener]: row.jobs for row in counts},
        failed=sum(row.failed for row in counts),
        watches=[_watch(row, to_micros(now)) for row in rows],
    )


def list_applications(
    reader: CatalogReader, *, without_listener: bool, failed: bool, limit: int
) -> ApplicationList:
    """Return the last SparkApplication of each job; of two filters, those that match one."""
    given = {"unlistened": int(without_listener), "failed": int(failed), "most": limit + 1}
    rows = reader.rows(_LISTED, {**given, "every": int(not (without_listener or failed))})
    is_cut = len(rows) > limit
    return ApplicationList(
        [_application(row) for row in rows[:limit]],
        is_cut,
        f"the newest {limit}" if is_cut else None,
    )


def _watch(row: Row, now: int) -> KubernetesWatch:
    until, problem = row.complete_until, row.problem
    if problem is None and until is not None and now - until > LONGEST_PAUSE_MICROS:
        problem = (
            f"{row.resource} in namespace {row.kube_namespace} have not been watched since"
            f" {iso(until)}: the kubernetes role does not run, or hangs"
        )
    return KubernetesWatch(
        resource=row.resource,
        kube_namespace=row.kube_namespace,
        complete_since=iso(row.complete_since),
        age_seconds=seconds_between(until, now),
        problem=problem,
    )


def _application(row: Row) -> SparkApplication:
    return SparkApplication(
        kube_namespace=row.kube_namespace,
        name=row.name,
        job_namespace=row.job_namespace,
        job_name=row.job_name,
        state=row.state,
        listener=_LISTENER[row.has_listener],
        owner=row.owner,
        submitted_at=iso(row.submitted_at),
        ended_at=iso(row.ended_at),
        problem=row.problem,
    )

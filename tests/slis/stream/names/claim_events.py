"""Events with claims about a dataset's names, tier or owner."""

from datetime import datetime
from typing import Any

from tests.slis.stream.spools import Event, run_event

DROP = {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}}
RETIRED = "SELECT name FROM dataset WHERE retired_at IS NOT NULL ORDER BY 1"
REJECTED = "SELECT rule, job_namespace, name FROM dataset_claim WHERE is_refused ORDER BY 1, 2, 3"


def mine(case: str) -> tuple[str, str]:
    """Return the dataset of the job namespace `shop` that this case is about."""
    return "s3://lake", f"mart/{case}"


def symlink(namespace: str, name: str) -> dict[str, Any]:
    """Return facets of a dataset that has this other name."""
    return {"symlinks": {"identifiers": [{"namespace": namespace, "name": name, "type": "TABLE"}]}}


def rename_from(namespace: str, name: str) -> dict[str, Any]:
    """Return facets of a dataset that had this name before."""
    before = {"namespace": namespace, "name": name}
    change = {"lifecycleStateChange": "RENAME", "previousIdentifier": before}
    return {"lifecycleStateChange": change}


def tier_tag(tier: str) -> dict[str, Any]:
    """Return facets of a dataset with this tier as a tag."""
    return {"tags": {"tags": [{"key": "Tier", "value": tier}]}}


def owner_facet(owner: str) -> dict[str, Any]:
    """Return facets of a dataset with this owner."""
    return {"ownership": {"owners": [{"name": owner, "type": "MAINTAINER"}]}}


def event(  # noqa: PLR0913 - the last two by name
    at: datetime,
    by: str,
    namespace: str,
    name: str,
    facets: dict[str, Any] | None = None,
    *,
    side: str = "outputs",
    job: str = "job",
) -> Event:
    """Return a run of the job namespace `by` that names one dataset; each has a run of its own."""
    made = run_event("COMPLETE", at, run=f"{by}-{name}-{at.isoformat()}", job=job)
    made["job"]["namespace"] = by
    made[side] = [{"namespace": namespace, "name": name, "facets": facets or {}}]
    return made


def without_run(
    at: datetime, namespace: str, name: str, facets: dict[str, Any], *, by: str | None = None
) -> Event:
    """Return a DatasetEvent, or the JobEvent of a job of the namespace `by`."""
    made = {"eventTime": at.isoformat(), "producer": "p", "schemaURL": "https://x/DatasetEvent"}
    dataset = {"namespace": namespace, "name": name, "facets": facets}
    if by is None:
        return {**made, "dataset": dataset}
    job = {"namespace": by, "name": "job", "facets": {}}
    return {**made, "schemaURL": "https://x/JobEvent", "job": job, "outputs": [dataset]}

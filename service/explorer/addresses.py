"""Addresses of pages, for templates."""

from collections.abc import Mapping
from urllib.parse import quote

from alerts.notify.links import dataset_at, incident_at, url_query

__all__ = [
    "access_audit_at",
    "dataset_at",
    "datasets_at",
    "diff_at",
    "incident_at",
    "incidents_at",
    "jobs_at",
    "pipeline_errors_at",
    "rejected_at",
    "run_at",
    "set_aside_at",
]


def datasets_at(**filters: str | int | None) -> str:
    """Return the address of the list of datasets; null and empty filters are left out."""
    return _asked("/datasets", filters)


def incidents_at(*, is_over_too: bool, cursor: str | None = None) -> str:
    """Return the address of the list of incidents, or of the part after a cursor."""
    return _asked("/incidents", {"all": "true" if is_over_too else None, "cursor": cursor})


def set_aside_at(*, with_requeued: bool = False, cursor: str | None = None) -> str:
    """Return the address of the list of set-aside events, or of the part after a cursor."""
    return _asked("/set-aside-events", {"all": "true" if with_requeued else None, "cursor": cursor})


def jobs_at(*, find: str | None = None, cursor: str | None = None) -> str:
    """Return the address of the list of jobs, or of the part after a cursor."""
    return _asked("/jobs", {"find": find, "cursor": cursor})


def rejected_at(*, reason: str | None = None, cursor: str | None = None) -> str:
    """Return the address of the list of rejected events, or of the part after a cursor."""
    return _asked("/rejected-events", {"reason": reason, "cursor": cursor})


def pipeline_errors_at(*, reason: str | None = None, cursor: str | None = None) -> str:
    """Return the address of the list of pipeline errors, or of a part of it."""
    return _asked("/pipeline-errors", {"reason": reason, "cursor": cursor})


def access_audit_at(
    *, who: str | None = None, decision: str | None = None, cursor: str | None = None
) -> str:
    """Return the address of the access audit, or of the part after a cursor."""
    return _asked("/access-audit", {"who": who, "decision": decision, "cursor": cursor})


def run_at(run_id: str) -> str:
    """Return the address of the page of a run."""
    return f"/runs/{quote(run_id, safe='')}"


def diff_at(first: str, second: str) -> str:
    """Return the address of the differences between two runs."""
    return f"{run_at(first)}/diff/{quote(second, safe='')}"


def _asked(path: str, filters: Mapping[str, str | int | None]) -> str:
    asked = url_query(**{name: str(value) for name, value in filters.items() if value})
    return f"{path}?{asked}" if asked else path

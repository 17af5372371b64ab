"""Reasons why incidents resolved: which fact improved, in plain words without names."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace
from sqlalchemy import Connection, Row, bindparam, text

from alerts.detection.self_monitoring import EvaluationStatus
from alerts.incidents.incident import Incident
from alerts.incidents.steps import IncidentEvent, StepResult
from alerts.notify.formatting import format_duration
from alerts.root_cause.kinds import KIND_BY_ID, STANDING_GAP
from lineage.catalog.queries import TIER_IN_FORCE, WITH_RETIREMENT, split_batches
from lineage.process.clock import SECOND_MICROS, instant_text
from lineage.states import FRESHNESS, GOOD, LEARNING, OPTIONAL

_MAX_DATASETS = 3  # of an incident's root: the first of them stand for a job's other outputs
_RECOVERY_EVENTS: Final = frozenset({"resolved", "root_recovered"})
_STILL_LATE: Final = "; downstream datasets are still late"
_FACTS = text(
    f"""
    SELECT d.dataset_key, coalesce(d.retired_at, t.requested_at) AS retired_at,
        d.canonical_key <> d.dataset_key AS is_joined,
        coalesce(a.last_written_at, 0) AS written_at, coalesce(a.last_failed_at, 0) AS failed_at,
        coalesce(a.last_write_landed_at, 0) AS landed_at,
        {TIER_IN_FORCE} AS tier, p.is_source, p.is_expected, s.state, s.limit_seconds,
        s.limit_origin
    FROM dataset d
    {WITH_RETIREMENT}
    LEFT JOIN dataset_activity a ON a.dataset_key = d.canonical_key
    LEFT JOIN dataset_policy p ON p.dataset_key = d.canonical_key
    LEFT JOIN dataset_state s ON s.dataset_key = d.canonical_key
        AND s.sli = '{FRESHNESS.id}'
    WHERE d.dataset_key IN :keys
    """  # noqa: S608 - a constant
).bindparams(bindparam("keys", expanding=True))
_POLICIES = text(
    """
    SELECT policy_hash FROM evaluation WHERE as_of <= :at ORDER BY as_of DESC LIMIT 1
    """
)
_NO_NEW_SOURCE: Final = "no undeclared source was found in the last seven days"
# Of kinds that a write does not end by itself: what holds once nothing of it is found.
_CONTENT_RECOVERED: Final = {
    "schema_changed": "no change of its schema in the last seven days is unexplained",
    "mapping": "no comparison of its lineage with what its runs did disagrees",
    "provenance": f"no read of it lacks a known origin, and {_NO_NEW_SOURCE}",
    "unexpected_source": _NO_NEW_SOURCE,
    "quality": (
        "no test of its data has failed in the last seven days without passing since (warnings"
        " do not count)"
    ),
    "metadata": "it lacks no metadata that the policy requires",
    "claimed": "no event claims it without the right to",
}
_SERVICE_RECOVERED: Final = {
    "set_aside": "all events that were set aside have been posted again",
    "access": "no access against the policy was let in for an hour",
}
_LIMITS: Final = {"declared": "the policy's limit", "learned": "the learned limit"}


class _Recovery(msgspec.Struct, frozen=True):
    """Incident that recovered, and what is known beside the facts of its datasets."""

    incident: Incident
    is_policy_new: bool


def explain_recoveries(
    connection: Connection, step: StepResult, status: EvaluationStatus
) -> StepResult:
    """Return the step with what got better as the reason of all that recovered by itself."""
    incidents = {each.id: each for each in (*step.incidents, *step.changed)}
    recoveries = [each for each in step.events if each.what in _RECOVERY_EVENTS and each.by is None]
    if not recoveries:
        return step
    recovered = {each.incident_id: incidents[each.incident_id] for each in recoveries}
    facts, newest = _load_facts(connection, recovered.values()), _policy_at(connection, status.now)
    reasons = {
        number: _explain_service(incident, status)
        if incident.root.entity == "service"
        else _explain_datasets(_load_recovery(connection, incident, newest), facts)
        for number, incident in recovered.items()
    }
    return replace(step, events=tuple(_explain(each, reasons) for each in step.events))


def _explain(event: IncidentEvent, reasons: Mapping[str, str]) -> IncidentEvent:
    if event.what not in _RECOVERY_EVENTS or event.by is not None:
        return event
    rest = _STILL_LATE if event.what == "root_recovered" else ""
    return replace(event, reason=reasons[event.incident_id] + rest)


def _load_facts(connection: Connection, recovered: Iterable[Incident]) -> dict[int, Row[Any]]:
    keys = {key for each in recovered for key in _keys_of(each)}
    found = (connection.execute(_FACTS, {"keys": piece}) for piece in split_batches(keys))
    return {row.dataset_key: row for rows in found for row in rows}


def _keys_of(incident: Incident) -> list[int]:
    return sorted(incident.root_keys)[:_MAX_DATASETS]


def _policy_at(connection: Connection, at: int) -> str | None:
    """Return the hash of the policy of the last evaluation until then."""
    found: str | None = connection.scalar(_POLICIES, {"at": at})
    return found


def _load_recovery(connection: Connection, own: Incident, newest: str | None) -> _Recovery:
    """Return the incident, and whether the policy changed; content alone needs to know."""
    if own.root.kind not in _CONTENT_RECOVERED:
        return _Recovery(own, is_policy_new=False)
    before = _policy_at(connection, own.opened_at or own.seen_at)
    return _Recovery(own, is_policy_new=before is not None and before != newest)


def _explain_service(incident: Incident, status: EvaluationStatus) -> str:
    root = incident.root
    if root.kind in _SERVICE_RECOVERED:
        return _SERVICE_RECOVERED[root.kind]
    at = "" if status.evaluated_at is None else f" at {instant_text(status.evaluated_at)}"
    return f"the {root.name} works again, and all datasets were evaluated{at}"


def _explain_datasets(recovery: _Recovery, facts: Mapping[int, Row[Any]]) -> str:
    known = [facts[key] for key in _keys_of(recovery.incident) if key in facts]
    counts = Counter(_explain_dataset(recovery, row) for row in known)
    reasons = [f"{why} ({count} datasets)" if count > 1 else why for why, count in counts.items()]
    return "; ".join(reasons) or "its datasets are no longer in the catalog"


def _explain_dataset(recovery: _Recovery, row: Row[Any]) -> str:
    """Return what got better, and the last run where it failed."""
    if row.retired_at is not None:
        return "the dataset was retired"
    if row.is_joined:
        return "the dataset is now an alias"
    kind = recovery.incident.root.kind
    explain = _explain_content if kind in _CONTENT_RECOVERED else _explain_writes
    why = explain(recovery, row)
    if row.failed_at > row.written_at:
        return f"{why}; its last run failed at {instant_text(row.failed_at)}"
    return why


def _explain_content(recovery: _Recovery, row: Row[Any]) -> str:
    gone = _CONTENT_RECOVERED[recovery.incident.root.kind]
    if row.landed_at > recovery.incident.seen_at:
        return f"a run at {instant_text(row.written_at)} wrote it, and {gone}"
    return f"the policy changed, and {gone}" if recovery.is_policy_new else gone


def _explain_writes(recovery: _Recovery, row: Row[Any]) -> str:
    incident = recovery.incident
    is_news = row.written_at > incident.onset or row.landed_at > incident.seen_at
    if is_news and row.written_at > row.failed_at:
        return f"a run at {instant_text(row.written_at)} wrote it"
    if incident.root.kind == "failed" and row.failed_at <= row.written_at:
        return "the failed run is no longer reported as failed"
    if row.is_source and incident.root.kind != "source_stopped":
        return "the policy declares it a source, which no job has to write"
    if row.is_expected is not None and not row.is_expected:
        return "no job is expected to write it"
    # A failed run of an optional dataset is no fault before the dataset is late.
    if incident.root.kind == "failed" and row.tier == OPTIONAL and not incident.times.late_since:
        return "the policy declares it optional"
    return _explain_limit(incident, row)


def _explain_limit(incident: Incident, row: Row[Any]) -> str:
    if row.state == GOOD and row.limit_seconds is not None:
        limit = _LIMITS.get(row.limit_origin, "the limit")
        length = format_duration(round(row.limit_seconds * SECOND_MICROS))
        return f"{limit} of {length} has not passed"
    if row.state == LEARNING:
        return "it has no limit now: its schedule is being learned"
    is_gap = incident.root.kind == STANDING_GAP or not KIND_BY_ID[incident.root.kind].delays
    return f"no evaluation finds it {'without lineage' if is_gap else 'late'} any more"

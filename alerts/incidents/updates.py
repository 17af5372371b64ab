"""Updates of an incident whose fault is found again: root, owner, severity, members."""

from typing import Any, Final

import msgspec

from alerts.incidents.detected_fault import DetectedFault
from alerts.incidents.incident import Incident
from alerts.incidents.matching import Match
from alerts.incidents.steps import EventKind, IncidentEvent
from alerts.incidents.times import FaultTimes
from alerts.root_cause.faults import FaultRoot
from lineage.process.clock import instant_text
from lineage.states import PAGE

_KIND_CHANGED: Final = "the same fault, of another kind now"


class IncidentUpdate:
    """Incident with the events of this step."""

    def __init__(self, incident: Incident, at: int) -> None:
        self.incident = incident
        self.at = at
        self.events: list[IncidentEvent] = []

    def set(self, **fields: Any) -> None:  # noqa: ANN401 - as the struct has them
        """Change fields without an event."""
        self.incident = msgspec.structs.replace(self.incident, **fields)

    def record(
        self,
        what: EventKind,
        reason: str,
        *,
        change: dict[str, Any] | None = None,
        **detail: Any,  # noqa: ANN401 - as `IncidentEvent` has them
    ) -> None:
        """Change fields and add an event, unless the incident is not active."""
        was_active = self.incident.is_active
        self.set(**(change or {}))
        if was_active or self.incident.is_active:
            self.set(revision=self.incident.revision + 1)
            own = self.incident
            self.events.append(IncidentEvent(own.id, own.revision, self.at, what, reason, **detail))


def apply_match(update: IncidentUpdate, found: Match, unknown: frozenset[int]) -> None:
    """Take over what is found; unknown members stay."""
    if found.fault is not None:
        update.set(root_good_at=None)
        if not _is_doubtful(update.incident, found.fault):
            _update_root(update, found.fault)
            _update_owner(update, found)
        _update_severity(update, found.fault)
    elif update.incident.root_good_at is None:
        update.set(root_good_at=update.at)
        if found.remaining:
            reason = "the root recovered; downstream datasets are still late"
            update.record("root_recovered", reason)
    every = found.remaining if found.fault is None else (found.fault, *found.remaining)
    _update_trailing(update, found)
    for worst in [each for each in found.remaining if each.severity.level == PAGE][:1]:
        _update_severity(update, worst)
    if every:
        _update_members(update, frozenset().union(*(each.bad_keys for each in every)), unknown)


def _is_doubtful(own: Incident, fault: DetectedFault) -> bool:
    """Return whether a root further upstream may be none: our own gap hides what is above it."""
    return fault.unknown == "upstream_unknown" and not _is_same_entity(own.root, fault.root)


def _update_trailing(update: IncidentUpdate, found: Match) -> None:
    """Set since when the remaining faults of a recovered part have been catching up."""
    known = dict(update.incident.trailing)
    rest = found.remaining if found.fault is not None else ()
    keys = sorted({key for each in rest for key in each.root_keys})
    update.set(trailing=tuple((key, known.get(key, update.at)) for key in keys))


def _update_root(update: IncidentUpdate, fault: DetectedFault) -> None:
    own = update.incident
    is_elsewhere = not _is_same_entity(own.root, fault.root)
    update.set(
        root_keys=fault.root_keys,
        unknown=fault.unknown,
        cadence_seconds=fault.cadence_seconds,
        **_beginning(own, fault),
    )
    # Of the same job, a root that is known is not given up for a symptom.
    if own.root == fault.root or (not is_elsewhere and fault.unknown is not None):
        return
    update.record(
        "rerooted" if is_elsewhere else "kind_changed",
        "a fault further upstream explains it" if is_elsewhere else _KIND_CHANGED,
        change={"root": fault.root},
        old_root=own.root,
        new_root=fault.root,
    )


def _beginning(own: Incident, fault: DetectedFault) -> dict[str, int | FaultTimes]:
    """Return when it began: an incident that people know of keeps its beginning."""
    if not own.is_active:
        return {"onset": fault.onset, "times": fault.times}
    return {"onset": min(own.onset, fault.onset), "times": fault.times.merge(own.times)}


def _is_same_entity(one: FaultRoot, other: FaultRoot) -> bool:
    return (one.entity, one.key, one.name) == (other.entity, other.key, other.name)


def _update_owner(update: IncidentUpdate, found: Match) -> None:
    """Hand the incident over to another owner, who has acknowledged nothing."""
    own, fault = update.incident, found.fault
    if fault is None or own.owner == fault.owner:
        return
    owners = {each.owner for each in found.merged if each.opened_at is not None}
    change = {"owner": fault.owner, "acknowledged_by": None}
    if own.state == "acknowledged":
        change["state"] = "open"
    update.record(
        "handed_over",
        "the root has another owner",
        change=change,
        old_owner=own.owner,
        new_owner=fault.owner,
        is_owner_notified=fault.owner in owners,
    )


def _update_severity(update: IncidentUpdate, fault: DetectedFault) -> None:
    """Raise a ticket to a page; never lower a page."""
    own = update.incident.severity
    if update.incident.state == "pending":
        update.set(severity=fault.severity)  # nobody was paged yet
    elif own.level == PAGE and fault.severity.level != PAGE:
        kept = msgspec.structs.replace(fault.severity, level=PAGE, because=own.because)
        update.set(severity=kept)
    elif own.level != fault.severity.level:
        # The page says that a rerun from now on is too late: an expected retry may be in time.
        if not fault.is_retry_expected(update.at):
            _escalate(update, fault)
    else:
        update.set(severity=fault.severity)


def _escalate(update: IncidentUpdate, fault: DetectedFault) -> None:
    """Make a page of a ticket. Who acknowledged the ticket has not acknowledged the page."""
    state = update.incident.state
    change = {
        "severity": fault.severity,
        "acknowledged_by": None,
        "state": "open" if state == "acknowledged" else state,
    }
    update.record("escalated", _escalation_reason(fault), change=change)


def _escalation_reason(fault: DetectedFault) -> str:
    hit_at = fault.severity.hit_at
    at = "soon" if hit_at is None else f"at {instant_text(hit_at)}"
    words = {
        "is_bad": "a critical dataset is bad",
        "soon": f"a critical dataset misses its limit or is read {at}",
        "deadline": "a rerun of the usual duration would end after the deadline",
    }
    return words.get(fault.severity.because, "faults of this kind page")


def _update_members(update: IncidentUpdate, bad: frozenset[int], unknown: frozenset[int]) -> None:
    was = update.incident.members
    now = bad | (was & unknown)
    joined, left = tuple(sorted(now - was)), tuple(sorted(was - now))
    if joined:
        update.record("joined", "now bad", change={"members": was | now}, members=joined)
    if left:
        update.record("left", "no longer bad", change={"members": now}, members=left)


def merge_incidents(younger: IncidentUpdate, older: IncidentUpdate) -> None:
    """Merge two incidents of one root: the root pages once."""
    change = {
        "state": "resolved",
        "resolved_at": younger.at,
        "merged_into": older.incident.id,
        "members": frozenset(),
    }
    other = older.incident.id
    was_active = younger.incident.is_active
    reason = "it has the same root as an older incident"
    if was_active:
        younger.record("merged", reason, change=change, other_id=other)
        older.record("took_over", "it has the same root", other_id=younger.incident.id)
    else:
        younger.set(**change)

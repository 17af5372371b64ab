"""What changes in an incident that is found again: root, owner, severity, members."""

from typing import Any

import msgspec

from alerts.incidents.detected_fault import DetectedFault
from alerts.incidents.incident import Incident
from alerts.incidents.matching import Match
from alerts.incidents.steps import Event, EventKind
from alerts.incidents.times import FaultTimes
from alerts.root_cause.faults import Root
from alerts.root_cause.severity import PAGE


class IncidentUpdate:
    """An incident and the events of this step."""

    def __init__(self, incident: Incident, at: int) -> None:
        self.incident = incident
        self.at = at
        self.events: list[Event] = []

    def set(self, **fields: Any) -> None:  # noqa: ANN401 - as the struct has them
        """Change what nobody needs to hear of."""
        self.incident = msgspec.structs.replace(self.incident, **fields)

    def record(
        self,
        what: EventKind,
        reason: str,
        *,
        change: dict[str, Any] | None = None,
        **detail: Any,  # noqa: ANN401 - as `Event` has them
    ) -> None:
        """Change these fields of the incident, and say so: quietly where nobody knows of it yet."""
        was_told = self.incident.is_active
        self.set(**(change or {}))
        if was_told or self.incident.is_active:
            self.set(revision=self.incident.revision + 1)
            own = self.incident
            self.events.append(Event(own.id, own.revision, self.at, what, reason, **detail))


def apply_match(draft: IncidentUpdate, found: Match, unknown: frozenset[int]) -> None:
    """Take over what is found; unknown members stay."""
    if found.fault is not None:
        draft.set(root_good_at=None)
        if not _is_doubtful(draft.incident, found.fault):
            _update_root(draft, found.fault)
            _update_owner(draft, found)
        _update_severity(draft, found.fault)
    elif draft.incident.root_good_at is None:
        draft.set(root_good_at=draft.at)
        if found.remaining:
            reason = "the root recovered; downstream datasets are still late"
            draft.record("root_recovered", reason)
    every = found.remaining if found.fault is None else (found.fault, *found.remaining)
    _update_trailing(draft, found)
    for worst in [each for each in found.remaining if each.severity.level == PAGE][:1]:
        _update_severity(draft, worst)
    if every:
        _update_members(draft, frozenset().union(*(each.bad_keys for each in every)), unknown)


def _is_doubtful(own: Incident, fault: DetectedFault) -> bool:
    """Return whether a root further upstream may be none: our own gap hides what is above it."""
    return fault.unknown == "upstream_unknown" and not _is_same_entity(own.root, fault.root)


def _update_trailing(draft: IncidentUpdate, found: Match) -> None:
    """Note since when the rest of a part that recovered is catching up."""
    known = dict(draft.incident.trailing)
    rest = found.remaining if found.fault is not None else ()
    keys = sorted({key for each in rest for key in each.root_keys})
    draft.set(trailing=tuple((key, known.get(key, draft.at)) for key in keys))


def _update_root(draft: IncidentUpdate, fault: DetectedFault) -> None:
    own = draft.incident
    is_elsewhere = not _is_same_entity(own.root, fault.root)
    draft.set(
        root_keys=fault.root_keys,
        unknown=fault.unknown,
        cadence_seconds=fault.cadence_seconds,
        **_beginning(own, fault),
    )
    # Of the same job, a root that is known is not given up for a symptom.
    if own.root == fault.root or (not is_elsewhere and fault.unknown is not None):
        return
    draft.record(
        "rerooted" if is_elsewhere else "kind_changed",
        "a fault further upstream explains it" if is_elsewhere else "the same fault, gone further",
        change={"root": fault.root},
        old_root=own.root,
        new_root=fault.root,
    )


def _beginning(own: Incident, fault: DetectedFault) -> dict[str, int | FaultTimes]:
    """Return when it began: an incident that people know of keeps its beginning."""
    if not own.is_active:
        return {"onset": fault.onset, "times": fault.times}
    return {"onset": min(own.onset, fault.onset), "times": fault.times.merge(own.times)}


def _is_same_entity(one: Root, other: Root) -> bool:
    return (one.entity, one.key, one.name) == (other.entity, other.key, other.name)


def _update_owner(draft: IncidentUpdate, found: Match) -> None:
    """To another owner: what the first one acknowledged, the new one has not seen."""
    own, fault = draft.incident, found.fault
    if fault is None or own.owner == fault.owner:
        return
    told = {each.owner for each in found.merged if each.opened_at is not None}
    change = {"owner": fault.owner, "acknowledged_by": None}
    if own.state == "acknowledged":
        change["state"] = "open"
    draft.record(
        "handed_over",
        "the root has another owner",
        change=change,
        old_owner=own.owner,
        new_owner=fault.owner,
        is_owner_notified=fault.owner in told,
    )


def _update_severity(draft: IncidentUpdate, fault: DetectedFault) -> None:
    """A ticket may become a page; what paged stays a page."""
    own = draft.incident.severity
    if draft.incident.state == "pending":
        draft.set(severity=fault.severity)  # nobody was paged yet
    elif own.level == PAGE and fault.severity.level != PAGE:
        kept = msgspec.structs.replace(fault.severity, level=PAGE, because=own.because)
        draft.set(severity=kept)
    elif own.level != fault.severity.level:
        # The page says that a rerun from now on is too late: an expected retry may be in time.
        if not fault.is_retry_expected(draft.at):
            _escalate(draft, fault)
    else:
        draft.set(severity=fault.severity)


def _escalate(draft: IncidentUpdate, fault: DetectedFault) -> None:
    """Make a page of a ticket. Who acknowledged the ticket has not acknowledged the page."""
    state = draft.incident.state
    change = {
        "severity": fault.severity,
        "acknowledged_by": None,
        "state": "open" if state == "acknowledged" else state,
    }
    draft.record("escalated", _escalation_reason(fault), change=change)


def _escalation_reason(fault: DetectedFault) -> str:
    words = {
        "is_bad": "a dataset of a tier that pages is bad",
        "soon": "a dataset of a tier that pages will be hit within its response time",
        "deadline": "a rerun of the usual duration would end after the deadline",
    }
    return words.get(fault.severity.because, "by the kind of its root")


def _update_members(draft: IncidentUpdate, bad: frozenset[int], unknown: frozenset[int]) -> None:
    was = draft.incident.members
    now = bad | (was & unknown)
    joined, left = tuple(sorted(now - was)), tuple(sorted(was - now))
    if joined:
        draft.record("joined", "affected too", change={"members": was | now}, members=joined)
    if left:
        draft.record("left", "no longer affected", change={"members": now}, members=left)


def merge_incidents(younger: IncidentUpdate, older: IncidentUpdate) -> None:
    """Merge two incidents of one root: the root pages once."""
    change = {
        "state": "resolved",
        "resolved_at": younger.at,
        "merged_into": older.incident.id,
        "members": frozenset(),
    }
    other = older.incident.id
    was_told = younger.incident.is_active
    reason = "it has the same root as an older one"
    if was_told:
        younger.record("merged", reason, change=change, other_id=other)
        older.record("took_over", "it has the same root", other_id=younger.incident.id)
    else:
        younger.set(**change)

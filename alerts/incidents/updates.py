"""What changes in an incident that is found again: root, owner, severity, members."""

import msgspec

from alerts.incidents.update import Draft
from alerts.root_cause.faults import Root
from alerts.incidents.incident import Found, Incident
from alerts.incidents.matching import Match
from alerts.root_cause.severity import PAGE
from alerts.incidents.times import FaultTimes


def follow(draft: Draft, found: Match, unknown: frozenset[int]) -> None:
    """Take over what is found; unknown members stay."""
    if found.found is not None:
        draft.quietly(root_good_at=None)
        if not _is_doubtful(draft.incident, found.found):
            _root(draft, found.found)
            _owner(draft, found)
        _severity(draft, found.found)
    elif draft.incident.root_good_at is None:
        draft.quietly(root_good_at=draft.at)
        if found.rest:
            reason = "the root recovered; downstream datasets are still late"
            draft.tell("root_recovered", reason)
    every = found.rest if found.found is None else (found.found, *found.rest)
    _trailing(draft, found)
    for worst in [each for each in found.rest if each.severity.level == PAGE][:1]:
        _severity(draft, worst)
    if every:
        _members(draft, frozenset().union(*(each.bad_keys for each in every)), unknown)


def _is_doubtful(own: Incident, fault: Found) -> bool:
    """Return whether a root further upstream may be none: our own gap hides what is above it."""
    return fault.unknown == "upstream_unknown" and not _is_same(own.root, fault.root)


def _trailing(draft: Draft, found: Match) -> None:
    """Note since when the rest of a part that recovered is catching up."""
    known = dict(draft.incident.trailing)
    rest = found.rest if found.found is not None else ()
    keys = sorted({key for each in rest for key in each.root_keys})
    draft.quietly(trailing=tuple((key, known.get(key, draft.at)) for key in keys))


def _root(draft: Draft, fault: Found) -> None:
    own = draft.incident
    is_elsewhere = not _is_same(own.root, fault.root)
    draft.quietly(
        root_keys=fault.root_keys,
        unknown=fault.unknown,
        cadence_seconds=fault.cadence_seconds,
        **_begin(own, fault),
    )
    # Of the same job, a root that is known is not given up for a symptom.
    if own.root == fault.root or (not is_elsewhere and fault.unknown is not None):
        return
    draft.tell(
        "rerooted" if is_elsewhere else "kind_changed",
        "a fault further upstream explains it" if is_elsewhere else "the same fault, gone further",
        change={"root": fault.root},
        old_root=own.root,
        new_root=fault.root,
    )


def _begin(own: Incident, fault: Found) -> dict[str, int | FaultTimes]:
    """Return when it began: an incident that people know of keeps its beginning."""
    if not own.is_told:
        return {"onset": fault.onset, "times": fault.times}
    return {"onset": min(own.onset, fault.onset), "times": fault.times.merge(own.times)}


def _is_same(one: Root, other: Root) -> bool:
    return (one.entity, one.key, one.name) == (other.entity, other.key, other.name)


def _owner(draft: Draft, found: Match) -> None:
    """To another owner: what the first one acknowledged, the new one has not seen."""
    own, fault = draft.incident, found.found
    if fault is None or own.owner == fault.owner:
        return
    told = {each.owner for each in found.taken if each.opened_at is not None}
    change = {"owner": fault.owner, "acknowledged_by": None}
    if own.state == "acknowledged":
        change["state"] = "open"
    draft.tell(
        "handed_over",
        "the root has another owner",
        change=change,
        old_owner=own.owner,
        new_owner=fault.owner,
        is_told_already=fault.owner in told,
    )


def _severity(draft: Draft, fault: Found) -> None:
    """A ticket may become a page; what paged stays a page."""
    own = draft.incident.severity
    if draft.incident.state == "pending":
        draft.quietly(severity=fault.severity)  # nobody was paged yet
    elif own.level == PAGE and fault.severity.level != PAGE:
        kept = msgspec.structs.replace(fault.severity, level=PAGE, because=own.because)
        draft.quietly(severity=kept)
    elif own.level != fault.severity.level:
        # The page says that a rerun from now on is too late: an expected retry may be in time.
        if not fault.is_retry_expected(draft.at):
            _escalate(draft, fault)
    else:
        draft.quietly(severity=fault.severity)


def _escalate(draft: Draft, fault: Found) -> None:
    """Make a page of a ticket. Who acknowledged the ticket has not acknowledged the page."""
    state = draft.incident.state
    change = {
        "severity": fault.severity,
        "acknowledged_by": None,
        "state": "open" if state == "acknowledged" else state,
    }
    draft.tell("escalated", _why(fault), change=change)


def _why(fault: Found) -> str:
    words = {
        "is_bad": "a dataset of a tier that pages is bad",
        "soon": "a dataset of a tier that pages will be hit within its response time",
        "deadline": "a rerun of the usual duration would end after the deadline",
    }
    return words.get(fault.severity.because, "by the kind of its root")


def _members(draft: Draft, bad: frozenset[int], unknown: frozenset[int]) -> None:
    was = draft.incident.members
    now = bad | (was & unknown)
    joined, left = tuple(sorted(now - was)), tuple(sorted(was - now))
    if joined:
        draft.tell("joined", "affected too", change={"members": was | now}, members=joined)
    if left:
        draft.tell("left", "no longer affected", change={"members": now}, members=left)


def merge(younger: Draft, older: Draft) -> None:
    """Merge two incidents of one root: the root pages once."""
    change = {
        "state": "resolved",
        "resolved_at": younger.at,
        "merged_into": older.incident.id,
        "members": frozenset(),
    }
    other = older.incident.id
    was_told = younger.incident.is_told
    reason = "it has the same root as an older one"
    if was_told:
        younger.tell("merged", reason, change=change, other_id=other)
        older.tell("took_over", "it has the same root", other_id=younger.incident.id)
    else:
        younger.quietly(**change)

"""The life of incidents: one pure step from what was, what is found and the clock."""

from collections.abc import Iterable
from typing import Final

from alerts.incidents.commands import apply_command, end_suppression, open_incident
from alerts.incidents.detected_fault import DetectedFault
from alerts.incidents.incident import Incident, begin_incident, is_worse
from alerts.incidents.matching import Match, match_faults
from alerts.incidents.steps import LifecycleRules, Step, StepInput
from alerts.incidents.updates import IncidentUpdate, apply_match, merge_incidents
from alerts.root_cause.snapshot import MICROS

RULES: Final = LifecycleRules()


def advance(incidents: Iterable[Incident], now: StepInput, rules: LifecycleRules = RULES) -> Step:
    """Walk one instant on. The same input gives the same output, ids included.

    Args:
        incidents: as the step before left them.
        now: what is found, what is unknown, and what people want.
        rules: holds in seconds.
    """
    drafts = {each.id: IncidentUpdate(each, now.at) for each in incidents}
    answers = [apply_command(command, drafts) for command in now.commands]
    found = tuple(each for each in now.faults if not now.has_stale_data or _is_service(each))
    so_far = [draft.incident for draft in drafts.values()]
    matches = match_faults(so_far, found, now.unknown, now.at, rules)
    merged = {taken.id for each in matches.by_id.values() for taken in each.merged}
    for number in [each for each in drafts if each not in merged]:
        _advance_one(drafts[number], matches.by_id[number], now, rules)
    for number, found_of_it in matches.by_id.items():
        for taken in found_of_it.merged:
            merge_incidents(drafts[taken.id], drafts[number])
    fresh = [_start(fault, now, rules) for fault in matches.new if not fault.is_waiting]
    every = (*drafts.values(), *fresh)
    return Step(
        tuple(each.incident for each in every if _is_kept(each.incident, now, rules)),
        tuple(each.incident for each in every if each.events),
        tuple(event for each in every for event in each.events),
        tuple(answer for answer in answers if answer is not None),
    )


def _start(fault: DetectedFault, now: StepInput, rules: LifecycleRules) -> IncidentUpdate:
    draft = IncidentUpdate(begin_incident(fault, now.at), now.at)
    _open_in_time(draft, fault, rules)
    return draft


def _is_service(fault: DetectedFault) -> bool:
    return fault.root.entity == "service"


def _end_window(draft: IncidentUpdate, found: Match) -> None:
    """End a suppression whose time has come; `found` is of current data."""
    own = draft.incident
    is_over = own.suppressed_until is not None and own.suppressed_until <= draft.at
    if own.state != "suppressed" or not is_over:
        return
    if own.is_notified or _is_to_open(found, draft.at):
        end_suppression(draft, "the suppression ended, and it is still bad")


def _is_to_open(found: Match, at: int) -> bool:
    """Return whether what a window hid is bad, and no longer window hides it.

    Nobody is notified of what recovered in its window.
    """
    if found.fault is None:
        return bool(found.remaining)
    return not _is_in_window(found.fault, at)


def _is_on_hold(own: Incident, found: Match, now: StepInput) -> bool:
    """Return whether the incident waits until Lineward has caught up.

    An outage of ingestion is not over before the events that waited meanwhile have landed.
    """
    if own.root.entity != "service":
        return now.has_stale_data
    return now.is_behind and own.root.kind == "ingestion" and found.fault is None


def _advance_one(
    draft: IncidentUpdate, found: Match, now: StepInput, rules: LifecycleRules
) -> None:
    own = draft.incident
    if own.state == "resolved" and not own.is_dismissed:
        _reopen(draft, found.fault, rules)
    elif _is_on_hold(own, found, now) or (found.fault is None and own.root_keys & now.unknown):
        _freeze(draft)
    elif found.fault is not None and _is_waiting(own, found.fault, now.at):
        _wait(draft, found.fault)
    else:
        _thaw(draft)
        _end_window(draft, found)
        if own.root_good_at is not None and found.fault is not None:
            _restart_hold(draft)
        apply_match(draft, found, now.unknown)
        _advance_hold(draft, found, rules)


def _is_waiting(own: Incident, fault: DetectedFault, at: int) -> bool:
    """Return whether nobody was notified of the incident, and its fault is on hold."""
    if own.is_notified or not fault.is_waiting:
        return False
    # An old failure is history that was loaded late, except where a window hid it from the start.
    is_old = fault.has_pending_retry and not fault.is_retry_expected(at)
    return own.state != "suppressed" or not is_old


def _freeze(draft: IncidentUpdate) -> None:
    """Keep the incident as it is; what was about to open or to close begins anew."""
    if not draft.incident.is_frozen:
        reason = "on hold: Lineward has no current data of its root"
        draft.record("frozen", reason, change={"is_frozen": True})
    draft.set(good_at=None)


def _thaw(draft: IncidentUpdate) -> None:
    if draft.incident.is_frozen:
        draft.record("thawed", "current data again", change={"is_frozen": False})
        _restart_hold(draft)


def _wait(draft: IncidentUpdate, fault: DetectedFault) -> None:
    """Keep an incident that people do not know, until a retry or the upstream is known."""
    draft.set(good_at=None)
    if draft.incident.state == "pending":
        draft.set(is_frozen=True)
        return
    _thaw(draft)
    if draft.incident.state == "suppressed" and _is_in_window(fault, draft.at):
        draft.set(suppressed_until=fault.hidden_until)


def _restart_hold(draft: IncidentUpdate) -> None:
    """Count the hold of a pending incident from now.

    Set where the wait ends: a timestamp that moves with each step is a write with each step.
    """
    if draft.incident.state == "pending":
        draft.set(seen_at=draft.at)


def _advance_hold(draft: IncidentUpdate, found: Match, rules: LifecycleRules) -> None:
    if found.fault is None and not found.remaining:
        _close_in_time(draft, rules)
        return
    draft.set(good_at=None)
    if draft.incident.state == "pending":
        _open_in_time(draft, found.fault, rules)
    elif draft.incident.opened_at is None and found.fault is not None:
        _update_window(draft, found.fault)


def _update_window(draft: IncidentUpdate, fault: DetectedFault) -> None:
    """A window that was prolonged hides for longer, and one that somebody ended no more."""
    is_hidden = _is_in_window(fault, draft.at)
    draft.set(suppressed_until=fault.hidden_until if is_hidden else draft.at)


def _is_in_window(fault: DetectedFault, at: int) -> bool:
    return fault.hidden_by is not None and fault.hidden_until > at


def _open_in_time(
    draft: IncidentUpdate, fault: DetectedFault | None, rules: LifecycleRules
) -> None:
    if fault is None:  # The root recovered before anybody was notified: only the rest catches up.
        return
    held = 0.0 if fault.root.kind in rules.at_once else rules.open_seconds
    if draft.at - draft.incident.seen_at < held * MICROS:
        return
    if _is_in_window(fault, draft.at):
        change = {"state": "suppressed", "suppressed_until": fault.hidden_until}
        draft.record("suppressed", "a planned window hides it", change=change)
    else:
        open_incident(draft, f"bad for {held:g} s")


def _close_in_time(draft: IncidentUpdate, rules: LifecycleRules) -> None:
    own = draft.incident
    if own.good_at is None:
        draft.set(good_at=draft.at)
    held = rules.flap_seconds if own.is_flapping else rules.close_seconds
    if draft.at - (draft.incident.good_at or draft.at) < held * MICROS:
        return
    over = {"state": "resolved", "resolved_at": draft.at, "members": frozenset()}
    over |= {"is_flapping": False, "is_dismissed": False}
    if own.is_dismissed:
        draft.set(**over | {"resolved_at": own.resolved_at})
    elif own.state != "pending":
        draft.record("resolved", f"not found bad for {held:g} s", change=over)


def _reopen(draft: IncidentUpdate, fault: DetectedFault | None, rules: LifecycleRules) -> None:
    """What was resolved a little while ago opens again: the same incident, and no new page."""
    own = draft.incident
    if fault is None or fault.is_waiting or _is_in_window(fault, draft.at):
        draft.set(good_at=draft.at if own.good_at is None else own.good_at)
        return
    if own.good_at is not None:
        draft.set(good_at=None, seen_at=draft.at)
    if draft.at - draft.incident.seen_at < rules.open_seconds * MICROS:
        return
    recent = [at for at in own.opens if rules.is_recent(at, draft.at)]
    opens = (*recent, draft.at)
    is_flapping = len(opens) >= rules.flap_opens
    is_taken_on = _is_acknowledged(own, fault, draft.at, rules, is_flapping=is_flapping)
    by = own.acknowledged_by if is_taken_on else None
    draft.set(resolved_at=None, acknowledged_by=by, members=fault.bad_keys)
    draft.set(onset=fault.onset, times=fault.times)  # it began anew
    change = {"state": "acknowledged" if is_taken_on else "open", "opens": opens}
    draft.record("reopened", "bad again, as it was a little while ago", change=change)
    apply_match(draft, Match(fault), frozenset())
    if is_flapping:
        reason = f"opened {len(opens)} times in a short time: it stays open"
        draft.record("flapping", reason, change={"is_flapping": True})


def _is_acknowledged(
    own: Incident, fault: DetectedFault, at: int, rules: LifecycleRules, *, is_flapping: bool
) -> bool:
    """Whoever acknowledged it lately, or what comes and goes, knows: but not of worse than that."""
    is_recent = rules.is_recent(own.acknowledged_at or 0, at)
    return (
        own.acknowledged_by is not None and not is_worse(fault, own) and (is_flapping or is_recent)
    )


def _is_kept(incident: Incident, now: StepInput, rules: LifecycleRules) -> bool:
    """It lives, or may come back. What was pending and is good again never was."""
    if incident.state == "pending":
        return incident.good_at is None and incident.merged_into is None
    if incident.state != "resolved" or incident.is_dismissed:
        return True
    is_recent = rules.remembers(incident, incident.resolved_at or 0, now.at)
    return is_recent and incident.merged_into is None

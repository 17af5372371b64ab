"""Life of incidents: one pure step from incidents, detected faults and the clock."""

from collections.abc import Iterable
from typing import Final

from alerts.incidents.commands import apply_command, end_suppression, open_incident
from alerts.incidents.detected_fault import DetectedFault
from alerts.incidents.incident import Incident, begin_incident, is_worse
from alerts.incidents.matching import Match, match_faults
from alerts.incidents.steps import LifecycleRules, StepInput, StepResult
from alerts.incidents.updates import IncidentUpdate, apply_match, merge_incidents
from lineage.process.clock import SECOND_MICROS

LIFECYCLE_RULES: Final = LifecycleRules()


def advance(
    incidents: Iterable[Incident], now: StepInput, rules: LifecycleRules = LIFECYCLE_RULES
) -> StepResult:
    """Return the next state of all incidents. The same input gives the same output, with ids.

    Args:
        incidents: as the step before left them.
        now: detected faults, unknown datasets, and commands.
        rules: holds in seconds.
    """
    updates = {each.id: IncidentUpdate(each, now.at) for each in incidents}
    answers = [apply_command(command, updates) for command in now.commands]
    found = tuple(each for each in now.faults if not now.has_stale_data or _is_service(each))
    so_far = [update.incident for update in updates.values()]
    matches = match_faults(so_far, found, now.unknown, now.at, rules)
    merged = {taken.id for each in matches.by_id.values() for taken in each.merged}
    for number in [each for each in updates if each not in merged]:
        _advance_one(updates[number], matches.by_id[number], now, rules)
    for number, found_of_it in matches.by_id.items():
        for taken in found_of_it.merged:
            merge_incidents(updates[taken.id], updates[number])
    fresh = [_start(fault, now, rules) for fault in matches.new if not fault.is_waiting]
    every = (*updates.values(), *fresh)
    return StepResult(
        tuple(each.incident for each in every if _is_kept(each.incident, now, rules)),
        tuple(each.incident for each in every if each.events),
        tuple(event for each in every for event in each.events),
        tuple(answer for answer in answers if answer is not None),
    )


def _start(fault: DetectedFault, now: StepInput, rules: LifecycleRules) -> IncidentUpdate:
    update = IncidentUpdate(begin_incident(fault, now.at), now.at)
    _open_in_time(update, fault, rules)
    return update


def _is_service(fault: DetectedFault) -> bool:
    return fault.root.entity == "service"


def _end_window(update: IncidentUpdate, found: Match) -> None:
    """End a suppression whose time has come; `found` is current."""
    own = update.incident
    is_over = own.suppressed_until is not None and own.suppressed_until <= update.at
    if own.state != "suppressed" or not is_over:
        return
    if own.has_opened or _is_to_open(found, update.at):
        end_suppression(update, "the suppression ended, and the fault is still there")


def _is_to_open(found: Match, at: int) -> bool:
    """Return whether what a window hid is bad, and no longer window hides it.

    Nobody is notified of what recovered in its window.
    """
    if found.fault is None:
        return bool(found.remaining)
    return not found.fault.is_hidden(at)


def _hold_reason(own: Incident, found: Match, now: StepInput) -> str | None:
    """Return why the incident waits until its data is current; None: it does not wait.

    An outage of ingestion is not over before the events that waited meanwhile have landed.
    """
    is_own = own.root.entity == "service"
    is_landing = own.root.kind == "ingestion" and found.fault is None
    if now.is_behind and (is_landing or not is_own):
        return "the newest evaluation is stale, or lacks events that were received"
    if now.has_stale_data and not is_own:
        return "Lineward has an ingestion fault"
    if found.fault is None and own.root_keys & now.unknown:
        return "the state of its root is unknown"
    return None


def _advance_one(
    update: IncidentUpdate, found: Match, now: StepInput, rules: LifecycleRules
) -> None:
    own = update.incident
    if own.state == "resolved" and not own.is_dismissed:
        _reopen(update, found.fault, rules)
    elif (reason := _hold_reason(own, found, now)) is not None:
        _freeze(update, reason)
    elif found.fault is not None and _is_waiting(own, found.fault, now.at):
        _wait(update, found.fault)
    else:
        _thaw(update)
        _end_window(update, found)
        if own.root_good_at is not None and found.fault is not None:
            _restart_hold(update)
        apply_match(update, found, now.unknown)
        _advance_hold(update, found, rules)


def _is_waiting(own: Incident, fault: DetectedFault, at: int) -> bool:
    """Return whether the incident has not opened, and its fault is on hold."""
    if own.has_opened or not fault.is_waiting:
        return False
    # An old failure is history that was loaded late, except where a window hid it from the start.
    is_old = fault.has_pending_retry and not fault.is_retry_expected(at)
    return own.state != "suppressed" or not is_old


def _freeze(update: IncidentUpdate, reason: str) -> None:
    """Keep the incident as it is; the times of opening and closing start again."""
    if not update.incident.is_frozen:
        update.record("frozen", reason, change={"is_frozen": True})
    update.set(good_at=None)


def _thaw(update: IncidentUpdate) -> None:
    if update.incident.is_frozen:
        update.record("thawed", "data of its root is current again", change={"is_frozen": False})
        _restart_hold(update)


def _wait(update: IncidentUpdate, fault: DetectedFault) -> None:
    """Keep an incident that people do not know, until a retry or the upstream is known."""
    update.set(good_at=None)
    if update.incident.state == "pending":
        update.set(is_frozen=True)
        return
    _thaw(update)
    if update.incident.state == "suppressed" and fault.is_hidden(update.at):
        update.set(suppressed_until=fault.hidden_until)


def _restart_hold(update: IncidentUpdate) -> None:
    """Count the hold of a pending incident from now.

    Set where the wait ends: a timestamp that moves with each step is a write with each step.
    """
    if update.incident.state == "pending":
        update.set(seen_at=update.at)


def _advance_hold(update: IncidentUpdate, found: Match, rules: LifecycleRules) -> None:
    if found.fault is None and not found.remaining:
        _close_in_time(update, rules)
        return
    update.set(good_at=None)
    if update.incident.state == "pending":
        _open_in_time(update, found.fault, rules)
    elif update.incident.opened_at is None and found.fault is not None:
        _update_window(update, found.fault)


def _update_window(update: IncidentUpdate, fault: DetectedFault) -> None:
    """Set when the suppression window ends now: it may have been prolonged or ended."""
    is_hidden = fault.is_hidden(update.at)
    update.set(suppressed_until=fault.hidden_until if is_hidden else update.at)


def _open_in_time(
    update: IncidentUpdate, fault: DetectedFault | None, rules: LifecycleRules
) -> None:
    if fault is None:  # The root recovered before anybody was notified: only the rest catches up.
        return
    held = 0.0 if fault.root.kind in rules.at_once else rules.open_seconds
    if update.at - update.incident.seen_at < held * SECOND_MICROS:
        return
    if fault.is_hidden(update.at):
        change = {"state": "suppressed", "suppressed_until": fault.hidden_until}
        update.record("suppressed", "a suppression window covers it", change=change)
    else:
        still = f"the fault is still there after {held:g} s"
        open_incident(update, still if held else "incidents of this kind open at once")


def _close_in_time(update: IncidentUpdate, rules: LifecycleRules) -> None:
    own = update.incident
    if own.good_at is None:
        update.set(good_at=update.at)
    held = rules.flap_seconds if own.is_flapping else rules.close_seconds
    if update.at - (update.incident.good_at or update.at) < held * SECOND_MICROS:
        return
    over = {"state": "resolved", "resolved_at": update.at, "members": frozenset()}
    over |= {"is_flapping": False, "is_dismissed": False}
    if own.is_dismissed:
        update.set(**over | {"resolved_at": own.resolved_at})
    elif own.state != "pending":
        update.record("resolved", f"the fault has been gone for {held:g} s", change=over)


def _reopen(update: IncidentUpdate, fault: DetectedFault | None, rules: LifecycleRules) -> None:
    """Reopen an incident that was resolved shortly before, without a new page."""
    own = update.incident
    if fault is None or fault.is_waiting or fault.is_hidden(update.at):
        update.set(good_at=update.at if own.good_at is None else own.good_at)
        return
    if own.good_at is not None:
        update.set(good_at=None, seen_at=update.at)
    if update.at - update.incident.seen_at < rules.open_seconds * SECOND_MICROS:
        return
    recent = [at for at in own.opens if rules.is_recent(at, update.at)]
    opens = (*recent, update.at)
    is_flapping = len(opens) >= rules.flap_opens
    is_taken_on = _is_acknowledged(own, fault, update.at, rules, is_flapping=is_flapping)
    by = own.acknowledged_by if is_taken_on else None
    update.set(resolved_at=None, acknowledged_by=by, members=fault.bad_keys)
    update.set(onset=fault.onset, times=fault.times)  # the fault began again
    change = {"state": "acknowledged" if is_taken_on else "open", "opens": opens}
    update.record(
        "reopened", "the fault came back soon after the incident was resolved", change=change
    )
    apply_match(update, Match(fault), frozenset())
    if is_flapping:
        reason = f"opened {len(opens)} times in a short time: it resolves later than usual"
        update.record("flapping", reason, change={"is_flapping": True})


def _is_acknowledged(
    own: Incident, fault: DetectedFault, at: int, rules: LifecycleRules, *, is_flapping: bool
) -> bool:
    """Return whether an acknowledgement still counts: a recent one, or of a flapping incident."""
    is_recent = rules.is_recent(own.acknowledged_at or 0, at)
    return (
        own.acknowledged_by is not None and not is_worse(fault, own) and (is_flapping or is_recent)
    )


def _is_kept(incident: Incident, now: StepInput, rules: LifecycleRules) -> bool:
    """Return whether later steps need the incident: it is active, or may reopen."""
    if incident.state == "pending":
        return incident.good_at is None and incident.merged_into is None
    if incident.state != "resolved" or incident.is_dismissed:
        return True
    is_recent = rules.remembers(incident, incident.resolved_at or 0, now.at)
    return is_recent and incident.merged_into is None

"""The life of incidents: one pure step from what was, what is found and the clock."""

from collections.abc import Iterable
from typing import Final

from alerts.incidents.update import Draft
from alerts.root_cause.snapshot import MICROS
from alerts.incidents.incident import Found, Incident, begun, is_worse
from alerts.incidents.matching import Match, match
from alerts.incidents.commands import end_suppression, obey, opened
from alerts.incidents.steps import LifeRules, Now, Step
from alerts.incidents.updates import follow, merge

RULES: Final = LifeRules()


def step(incidents: Iterable[Incident], now: Now, rules: LifeRules = RULES) -> Step:
    """Walk one instant on. The same input gives the same output, ids included.

    Args:
        incidents: as the step before left them.
        now: what is found, what is unknown, and what people want.
        rules: holds in seconds.
    """
    drafts = {each.id: Draft(each, now.at) for each in incidents}
    answers = [obey(command, drafts) for command in now.commands]
    found = tuple(each for each in now.found if not now.is_blind or _is_service(each))
    so_far = [draft.incident for draft in drafts.values()]
    matches = match(so_far, found, now.unknown, now.at, rules)
    merged = {taken.id for each in matches.by_id.values() for taken in each.taken}
    for number in [each for each in drafts if each not in merged]:
        _live(drafts[number], matches.by_id[number], now, rules)
    for number, found_of_it in matches.by_id.items():
        for taken in found_of_it.taken:
            merge(drafts[taken.id], drafts[number])
    fresh = [_begin(fault, now, rules) for fault in matches.fresh if not fault.waits]
    every = (*drafts.values(), *fresh)
    return Step(
        tuple(each.incident for each in every if _is_of_use(each.incident, now, rules)),
        tuple(each.incident for each in every if each.events),
        tuple(event for each in every for event in each.events),
        tuple(answer for answer in answers if answer is not None),
    )


def _begin(fault: Found, now: Now, rules: LifeRules) -> Draft:
    draft = Draft(begun(fault, now.at), now.at)
    _open_in_time(draft, fault, rules)
    return draft


def _is_service(fault: Found) -> bool:
    return fault.root.entity == "service"


def _end_window(draft: Draft, found: Match) -> None:
    """End a suppression whose time has come; `found` is of current data."""
    own = draft.incident
    is_over = own.suppressed_until is not None and own.suppressed_until <= draft.at
    if own.state != "suppressed" or not is_over:
        return
    if own.is_known or _is_to_open(found, draft.at):
        end_suppression(draft, "the suppression ended, and it is still bad")


def _is_to_open(found: Match, at: int) -> bool:
    """Return whether what a window hid is bad, and no longer window hides it.

    Nobody is notified of what recovered in its window.
    """
    if found.found is None:
        return bool(found.rest)
    return not _is_hidden(found.found, at)


def _is_held(own: Incident, found: Match, now: Now) -> bool:
    """Return whether the incident waits until Lineward has caught up.

    An outage of ingestion is not over before the events that waited meanwhile have landed.
    """
    if own.root.entity != "service":
        return now.is_blind
    return now.is_behind and own.root.kind == "ingestion" and found.found is None


def _live(draft: Draft, found: Match, now: Now, rules: LifeRules) -> None:
    own = draft.incident
    if own.state == "resolved" and not own.is_dismissed:
        _come_back(draft, found.found, rules)
    elif _is_held(own, found, now) or (found.found is None and own.root_keys & now.unknown):
        _freeze(draft)
    elif found.found is not None and _is_waiting(own, found.found, now.at):
        _wait(draft, found.found)
    else:
        _thaw(draft)
        _end_window(draft, found)
        if own.root_good_at is not None and found.found is not None:
            _hold_anew(draft)
        follow(draft, found, now.unknown)
        _hold(draft, found, rules)


def _is_waiting(own: Incident, fault: Found, at: int) -> bool:
    """Return whether nobody was notified of the incident, and its fault is on hold."""
    if own.is_known or not fault.waits:
        return False
    # An old failure is history that was loaded late, except where a window hid it from the start.
    is_old = fault.has_pending_retry and not fault.is_retry_expected(at)
    return own.state != "suppressed" or not is_old


def _freeze(draft: Draft) -> None:
    """Keep the incident as it is; what was about to open or to close begins anew."""
    if not draft.incident.is_frozen:
        reason = "on hold: Lineward has no current data of its root"
        draft.tell("frozen", reason, change={"is_frozen": True})
    draft.quietly(good_at=None)


def _thaw(draft: Draft) -> None:
    if draft.incident.is_frozen:
        draft.tell("thawed", "current data again", change={"is_frozen": False})
        _hold_anew(draft)


def _wait(draft: Draft, fault: Found) -> None:
    """Keep an incident that people do not know, until a retry or the upstream is known."""
    draft.quietly(good_at=None)
    if draft.incident.state == "pending":
        draft.quietly(is_frozen=True)
        return
    _thaw(draft)
    if draft.incident.state == "suppressed" and _is_hidden(fault, draft.at):
        draft.quietly(suppressed_until=fault.hidden_until)


def _hold_anew(draft: Draft) -> None:
    """Count the hold of a pending incident from now.

    Set where the wait ends: a timestamp that moves with each step is a write with each step.
    """
    if draft.incident.state == "pending":
        draft.quietly(seen_at=draft.at)


def _hold(draft: Draft, found: Match, rules: LifeRules) -> None:
    if found.found is None and not found.rest:
        _close_in_time(draft, rules)
        return
    draft.quietly(good_at=None)
    if draft.incident.state == "pending":
        _open_in_time(draft, found.found, rules)
    elif draft.incident.opened_at is None and found.found is not None:
        _stay_hidden(draft, found.found)


def _stay_hidden(draft: Draft, fault: Found) -> None:
    """A window that was prolonged hides for longer, and one that somebody ended no more."""
    is_hidden = _is_hidden(fault, draft.at)
    draft.quietly(suppressed_until=fault.hidden_until if is_hidden else draft.at)


def _is_hidden(fault: Found, at: int) -> bool:
    return fault.hidden_by is not None and fault.hidden_until > at


def _open_in_time(draft: Draft, fault: Found | None, rules: LifeRules) -> None:
    if fault is None:  # The root recovered before anybody was notified: only the rest catches up.
        return
    held = 0.0 if fault.root.kind in rules.at_once else rules.open_seconds
    if draft.at - draft.incident.seen_at < held * MICROS:
        return
    if _is_hidden(fault, draft.at):
        change = {"state": "suppressed", "suppressed_until": fault.hidden_until}
        draft.tell("suppressed", "a planned window hides it", change=change)
    else:
        opened(draft, f"bad for {held:g} s")


def _close_in_time(draft: Draft, rules: LifeRules) -> None:
    own = draft.incident
    if own.good_at is None:
        draft.quietly(good_at=draft.at)
    held = rules.flap_seconds if own.is_flapping else rules.close_seconds
    if draft.at - (draft.incident.good_at or draft.at) < held * MICROS:
        return
    over = {"state": "resolved", "resolved_at": draft.at, "members": frozenset()}
    over |= {"is_flapping": False, "is_dismissed": False}
    if own.is_dismissed:
        draft.quietly(**over | {"resolved_at": own.resolved_at})
    elif own.state != "pending":
        draft.tell("resolved", f"not found bad for {held:g} s", change=over)


def _come_back(draft: Draft, fault: Found | None, rules: LifeRules) -> None:
    """What was resolved a little while ago opens again: the same incident, and no new page."""
    own = draft.incident
    if fault is None or fault.waits or _is_hidden(fault, draft.at):
        draft.quietly(good_at=draft.at if own.good_at is None else own.good_at)
        return
    if own.good_at is not None:
        draft.quietly(good_at=None, seen_at=draft.at)
    if draft.at - draft.incident.seen_at < rules.open_seconds * MICROS:
        return
    recent = [at for at in own.opens if rules.is_recent(at, draft.at)]
    opens = (*recent, draft.at)
    is_flapping = len(opens) >= rules.flap_opens
    is_taken_on = _is_taken_on(own, fault, draft.at, rules, is_flapping=is_flapping)
    by = own.acknowledged_by if is_taken_on else None
    draft.quietly(resolved_at=None, acknowledged_by=by, members=fault.bad_keys)
    draft.quietly(onset=fault.onset, times=fault.times)  # it began anew
    change = {"state": "acknowledged" if is_taken_on else "open", "opens": opens}
    draft.tell("reopened", "bad again, as it was a little while ago", change=change)
    follow(draft, Match(fault), frozenset())
    if is_flapping:
        reason = f"opened {len(opens)} times in a short time: it stays open"
        draft.tell("flapping", reason, change={"is_flapping": True})


def _is_taken_on(
    own: Incident, fault: Found, at: int, rules: LifeRules, *, is_flapping: bool
) -> bool:
    """Whoever acknowledged it lately, or what comes and goes, knows: but not of worse than that."""
    is_recent = rules.is_recent(own.acknowledged_at or 0, at)
    return (
        own.acknowledged_by is not None and not is_worse(fault, own) and (is_flapping or is_recent)
    )


def _is_of_use(incident: Incident, now: Now, rules: LifeRules) -> bool:
    """It lives, or may come back. What was pending and is good again never was."""
    if incident.state == "pending":
        return incident.good_at is None and incident.merged_into is None
    if incident.state != "resolved" or incident.is_dismissed:
        return True
    is_recent = rules.remembers(incident, incident.resolved_at or 0, now.at)
    return is_recent and incident.merged_into is None

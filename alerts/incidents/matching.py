"""Matches of detected faults with incidents."""

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from alerts.incidents.detected_fault import DetectedFault
from alerts.incidents.incident import Incident, is_worse, progression_of_root
from alerts.incidents.steps import LifecycleRules
from alerts.root_cause.faults import FaultRoot
from alerts.root_cause.kinds import KIND_BY_ID, LATE_KINDS, progression_of
from lineage.process.clock import SECOND_MICROS


class Match(msgspec.Struct, frozen=True):
    """Faults of one incident.

    Attributes:
        fault: its root, or a root further upstream that explains it now.
        remaining: faults that it explained and that are still bad, now that its root, or the part
            of it that explained them, is not found.
        merged: younger incidents of the same root.
    """

    fault: DetectedFault | None = None
    remaining: tuple[DetectedFault, ...] = ()
    merged: tuple[Incident, ...] = ()


class Matches(msgspec.Struct, frozen=True):
    """Match of each incident by its id, and faults without an incident."""

    by_id: dict[str, Match]
    new: tuple[DetectedFault, ...]


def match_faults(
    incidents: Iterable[Incident],
    found: tuple[DetectedFault, ...],
    unknown: frozenset[int],
    at: int,
    rules: LifecycleRules,
) -> Matches:
    """Give each fault to the oldest incident that it continues.

    In this order: the incident of that root; of a root that the fault explains now (re-rooting, and
    a merge where there are several); one whose root is gone, or a part of it, and of which this is
    a rest; one that was resolved and is remembered.
    """
    every = sorted(incidents, key=lambda incident: incident.age)
    claims = _match_faults([each for each in every if each.is_tracked], found)
    heirs = {each.id: first for first, *others in claims.values() for each in (first, *others)}
    idle = _Leftovers(every, heirs, unknown, at, rules)
    rests, back, fresh = defaultdict(list), {}, []
    for fault in (each for each in found if each not in claims):
        if (owner := idle.rest_of(fault)) is not None:
            rests[owner.id].append(fault)
        elif (again := idle.back(fault)) is not None:
            back[again.id] = Match(fault)
        else:
            fresh.append(fault)
    by_id = {each.id: Match() for each in every} | _matches_of(claims) | back
    rest = {
        number: msgspec.structs.replace(by_id[number], remaining=tuple(faults))
        for number, faults in rests.items()
    }
    return Matches(by_id | rest, tuple(fresh))


def _matches_of(claims: dict[DetectedFault, list[Incident]]) -> dict[str, Match]:
    """Match each fault to its oldest incident; dismissed incidents are not merged."""
    return {
        first.id: Match(fault, merged=tuple(each for each in others if not each.is_dismissed))
        for fault, (first, *others) in claims.items()
    }


def _match_faults(
    live: list[Incident], found: tuple[DetectedFault, ...]
) -> dict[DetectedFault, list[Incident]]:
    """Return the incidents that each fault continues, the oldest first."""
    places = _FaultIndex(found)
    roots = {incident.root for incident in live}
    claims: dict[DetectedFault, list[Incident]] = {}
    for incident in live:
        fault = places.of(incident.root)
        if fault is None or _is_of_another(fault, incident, roots):
            continue
        if not (incident.is_dismissed and _is_new(fault, incident)):
            claims.setdefault(fault, []).append(incident)
    return claims


def _is_of_another(fault: DetectedFault, incident: Incident, roots: set[FaultRoot]) -> bool:
    """Return whether the fault has an incident of its own.

    A dataset may have reads of an unknown source and an undeclared source at once.
    """
    is_origin = progression_of(fault.root.kind) == "origin"
    return is_origin and fault.root != incident.root and fault.root in roots


def _is_new(fault: DetectedFault, dismissed: Incident) -> bool:
    """Return whether a person resolved another fault, or a lesser one, than this."""
    is_elsewhere = _entity(fault.root) != _entity(dismissed.root)
    return _is_after_resolution(fault, dismissed) or is_elsewhere


def _is_after_resolution(fault: DetectedFault, dismissed: Incident) -> bool:
    """Return whether a fault began, or became a page, since a person resolved the incident."""
    return fault.onset > (dismissed.resolved_at or 0) or is_worse(fault, dismissed)


class _FaultIndex:
    """Index of faults by the roots that belong to them."""

    def __init__(self, found: tuple[DetectedFault, ...]) -> None:
        self._by_fault = {fault: each for each in found for fault in each.faults}
        self._by_fault |= {each.root: each for each in found}
        placed = [(fault, each) for each in found for fault in each.faults]
        placed = [*sorted(placed, key=_order), *((each.root, each) for each in found)]
        progressions = ((progression_of_root(fault), each) for fault, each in placed)
        self._by_progression = {
            progression: each for progression, each in progressions if progression is not None
        }

    def of(self, root: FaultRoot) -> DetectedFault | None:
        """Return the fault of a root; by its job or dataset where the kind has changed."""
        same, progression = self._by_fault.get(root), progression_of_root(root)
        return (
            self._by_progression.get(progression)
            if same is None and progression is not None
            else same
        )


def _order(placed: tuple[FaultRoot, DetectedFault]) -> tuple[FaultRoot, FaultRoot]:
    fault, found = placed
    return fault, found.root


def _entity(root: FaultRoot) -> tuple[str, int, str]:
    return root.entity, root.key, root.name


class _Leftovers:
    """Incidents without a fault of their own, which may take others."""

    def __init__(
        self,
        incidents: list[Incident],
        heirs: dict[str, Incident],
        unknown: frozenset[int],
        at: int,
        rules: LifecycleRules,
    ) -> None:
        self._heirs, self._unknown, self._at, self._rules = heirs, unknown, at, rules
        self._by_member: dict[int, list[Incident]] = defaultdict(list)
        for incident in incidents:
            for member in incident.members if incident.is_tracked else ():
                self._by_member[member].append(heirs.get(incident.id, incident))
        self._live = {each.id: heirs.get(each.id, each) for each in incidents if each.is_tracked}
        idle = [each for each in incidents if each.id not in heirs]
        over = [each for each in idle if each.resolved_at is not None and not each.is_tracked]
        over.sort(key=lambda each: each.resolved_at or 0)
        self._over = {each.root: each for each in over}

    def rest_of(self, fault: DetectedFault) -> Incident | None:
        """Return the incident that a fault remains of: its root was a member, and began before.

        Or its run is under way, and the incident's list has it: its inputs came late.
        """
        near = {each.id: each for key in fault.root_keys for each in self._by_member.get(key, ())}
        fitting = [each for each in near.values() if self._is_rest(fault, each)]
        affecting = (self._live[number] for number in fault.affected_by if number in self._live)
        catching_up = [each for each in affecting if self._is_catching_up(fault, each)]
        return min(fitting or catching_up, key=lambda each: each.age, default=None)

    def _is_catching_up(self, fault: DetectedFault, incident: Incident) -> bool:
        """Return whether an incident that delays others explains a run under way."""
        delays = KIND_BY_ID[incident.root.kind].delays and not incident.is_dismissed
        return delays and self._drains(fault, incident.root_good_at or self._at)

    def _is_rest(self, fault: DetectedFault, incident: Incident) -> bool:
        if incident.is_dismissed and _is_after_resolution(fault, incident):
            return False
        if incident.id in self._heirs:
            # One of its several roots recovered. A failure of another job is another fault.
            since = (dict(incident.trailing).get(key, self._at) for key in fault.root_keys)
            return fault.root.kind in LATE_KINDS and self._drains(fault, min(since))
        if incident.root_keys & self._unknown:
            return True
        good_at = incident.root_good_at or self._at
        return fault.onset <= good_at and self._drains(fault, good_at)

    def _drains(self, fault: DetectedFault, good_at: int) -> bool:
        rules = self._rules
        drain = max(rules.drain_seconds, rules.drain_cadences * fault.cadence_seconds)
        return self._at - good_at <= drain * SECOND_MICROS

    def back(self, fault: DetectedFault) -> Incident | None:
        """Return the last incident of that root, if it was resolved recently enough."""
        last = self._over.get(fault.root)
        is_recent = last and self._rules.remembers(last, last.resolved_at or 0, self._at)
        return last if is_recent else None

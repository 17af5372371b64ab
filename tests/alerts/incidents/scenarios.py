"""Scenarios in seconds: faults that are found, and the events that follow."""

from alerts.incidents.detected_fault import DetectedFault, service_fault
from alerts.incidents.lifecycle import advance
from alerts.incidents.steps import IncidentCommand, StepInput
from alerts.root_cause.faults import FaultRoot
from alerts.root_cause.severity import IncidentSeverity
from lineage.process.clock import SECOND_MICROS

OUTAGE = service_fault("ingestion", "collector", 0)


def root(name, kind="failed"):
    """Return the root: the job that writes this dataset."""
    return FaultRoot("job", ord(name), kind)


def make_fault(members, kind="failed", level="ticket", onset=0, **fields):  # noqa: ANN003
    """Return a fault of the first letter's job; all letters are bad because of it."""
    first = members[0]
    faults = {root(first, kind)} | {root(name, "waiting") for name in members[1:]}
    return DetectedFault(
        root=root(first, kind),
        onset=onset * SECOND_MICROS,
        bad_keys=frozenset(map(ord, members)),
        root_keys=frozenset({ord(first)}),
        faults=frozenset(fields.pop("faults", faults)),
        severity=IncidentSeverity(level, "nobody"),
        **fields,
    )


class Scenario:
    """Sequence of steps, each of which returns its events as texts."""

    def __init__(self) -> None:
        self.incidents = ()
        self.events = []
        self.rejected = ()
        self.changed = ()

    def at(self, seconds, *found, unknown="", commands=(), is_behind=False):  # noqa: ANN002
        """Run a step at this second; return its events as `what: letters of the root`, in order."""
        keys = frozenset(map(ord, unknown))
        now = StepInput(seconds * SECOND_MICROS, found, keys, commands, is_behind=is_behind)
        done = advance(self.incidents, now)
        assert advance(self.incidents, now) == done  # pure
        self.incidents, self.rejected, self.changed = done.incidents, done.rejected, done.changed
        self.events += done.events
        return [self._word(event) for event in done.events]

    def opened(self, *found, at=0):  # noqa: ANN002
        """Hold faults for 30 s; return the events."""
        self.at(at, *found)
        return self.at(at + 30, *found)

    def do(self, seconds, action, *found, until=None, by="ada"):  # noqa: ANN002
        """Run a command of a person for the only incident."""
        end = None if until is None else until * SECOND_MICROS
        command = IncidentCommand(self.one.id, action, by, end)
        return self.at(seconds, *found, commands=(command,))

    @property
    def one(self):
        """Return the only incident that is not resolved."""
        (incident,) = [each for each in self.incidents if each.state != "resolved"]
        return incident

    @property
    def members(self):
        """Return the members of the only incident."""
        return "".join(sorted(map(chr, self.one.members)))

    def _word(self, event):
        if event.members:
            return f"{event.what} {''.join(map(chr, event.members))}"
        if event.new_root:
            return f"{event.what} {chr(event.old_root.key)}>{chr(event.new_root.key)}"
        if event.new_owner or event.old_owner:
            return f"{event.what} {event.old_owner}>{event.new_owner}"
        return event.what

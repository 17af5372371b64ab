"""Detector of incidents: it updates them once a second from the newest evaluation."""

from collections.abc import Callable, Iterable, Mapping
from time import monotonic

import msgspec
import structlog
from sqlalchemy import Connection, Engine

from alerts.detection.due_failures import count_failing
from alerts.detection.explained_time import count_explained
from alerts.detection.fault_detection import DetectedFaults, detect_faults
from alerts.detection.recoveries import explain_recoveries
from alerts.detection.self_monitoring import (
    NO_FAILURES,
    EvaluationStatus,
    RoleFailure,
    find_own_faults,
    read_status,
)
from alerts.detection.summaries import StepSummaries, summarize_step
from alerts.incidents import lifecycle
from alerts.incidents.detected_fault import DetectedFault
from alerts.incidents.incident import Incident
from alerts.incidents.incident_store import incidents_version, load_active, save_step
from alerts.incidents.step_slices import first_slice
from alerts.incidents.steps import IncidentCommand, IncidentEvent, StepInput, StepResult, cap_times
from alerts.notify.router import route_incident_step
from alerts.notify.settings import RoutingSettings
from alerts.operator_actions.command_queue import (
    command_rejections,
    complete_commands,
    pending_commands,
)
from alerts.operator_actions.suppression_windows import load_windows
from lineage.catalog.engine import write_transaction
from lineage.policy.model import Policy
from lineage.process.clock import SECOND_MICROS, Clock, to_micros

_log = structlog.get_logger(__name__)

# Between the beginnings of two searches without a new evaluation: each may read the whole catalog.
_PAUSE_SECONDS = 5.0
# A search takes at most one third of the time: during a storm it takes longer than the pause.
_PAUSE_FACTOR = 3

NumberedCommands = list[tuple[int, IncidentCommand]]


class _Observation(msgspec.Struct, frozen=True, eq=False):
    """Input of one turn."""

    now: StepInput
    commands: NumberedCommands
    policy: Policy
    status: EvaluationStatus

    def faults_of(self, step: StepResult) -> dict[str, DetectedFault]:
        """Return the fault of each incident whose root is found now, by incident id."""
        by_root = {each.root: each for each in self.now.faults}
        every = (*step.changed, *step.incidents)
        return {each.id: by_root[each.root] for each in every if each.root in by_root}


class IncidentDetector:
    """Creates, changes and resolves incidents.

    It caches the active incidents of the catalog, and reloads them after another service wrote.
    """

    def __init__(
        self,
        clock: Clock,
        policy: Callable[[], Policy],
        settings: RoutingSettings,
        failures: Callable[[], Mapping[str, RoleFailure]] = lambda: NO_FAILURES,
        *,
        began_at: int | None = None,
    ) -> None:
        """Create a detector that reads nothing before its first turn.

        Args:
            clock: of this process.
            policy: returns the one in force.
            settings: of notifications.
            failures: returns the roles of Lineward that fail.
            began_at: when this process began, µs; None: with the first turn.
        """
        self._failures = failures
        self._clock, self._policy, self._settings = clock, policy, settings
        self._detected = DetectedFaults(0)
        self._incidents = dict[str, Incident]()
        self._failing: tuple[int, int | None] = (0, None)
        self._searched_at = 0
        self._pause_seconds = _PAUSE_SECONDS
        self._version = -1
        self._counted = 0
        self._began_at = began_at

    def __call__(self, engine: Engine) -> None:
        """Run one turn."""
        seen = self._observe(engine)
        step = self._advance(seen.now)
        if seen.commands or not self._is_unchanged(step):
            self._write(engine, seen, step)

    def _advance(self, now: StepInput) -> StepResult:
        incidents = (cap_times(each, now.at) for each in self._incidents.values())
        return lifecycle.advance(incidents, now)

    def _observe(self, engine: Engine) -> _Observation:
        """Read what is new; search for roots after an evaluation, or after another failed run."""
        at, policy = to_micros(self._clock()), self._policy()
        failures = self._failures()
        self._began_at = at if self._began_at is None else self._began_at
        with engine.connect() as connection:
            status = read_status(connection, at, self._began_at)
            as_of = status.evaluated_at
            if as_of is not None and self._is_search_due(connection, as_of, at):
                self._search(connection, as_of, at, policy)
            own = list(find_own_faults(connection, status, self._settings.platform, failures))
            if incidents_version(connection) != self._version:
                self._reload(connection)
            commands = pending_commands(connection)
        self._count_explained(engine, as_of)
        faults = {**self._detected.by_root, **{each.root: each for each in own}}
        now = StepInput(
            at,
            tuple(faults.values()),
            self._detected.unknown,
            tuple(command for _, command in commands),
            is_behind=status.is_behind,
        )
        return _Observation(now, commands, policy, status)

    def _is_search_due(self, connection: Connection, as_of: int, at: int) -> bool:
        """Return whether there is a new evaluation, or a failed run or the write after it landed.

        An evaluation may take long on a busy machine; a failed run is a fault without one.
        """
        failing, is_new = count_failing(connection), as_of != self._detected.as_of
        has_waited = at - self._searched_at >= self._pause_seconds * SECOND_MICROS
        if not is_new and (failing == self._failing or not has_waited):
            return False
        self._failing, self._searched_at = failing, at
        return True

    def _search(self, connection: Connection, as_of: int, at: int, policy: Policy) -> None:
        """Search for roots, and set the pause before the next search."""
        began = monotonic()
        windows, previous = load_windows(connection, at), self._detected.walks
        self._detected = detect_faults(connection, as_of, policy, windows, previous)
        self._pause_seconds = max(_PAUSE_SECONDS, _PAUSE_FACTOR * (monotonic() - began))

    def _count_explained(self, engine: Engine, as_of: int | None) -> None:
        """Count before the step: an incident that opens now explains nothing of the past."""
        if as_of is None or as_of == self._counted:
            return
        with write_transaction(engine) as connection:
            count_explained(connection)
        self._counted = as_of

    def _is_unchanged(self, step: StepResult) -> bool:
        return not step.changed and {each.id: each for each in step.incidents} == self._incidents

    def _reload(self, connection: Connection) -> None:
        self._version = incidents_version(connection)
        self._incidents = {each.id: each for each in load_active(connection)}

    def _write(self, engine: Engine, seen: _Observation, step: StepResult) -> None:
        with engine.connect() as connection:
            # Affected datasets are looked up before the catalog is locked.
            step = self._first_slice(connection, step, seen)
            summaries = self._summarize(connection, step, seen)
        with write_transaction(engine) as connection:
            if incidents_version(connection, is_held=True) != self._version:
                self._reload(connection)
                step = self._first_slice(connection, self._advance(seen.now), seen)
                summaries = self._summarize(connection, step, seen)
            save_step(connection, self._incidents, step, seen.faults_of(step), summaries.lists)
            numbers = [number for number, _ in seen.commands]
            rejected = command_rejections(seen.commands, step.rejected)
            complete_commands(connection, numbers, rejected, seen.now.at)
            route_incident_step(
                connection, step, summaries.summaries, seen.policy, self._settings, seen.now.at
            )
        self._version += 1
        self._incidents = {each.id: each for each in step.incidents}
        _log_events(step.events)

    def _first_slice(
        self, connection: Connection, step: StepResult, seen: _Observation
    ) -> StepResult:
        commanded = {each.incident_id for _, each in seen.commands}
        part = first_slice(self._incidents, step, commanded)
        return explain_recoveries(connection, part, seen.status)

    def _summarize(
        self, connection: Connection, step: StepResult, seen: _Observation
    ) -> StepSummaries:
        faults, owners = seen.faults_of(step), self._detected.owners
        return summarize_step(connection, self._incidents, step, faults, owners)


def _log_events(events: Iterable[IncidentEvent]) -> None:
    for each in events:
        _log.info("incident", incident=each.incident_id, what=each.what, revision=each.revision)

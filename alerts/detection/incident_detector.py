"""Walks incidents on, once a second, by what the newest evaluation says."""

from collections.abc import Callable, Mapping
from time import monotonic

import msgspec
import structlog
from sqlalchemy import Connection, Engine

from alerts.detection.due_failures import count_failing
from alerts.detection.evaluation_status import EvaluationStatus, read_status
from alerts.detection.explained_time import count_explained
from alerts.detection.fault_detection import DetectedFault, DetectedFaults, detect_faults
from alerts.detection.recoveries import explain_recoveries
from alerts.detection.self_monitoring import NO_FAILURES, PIPELINE, RoleFailure, find_own_faults
from alerts.detection.summaries import StepSummaries, summarize_step
from alerts.incidents import lifecycle
from alerts.incidents.incident import FaultSnapshot, Incident
from alerts.incidents.incident_store import load_active, save, version
from alerts.incidents.incident_text import root_name
from alerts.incidents.step_slices import first_slice
from alerts.incidents.steps import Command, Step, StepInput, cap_times
from alerts.notify.router import route_incident_step
from alerts.notify.settings import RoutingSettings
from alerts.operator_actions.command_queue import complete, pending, rejections
from alerts.operator_actions.suppression_windows import load_windows
from alerts.root_cause.faults import Root
from alerts.root_cause.snapshot import MICROS
from lineage.catalog.engine import writing
from lineage.clock import Clock, to_micros
from lineage.policy.model import Policy

_log = structlog.get_logger(__name__)

# Between the beginnings of two searches without a new evaluation: each may read the whole estate.
_PAUSE_SECONDS = 5.0
# A search is at most one third of the time: the one of a storm takes longer than the pause.
_PAUSE_FACTOR = 3

NumberedCommands = list[tuple[int, Command]]


class _Observation(msgspec.Struct, frozen=True, eq=False):
    """What a turn goes by."""

    now: StepInput
    by_root: Mapping[Root, DetectedFault]
    asked: NumberedCommands
    policy: Policy
    status: EvaluationStatus

    def findings(self, step: Step) -> dict[str, DetectedFault]:
        """By incident, where its root is found now."""
        every = (*step.changed, *step.incidents)
        return {each.id: self.by_root[each.root] for each in every if each.root in self.by_root}


class IncidentDetector:
    """Called once a second.

    What it remembers is what stands in the catalog: where another service wrote in between, it
    reads that first.
    """

    def __init__(
        self,
        clock: Clock,
        policy: Callable[[], Policy],
        settings: RoutingSettings,
        troubles: Callable[[], Mapping[str, RoleFailure]] = lambda: NO_FAILURES,
        *,
        began_at: int | None = None,
    ) -> None:
        """Nothing is read before the first turn.

        Args:
            clock: of this process.
            policy: gives the one in force.
            settings: of those who are told.
            troubles: gives the roles of Lineward that fail.
            began_at: when this process began, µs; None: with the first turn.
        """
        self._troubles = troubles
        self._clock, self._policy, self._settings = clock, policy, settings
        self._findings = DetectedFaults(0)
        self._incidents: dict[str, Incident] = {}
        self._failing: tuple[int, int | None] = (0, None)
        self._found_at = 0
        self._pause_seconds = _PAUSE_SECONDS
        self._position = -1
        self._counted = 0
        self._began_at = began_at

    def __call__(self, engine: Engine) -> None:
        """One turn."""
        seen = self._look(engine)
        step = self._step(seen.now)
        if seen.asked or not self._is_as_before(step):
            self._write(engine, seen, step)

    def _step(self, now: StepInput) -> Step:
        return lifecycle.advance(
            (cap_times(each, now.at) for each in self._incidents.values()), now
        )

    def _look(self, engine: Engine) -> _Observation:
        """Read what is new; roots are searched after an evaluation, or where another run failed."""
        at, policy = to_micros(self._clock()), self._policy()
        troubles = self._troubles()
        self._began_at = at if self._began_at is None else self._began_at
        with engine.connect() as connection:
            status = read_status(connection, at, self._began_at)
            as_of = status.evaluated_at
            if as_of is not None and self._is_to_search(connection, as_of, at):
                self._search(connection, as_of, at, policy)
            own = find_own_faults(connection, status, self._settings.platform, troubles)
            by_root = {
                **self._findings.by_root,
                **{each.root: _service_fault(each, troubles, status) for each in own},
            }
            if version(connection) != self._position:
                self._recall(connection)
            asked = pending(connection)
        self._count(engine, as_of)
        found = tuple(each.found for each in by_root.values())
        commands = tuple(command for _, command in asked)
        now = StepInput(at, found, self._findings.unknown, commands, is_behind=status.is_behind)
        return _Observation(now, by_root, asked, policy, status)

    def _is_to_search(self, connection: Connection, as_of: int, at: int) -> bool:
        """Whether there is a new evaluation, or a failed run or the write after it has landed.

        An evaluation may take long on a busy machine; a failed run needs none to be a fault.
        """
        failing, is_new = count_failing(connection), as_of != self._findings.as_of
        has_waited = at - self._found_at >= self._pause_seconds * MICROS
        if not is_new and (failing == self._failing or not has_waited):
            return False
        self._failing, self._found_at = failing, at
        return True

    def _search(self, connection: Connection, as_of: int, at: int, policy: Policy) -> None:
        """Search for roots, and note how long to pause before the next search."""
        began = monotonic()
        windows, previous = load_windows(connection, at), self._findings.walks
        self._findings = detect_faults(connection, as_of, policy, windows, previous)
        self._pause_seconds = max(_PAUSE_SECONDS, _PAUSE_FACTOR * (monotonic() - began))

    def _count(self, engine: Engine, as_of: int | None) -> None:
        """By the incidents as they were: what opens now was in none before."""
        if as_of is None or as_of == self._counted:
            return
        with writing(engine) as connection:
            count_explained(connection)
        self._counted = as_of

    def _is_as_before(self, step: Step) -> bool:
        return not step.changed and {each.id: each for each in step.incidents} == self._incidents

    def _recall(self, connection: Connection) -> None:
        self._position = version(connection)
        self._incidents = {each.id: each for each in load_active(connection)}

    def _write(self, engine: Engine, seen: _Observation, step: Step) -> None:
        with engine.connect() as connection:
            # Who is hurt is looked up before the catalog is locked.
            step = self._first_of(connection, step, seen)
            drawn = self._draw(connection, step, seen)
        with writing(engine) as connection:
            if version(connection, is_held=True) != self._position:
                self._recall(connection)
                step = self._first_of(connection, self._step(seen.now), seen)
                drawn = self._draw(connection, step, seen)
            save(connection, self._incidents, step, seen.findings(step), drawn.lists)
            numbers = [number for number, _ in seen.asked]
            complete(connection, numbers, rejections(seen.asked, step.rejected), seen.now.at)
            route_incident_step(
                connection, step, drawn.pictures, seen.policy, self._settings, seen.now.at
            )
        self._position += 1
        self._incidents = {each.id: each for each in step.incidents}
        _log_events(step)

    def _first_of(self, connection: Connection, step: Step, seen: _Observation) -> Step:
        asked = {each.incident_id for _, each in seen.asked}
        part = first_slice(self._incidents, step, asked)
        return explain_recoveries(connection, part, seen.status)

    def _draw(self, connection: Connection, step: Step, seen: _Observation) -> StepSummaries:
        return summarize_step(
            connection, self._incidents, step, seen.findings(step), self._findings.owners
        )


def _service_fault(
    fault: FaultSnapshot, troubles: Mapping[str, RoleFailure], status: EvaluationStatus
) -> DetectedFault:
    namespace, name = root_name(fault.root, {}, {})
    trouble = troubles.get(name)
    words = trouble.message if trouble else status.evidence if name == PIPELINE else None
    return DetectedFault(fault, namespace=namespace, name=name, message=words)


def _log_events(step: Step) -> None:
    for each in step.events:
        _log.info("incident", incident=each.incident_id, what=each.what, revision=each.revision)

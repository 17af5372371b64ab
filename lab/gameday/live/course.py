"""Course of each fault of a game day on the real clock: begun, notified, ended, resolved."""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from lab.gameday.fake_receivers import ReceivedMessage
from lab.gameday.fault_truth import truth_of
from lab.gameday.injected import Injected
from lab.gameday.live.plan import QUIET_KINDS, PlannedFault
from lab.gameday.live.running import RunningChains
from lab.gameday.model import Estate
from lab.gameday.scorer import is_among
from lab.gameday.truth_shapes import Fault, Truth
from lineage.process.clock import SECOND_MICROS

_Stage = Literal["planned", "begun", "ended", "over"]
_NEVER: Final = 2**62
_MESSAGE_SECONDS: Final = 255  # after its limit; a fault without a message ends as well
_OVER_SECONDS: Final = 288  # after the next slot of its source
_QUIET_SECONDS: Final = 90  # of what must stay silent, after its limit: the holds


class _Under(msgspec.Struct):
    """Fault under way; `fault` holds its truth at any time."""

    planned: PlannedFault
    injected: Injected
    fault: Fault
    stage: _Stage = "planned"


class Faults:
    """Faults of a day, brought on step by step. Instants in µs UTC."""

    def __init__(
        self,
        estate: Estate,
        running: RunningChains,
        planned: Sequence[PlannedFault],
        begins_at: int,
    ) -> None:
        self._estate = estate
        self._running = running
        self._period = running.pace.period_seconds * SECOND_MICROS
        self._limit = running.pace.limit_seconds * SECOND_MICROS
        self.begins_at = begins_at
        self._all = [self._under(each) for each in planned]

    @property
    def is_over(self) -> bool:
        """Return whether nothing is left to be done or to be waited for."""
        return all(each.stage == "over" for each in self._all)

    def counts(self) -> dict[_Stage, int]:
        """Count the faults at each stage."""
        stages: tuple[_Stage, ...] = ("planned", "begun", "ended", "over")
        return {stage: sum(each.stage == stage for each in self._all) for stage in stages}

    def step(self, now: int, messages: Sequence[ReceivedMessage]) -> None:
        """Begin due faults, end those that were notified, and note those that were resolved."""
        for each in self._all:
            if each.stage == "planned" and now >= each.injected.starts_at:
                self._begin(each, now)
            elif each.stage == "begun" and self._is_to_end(each, now, messages):
                self._end(each, now)
            elif each.stage == "ended" and self._is_called_over(each, now, messages):
                each.stage = "over"
        self._running.inject(each.injected for each in self._all if each.stage != "planned")

    def truth(self, starts_at: int, ends_at: int) -> Truth:
        """Return the truth for the scorer, once all is over."""
        return Truth(
            seed=self._estate.seed,
            datasets=len(self._estate.datasets),
            days=0,
            starts_at=starts_at,
            judged_from=starts_at,
            ends_at=ends_at,
            faults=tuple(self._true(each, ends_at) for each in self._all),
        )

    def injected_at(self) -> list[int]:
        """Return when each was begun, in the order of the truth."""
        return [each.injected.starts_at for each in self._all]

    def failed_at(self) -> list[int | None]:
        """Return when each fault began with a FAIL to notify at once; None: with none."""
        return [self._failed_at(each) for each in self._all]

    def _under(self, planned: PlannedFault) -> _Under:
        starts_at = self.begins_at + round(planned.after_seconds * SECOND_MICROS)
        kind = "killed_job" if planned.kind == "retried_run" else planned.kind
        variant = "fail" if planned.kind == "retried_run" else planned.variant
        failing = self._readers(planned.job) if kind == "schema_drift" else ()
        injected = Injected(kind, (planned.job,), starts_at, _NEVER, variant, failing)
        fault = msgspec.structs.replace(truth_of(self._estate, injected), kind=planned.kind)
        if planned.kind in QUIET_KINDS:
            fault = msgspec.structs.replace(fault, expect="silence")
        return _Under(planned, injected, fault)

    def _readers(self, number: int) -> tuple[int, ...]:
        written = self._estate.jobs[number].outputs
        return tuple(job.number for each in written for job in self._estate.readers_of[each])

    def _begin(self, each: _Under, now: int) -> None:
        each.injected = msgspec.structs.replace(each.injected, starts_at=now)
        each.stage = "begun"
        if each.planned.kind == "retired_job":
            self._running.drop([self._estate.jobs[each.planned.job]], now)

    def _is_to_end(self, each: _Under, now: int, messages: Sequence[ReceivedMessage]) -> bool:
        lasts = now - each.injected.starts_at
        if each.planned.kind == "retried_run":
            return lasts >= self._period
        if each.planned.kind == "retired_job":
            return True
        return lasts > self._limit + _MESSAGE_SECONDS * SECOND_MICROS or any(
            self._is_notified(each, one) for one in messages
        )

    def _is_notified(self, each: _Under, one: ReceivedMessage) -> bool:
        wanted = {"page"} if each.fault.expect == "page" else {"page", "ticket"}
        is_later = one.at >= each.injected.starts_at and one.what in wanted
        return is_later and is_among(one.root, each.fault.causes)

    def _end(self, each: _Under, now: int) -> None:
        each.stage = "ended"
        # What is retired stays so.
        if each.planned.kind != "retired_job":
            each.injected = msgspec.structs.replace(each.injected, ends_at=now)
        each.fault = msgspec.structs.replace(each.fault, ends_at=now)

    def _is_called_over(self, each: _Under, now: int, messages: Sequence[ReceivedMessage]) -> bool:
        since = now - each.fault.ends_at
        if each.fault.expect == "silence":
            return since > self._limit + _QUIET_SECONDS * SECOND_MICROS
        about = [one for one in messages if is_among(one.root, each.fault.causes)]
        over = {one.incident for one in about if one.what == "resolved"}
        return (
            since > self._period + _OVER_SECONDS * SECOND_MICROS
            or {one.incident for one in about} <= over
        )

    def _true(self, each: _Under, ends_at: int) -> Fault:
        begun = each.injected.starts_at
        return msgspec.structs.replace(
            each.fault, starts_at=max(begun, self._known_at(each)), over_at=ends_at
        )

    def _known_at(self, each: _Under) -> int:
        """Return when it can be known: past the dataset's limit, or with the new schema's report.

        Of what stays silent, its beginning; of a run that failed and matters, its FAIL.
        """
        begun = each.injected.starts_at
        if each.fault.expect == "silence":
            return begun
        if (failed_at := self._failed_at(each)) is not None:
            return failed_at
        writes = [one for out in self._outputs(each) for one in self._running.writes[out]]
        if each.planned.kind == "schema_drift":
            return min((one.written_at for one in writes if one.begun_at >= begun), default=begun)
        before = max(one.written_at for one in writes if one.begun_at < begun)
        return before + self._limit

    def _failed_at(self, each: _Under) -> int | None:
        outputs = self._outputs(each)
        if each.fault.expect == "silence" or self._estate.are_optional(outputs):
            return None
        begun = each.injected.starts_at
        every = (at for out in outputs for at in self._running.failures[out] if at >= begun)
        return min(every, default=None)

    def _outputs(self, each: _Under) -> tuple[int, ...]:
        return self._estate.jobs[each.planned.job].outputs

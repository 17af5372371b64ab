"""Runs of a batch, by their events in any order and with any repeats."""

import msgspec

from slis.stream.facts.spans import greater, lesser
from slis.stream.reading.event import ReadEvent
from slis.stream.reading.reported import ReportedRun

_FAILED = ("FAIL", "ABORT")


class RunTimes(msgspec.Struct, omit_defaults=True):
    """Times at which a run was seen, started and ended, in microseconds since 1970.

    Attributes:
        spark_job_id: the first that its events name.
        retries_left: that its scheduler announces.
        is_history: every event of it came from a history load.
    """

    first_event_at: int
    last_event_at: int
    started_at: int | None = None
    last_start_at: int | None = None
    completed_at: int | None = None
    last_fail_at: int | None = None
    spark_job_id: int | None = None
    retries_left: int | None = None
    is_history: bool = True

    def add(self, event: ReadEvent, time: int) -> None:
        """Add an event of the run."""
        self.first_event_at = min(self.first_event_at, time)
        self.last_event_at = max(self.last_event_at, time)
        if event.event_type == "START":
            self.started_at = lesser(self.started_at, time)
            self.last_start_at = greater(self.last_start_at, time)
        elif event.event_type == "COMPLETE":
            self.completed_at = greater(self.completed_at, time)
        elif event.event_type in _FAILED:
            self.last_fail_at = greater(self.last_fail_at, time)
        self.spark_job_id = lesser(self.spark_job_id, event.spark_job_id)
        # Airflow before 2.10 counts the next try where one failed: the larger is of its START.
        self.retries_left = greater(self.retries_left, event.retries_left)
        self.is_history = self.is_history and event.is_history


class RunFacts:
    """Runs of a batch: a run whose events differ in an attribute is there several times."""

    def __init__(self) -> None:
        """Hold no run."""
        self._runs: dict[ReportedRun, RunTimes] = {}

    def add(self, event: ReadEvent, time: int) -> None:
        """Add an event, of that time."""
        if event.run is None:
            return
        times = self._runs.get(event.run)
        if times is None:
            times = self._runs[event.run] = RunTimes(time, time)
        times.add(event, time)

    def list_runs(self) -> list[tuple[ReportedRun, RunTimes]]:
        """Return the runs as they were reported, and their times."""
        return list(self._runs.items())

"""Events of the runs of an estate: each job by the client that reports it."""

from collections.abc import Iterator

from lab.gameday.forms import Forms
from lab.gameday.model import DAY, Estate
from lab.gameday.posting import Posted, PostedEvent, in_order
from lab.gameday.runs import SimulatedRun
from lab.gameday.spark_events import SparkEvents
from lab.gameday.task_events import TaskEvents
from lineage.process.clock import SECOND_MICROS


class Listener:
    """Maker of the events of runs, one run at a time, in the order in which they begin."""

    def __init__(self, estate: Estate) -> None:
        """Start without runs of long applications."""
        self._estate = estate
        self._forms = Forms()
        self._last: dict[int, SimulatedRun] = {}  # of each job with a long application

    def events(self, run: SimulatedRun) -> Iterator[Posted]:
        """Yield all events that ever arrive of a run; nothing of one that is not reported."""
        if run.circumstances.is_reported:
            yield from in_order(self._events_of(run))

    def _events_of(self, run: SimulatedRun) -> Iterator[PostedEvent]:
        client = self._estate.jobs[run.job].client
        if client in {"airflow", "dbt"} and not run.drops:
            yield from TaskEvents(self._estate, self._forms, run).events()
        elif client == "application":
            yield from self._of_long_application(run)
        else:
            yield from SparkEvents(self._estate, self._forms, run).events()

    def _of_long_application(self, run: SimulatedRun) -> Iterator[PostedEvent]:
        """End the application of the day before, and start one, before a day's first query."""
        before = self._last.get(run.job)
        is_new = before is None or before.started_at // DAY != run.started_at // DAY
        if before is not None and is_new:
            last = SparkEvents(self._estate, self._forms, before)
            yield last.end_application(run.started_at - SECOND_MICROS)
        self._last[run.job] = run
        yield from SparkEvents(self._estate, self._forms, run).queried(is_first=is_new)

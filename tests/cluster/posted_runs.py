"""Runs of jobs that are posted to the collectors' Service and read from the API's Service."""

import uuid
from datetime import datetime, timedelta
from threading import Event, Thread

import httpx

from lineage.process.clock import system_clock
from tests.cluster.scaled import Scaled
from tests.collector.bodies import body, run_event
from tests.suite.waiting import until

_PAUSE_SECONDS = 0.1
_DURATION = timedelta(minutes=20)  # of each run, all of it in the past


def event(table: str, state: str, run_id: str, at: datetime) -> bytes:
    """Return an event of the job that writes a table."""
    return body(
        run_event(
            eventType=state,
            eventTime=at.isoformat(),
            run={"runId": run_id},
            job={"namespace": "shop", "name": f"{table}.daily"},
            inputs=[{"namespace": "shop", "name": "raw"}],
            outputs=[{"namespace": "shop", "name": table}],
        )
    )


def post_run(scaled: Scaled, table: str, state: str) -> str:
    """Post a run that ends now; return its id once the API has its end."""
    run_id, now = str(uuid.uuid4()), system_clock()
    assert scaled.post(event(table, "START", run_id, now - _DURATION)) == 201
    assert scaled.post(event(table, state, run_id, now)) == 201
    until(lambda: _status(scaled, run_id) == state, describe=scaled.describe)
    return run_id


def _status(scaled: Scaled, run_id: str) -> str | None:
    found = scaled.ask(f"/api/v1/runs/{run_id}")
    return found["runs"][0]["status"] if found and found["runs"] else None


class Sender:
    """Thread that posts one event after the other.

    Attributes:
        outcomes: status of each answer, or the name of the error.
    """

    def __init__(self, scaled: Scaled) -> None:
        """Begin to post."""
        self.outcomes: list[int | str] = []
        self._scaled, self._stopping = scaled, Event()
        self._thread = Thread(target=self._run, name="sender")
        self._thread.start()

    def stop(self) -> None:
        """Post no further event."""
        self._stopping.set()
        self._thread.join(60)

    def _run(self) -> None:
        while not self._stopping.wait(_PAUSE_SECONDS):
            posted = event("clicks", "COMPLETE", str(uuid.uuid4()), system_clock())
            try:
                self.outcomes.append(self._scaled.post(posted))
            except httpx.TransportError as error:
                self.outcomes.append(type(error).__name__)

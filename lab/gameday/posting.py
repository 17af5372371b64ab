"""Stamps of the events of one run: ids, times, and when each arrives."""

import hashlib
import random
from collections.abc import Iterator
from datetime import timedelta
from typing import Final, NamedTuple

from lab.gameday.forms import NOMINAL, ROOT_ID, RUN_ID, TIME, EventForm, Forms
from lab.gameday.model import DAY, Estate, SimulatedJob
from lab.gameday.runs import SimulatedRun
from lineage.process.clock import EPOCH, SECOND_MICROS

_APART: Final = 2_000
_DRAWS: Final = "told"  # part of the seed: another word draws another game day


class Posted(NamedTuple):
    """Request of a client: when it arrives, µs UTC, and its body."""

    received_at: int
    body: bytes


PostedEvent = tuple[int, Posted]  # when it happens, and when it arrives


class RunStamp:
    """Ids and times of one run's events."""

    def __init__(self, estate: Estate, forms: Forms, run: SimulatedRun) -> None:
        """Stamp nothing yet.

        Args:
            estate: of the run.
            forms: shared by all runs.
            run: whose events are stamped.
        """
        self.chance = random.Random(f"{estate.seed} {_DRAWS} {run.job} {run.number}")  # noqa: S311
        self._estate = estate
        self._forms = forms
        self._run = run
        self._job: SimulatedJob = estate.jobs[run.job]
        self._root = self._root_id()

    def post(self, at: int, form: EventForm, run: str, *, late: int = 0) -> PostedEvent:
        """Return the event of this form that happens at `at`, µs UTC.

        Args:
            at: when it happens.
            form: what it says.
            run: distinguishes the runs within the root run.
            late: how long it waits in the client, µs.
        """
        body = self._forms.of(form)
        body = body.replace(RUN_ID.encode(), self._id(f"{self._run.number} {run}"))
        body = body.replace(ROOT_ID.encode(), self._root)
        body = body.replace(
            TIME.encode(),
            format_instant(at + self._run.circumstances.shift_seconds * SECOND_MICROS),
        )
        body = body.replace(NOMINAL.encode(), format_instant(self._run.nominal_at))
        latency = round(self.chance.lognormvariate(-2.5, 0.5) * SECOND_MICROS)
        return at, Posted(at + late + latency, body)

    def _root_id(self) -> bytes:
        """Return the id of the application, or of what a DAG runs for one slot."""
        run, day = self._run, self._run.started_at // DAY
        of = {"airflow": f"dag {run.nominal_at}", "application": f"application of {day}"}
        return self._id(of.get(self._job.client, f"{run.number} application"))

    def _id(self, what: str) -> bytes:
        seed = f"{self._estate.seed} {self._run.job} {what}"
        number = hashlib.blake2b(seed.encode(), digest_size=16).hexdigest()
        parts = number[:8], number[8:12], f"7{number[13:16]}", f"8{number[17:20]}", number[20:]
        return "-".join(parts).encode()


def in_order(events: Iterator[PostedEvent]) -> Iterator[Posted]:
    """Yield them as one thread posts them: none arrives before the one before it."""
    last = 0
    for _, event in sorted(events, key=lambda each: each[0]):
        last = max(event.received_at, last + _APART)
        yield Posted(last, event.body)


def format_instant(at: int) -> bytes:
    """Return a time as the listener writes it: milliseconds, without zeros at the end."""
    text = (EPOCH + timedelta(microseconds=at)).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
    return f"{text.rstrip('0').rstrip('.')}Z".encode()

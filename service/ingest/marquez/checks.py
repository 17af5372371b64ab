"""Checks of Marquez: how long its lineage queries take, and which runs one side lacks.

The duration is M7 of the backend `marquez`, outside the objective: no person waited for a query
of ours. For the comparison a sample of each side is looked up on the other.
"""

import asyncio
import random
from pathlib import Path

import structlog

from lineage.process.clock import SECOND_MICROS, Clock, to_micros
from service.ingest.collector_spool import latest_bodies
from service.ingest.marquez.client import Marquez, MarquezError, RunRejectedError
from service.ingest.marquez.event_identity import valid_core
from service.ingest.marquez.store import Comparison, MissingRunRow, Probe, Store, in_catalog

DEPTH = 5
_LOOKED_THROUGH = 50
_OK = 200
_SERVER_ERROR = 500

_MOST_RUNS = 200
_MOST_EXAMPLES = 50
# What happened last may be on its way; what happened before the span was compared before.
_SETTLED_SECONDS = 300.0
_SPAN_SECONDS = 7_200.0
_AT_ONCE = 4
_log = structlog.get_logger()

_Run = tuple[str, str, str]  # run id, job namespace, job name


class Prober:
    """Probe: queries the lineage of the dataset that was written last, as its producer names it."""

    def __init__(self, marquez: Marquez, store: Store, spool: Path, clock: Clock) -> None:
        self._marquez = marquez
        self._store = store
        self._spool = spool
        self._clock = clock
        self._node: str | None = None

    async def round(self) -> Probe:
        """Ask once, and write down how it went."""
        self._node = await asyncio.to_thread(_latest_node, self._spool) or self._node
        at = to_micros(self._clock())
        probe = await (self._lineage(at, self._node) if self._node else self._sign_of_life(at))
        await in_catalog(self._store.note_probe, probe)
        return probe

    async def _lineage(self, at: int, node: str) -> Probe:
        try:
            status, seconds = await self._marquez.lineage(node, DEPTH)
        except MarquezError as error:
            return Probe(at, is_answered=False, seconds=None, status=None, detail=str(error))
        # A node that it does not know is no measure of a query, nor a fault.
        measured = seconds if status == _OK else None
        return Probe(at, status < _SERVER_ERROR, measured, status, node)

    async def _sign_of_life(self, at: int) -> Probe:
        """Ask for events to see whether Marquez answers: no dataset was written yet."""
        try:
            await self._marquez.events(after=at, before=at + 1_000, limit=1)
        except MarquezError as error:
            return Probe(at, is_answered=False, seconds=None, status=None, detail=str(error))
        return Probe(at, is_answered=True, seconds=None, status=_OK, detail="no dataset yet")


def _latest_node(spool: Path) -> str | None:
    for body in latest_bodies(spool, _LOOKED_THROUGH):
        for output in valid_core(body).outputs or ():
            return f"dataset:{output.namespace}:{output.name}"
    return None


class Comparer:
    """Comparison of the last two hours, without the last five minutes."""

    def __init__(self, marquez: Marquez, store: Store, clock: Clock) -> None:
        self._marquez = marquez
        self._store = store
        self._clock = clock

    async def round(self) -> Comparison:
        """Compare once, and write it down.

        Raises:
            MarquezError: it did not answer: nothing is written down, as nothing is known.
        """
        now = to_micros(self._clock())
        until = now - int(_SETTLED_SECONDS * SECOND_MICROS)
        since = until - int(_SPAN_SECONDS * SECOND_MICROS)
        ours = await in_catalog(self._store.sample_of_runs, since, until, _MOST_RUNS)
        known_there = await self._known_there(ours)
        there = [run for run, is_known in known_there if is_known is False]
        rejected = sum(is_known is None for _, is_known in known_there)
        theirs = await self._their_runs(since, until)
        known = await in_catalog(self._store.known_runs, [run_id for run_id, _, _ in theirs])
        here = [run for run in theirs if run[0].lower() not in known]
        found = Comparison(now, len(ours) - rejected, len(there), len(theirs), len(here))
        await in_catalog(self._store.note_comparison, found, _examples(there, here), rejected)
        if there or here:
            _log.warning("runs_missing", there=len(there), here=len(here))
        return found

    async def _known_there(self, ours: list[_Run]) -> list[tuple[_Run, bool | None]]:
        """Return each run with whether Marquez has it; None where Marquez rejects its id."""
        slots = asyncio.Semaphore(_AT_ONCE)

        async def known(run: _Run) -> tuple[_Run, bool | None]:
            async with slots:
                try:
                    return run, await self._marquez.has_run(run[0])
                except RunRejectedError as error:
                    _log.warning("run_not_compared", run=run[0], error=str(error))
                    return run, None

        return await asyncio.gather(*(known(run) for run in ours))

    async def _their_runs(self, since: int, until: int) -> list[_Run]:
        """Return some runs of the span, from a moment that changes from time to time."""
        events = await self._marquez.events(after=since, before=until, limit=_MOST_RUNS)
        if len(events) == _MOST_RUNS:
            after = random.randint(since, until)  # noqa: S311 - of a sample
            events = await self._marquez.events(after=after, before=until, limit=_MOST_RUNS)
        jobs = ((event.known.whose, event.known.job) for event in events)
        runs = {run_id: (run_id, job.namespace, job.name) for run_id, job in jobs if job}
        return list(runs.values())


def _examples(there: list[_Run], here: list[_Run]) -> list[MissingRunRow]:
    return [
        MissingRunRow(side, *run)
        for side, runs in (("there", there), ("here", here))
        for run in runs[:_MOST_EXAMPLES]
    ]

"""Duration of Marquez's lineage queries: M7 of the backend `marquez`, outside the objective.

It is our own probe, and counts as one: no person waited for it.
"""

import asyncio
from pathlib import Path

from lineage.process.clock import Clock, to_micros
from service.ingest.marquez.client import Marquez, MarquezError
from service.ingest.marquez.known import known_of
from service.ingest.marquez.spooled import latest_bodies
from service.ingest.marquez.store import Probe, Store, in_catalog

DEPTH = 5
_LOOKED_THROUGH = 50
_OK = 200
_SERVER_ERROR = 500


class Prober:
    """Asks for the lineage of the dataset that was written last, as its producer names it."""

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
        """Record that nothing was written yet, so that there is no lineage to query."""
        try:
            await self._marquez.events(after=at, before=at + 1_000, limit=1)
        except MarquezError as error:
            return Probe(at, is_answered=False, seconds=None, status=None, detail=str(error))
        return Probe(at, is_answered=True, seconds=None, status=_OK, detail="no dataset yet")


def _latest_node(spool: Path) -> str | None:
    for body in latest_bodies(spool, _LOOKED_THROUGH):
        for output in known_of(body).outputs or ():
            return f"dataset:{output.namespace}:{output.name}"
    return None

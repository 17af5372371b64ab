"""Worker that answers before the commit: a mutant that the ledger detects."""

import time

from collector import worker
from collector.commits import SpoolCommits
from collector.events import ValidEvent
from collector.spool import Spool
from collector.writes import WriteRequest

_commit = Spool._commit  # noqa: SLF001 - the mutant stands between the queue and the commit


async def _store(
    self: SpoolCommits, events: list[ValidEvent], origin: str, **_more: object
) -> None:
    spool = self._ready()
    spool.submit(WriteRequest(tuple(spool.event_row(event, origin) for event in events), (), None))


def _slow_commit(self: Spool, group: list[WriteRequest]) -> None:
    time.sleep(0.05)  # as a slow disk: what is answered meanwhile is not stored yet
    _commit(self, group)


if __name__ == "__main__":
    SpoolCommits.store = _store  # type: ignore[method-assign]
    Spool._commit = _slow_commit  # type: ignore[method-assign]  # noqa: SLF001
    worker.main()

"""When things were last evaluated, and how far that is behind what happened."""

from typing import Final

import msgspec
from sqlalchemy import Connection, func, select

from alerts.incidents.estate import MICROS
from lineage.catalog import tables
from lineage.catalog.noted import BEHIND_SINCE, EVENTS_WAIT_SINCE

# Evaluations come every 15 s while events do, and every 60 s else.
STALE_SECONDS: Final = 120
# The longest outage that is made up for within minutes; a person looks at what takes longer.
BEHIND_SECONDS: Final = 900


class EvaluationStatus(msgspec.Struct, frozen=True):
    """The newest evaluation as seen now. All times in µs.

    Attributes:
        now: by the clock of the service.
        began_at: when this service began to look.
        evaluated_at: of the newest evaluation; None: there was never one, and nothing to miss.
            One that is further ahead was made by a clock that was wrong, and hides what came since.
        wait_since: when the oldest event that it lacks was received; None: it lacks none.
        behind_since: the first of the evaluations that lack events older than a minute, without a
            break; None: the newest does not.
    """

    now: int
    began_at: int
    evaluated_at: int | None = None
    wait_since: int | None = None
    behind_since: int | None = None

    @property
    def is_stale(self) -> bool:
        """Whether there is no evaluation of now."""
        return self.evaluated_at is not None and self._is_over(self.evaluated_at, STALE_SECONDS)

    @property
    def is_behind(self) -> bool:
        """Whether it lacks what happened before it: no incident opens or closes by it."""
        return self.is_stale or self.behind_since is not None

    @property
    def overdue_since(self) -> int | None:
        """Return since when the pipeline owes what a person has to see to; None: nothing yet.

        A service that has just started waits for the first evaluation as long as for any other:
        after an outage of the whole machine the pipeline starts beside it.
        """
        if self.is_stale:
            return self.evaluated_at if self._is_over(self.began_at, STALE_SECONDS) else None
        is_long = self.behind_since is not None and self._is_over(self.behind_since, BEHIND_SECONDS)
        return self.wait_since if is_long else None

    def _is_over(self, since: int, seconds: int) -> bool:
        """Return whether so many seconds lie between; a clock may have been ahead."""
        return abs(self.now - since) > seconds * MICROS


def read_status(connection: Connection, now: int, began_at: int) -> EvaluationStatus:
    """Read the newest evaluation from the catalog."""
    evaluated_at = connection.scalar(select(func.max(tables.evaluation.c.as_of)))
    name, value = tables.meta.c.name, tables.meta.c.value
    noted = select(name, value).where(name.in_([EVENTS_WAIT_SINCE, BEHIND_SINCE]))
    times = {row.name: int(row.value) or None for row in connection.execute(noted)}
    return EvaluationStatus(
        now, began_at, evaluated_at, times.get(EVENTS_WAIT_SINCE), times.get(BEHIND_SINCE)
    )

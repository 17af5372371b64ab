"""Read when datasets were last evaluated, and which events that evaluation lacks."""

from typing import Final

import msgspec
from sqlalchemy import Connection, func, select

from lineage.catalog import tables
from lineage.catalog.meta_keys import BEHIND_SINCE, EVENTS_WAIT_SINCE
from lineage.process.clock import SECOND_MICROS, instant_text

# Evaluations come every 15 s while events do, and every 60 s else.
STALE_SECONDS: Final = 120
# The longest outage that is made up for within minutes; a person looks at what takes longer.
BEHIND_SECONDS: Final = 900


class EvaluationStatus(msgspec.Struct, frozen=True):
    """State of the newest evaluation. All times in µs.

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
        """Return whether the newest evaluation is too old, or ahead of the clock."""
        return self.evaluated_at is not None and self._is_over(self.evaluated_at, STALE_SECONDS)

    @property
    def is_behind(self) -> bool:
        """Return whether the evaluation lacks events: no incident opens or closes by it."""
        return self.is_stale or self.behind_since is not None

    @property
    def overdue_since(self) -> int | None:
        """Return since when the pipeline is overdue for a person to look; None: it is not.

        A service that has just started waits for the first evaluation as long as for any other:
        after an outage of the whole machine the pipeline starts beside it.
        """
        if self.is_stale:
            return self.evaluated_at if self._is_over(self.began_at, STALE_SECONDS) else None
        is_long = self.behind_since is not None and self._is_over(self.behind_since, BEHIND_SECONDS)
        return self.wait_since if is_long else None

    @property
    def evidence(self) -> str | None:
        """Return in words why the pipeline is overdue; None: it is not."""
        if (since := self.overdue_since) is None:
            return None
        at = instant_text(since)
        if self.is_stale:
            return f"the last evaluation was at {at}"
        return f"events received since {at} are not processed yet"

    def _is_over(self, since: int, seconds: int) -> bool:
        """Return whether so many seconds lie between the two; a clock may have been ahead."""
        return abs(self.now - since) > seconds * SECOND_MICROS


def read_status(connection: Connection, now: int, began_at: int) -> EvaluationStatus:
    """Read the newest evaluation from the catalog."""
    evaluated_at = connection.scalar(select(func.max(tables.evaluation.c.as_of)))
    name, value = tables.meta.c.name, tables.meta.c.value
    noted = select(name, value).where(name.in_([EVENTS_WAIT_SINCE, BEHIND_SINCE]))
    times = {row.name: int(row.value) or None for row in connection.execute(noted)}
    return EvaluationStatus(
        now, began_at, evaluated_at, times.get(EVENTS_WAIT_SINCE), times.get(BEHIND_SINCE)
    )

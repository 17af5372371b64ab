"""M8 impact analysis: from a fault to the page that links all it affects, taken by a provider."""

from typing import Final

import msgspec
from sqlalchemy import Connection, Engine, update

from alerts.notify.notification_state import NotificationState
from lineage.catalog.engine import write_transaction
from lineage.catalog.tables import incident
from lineage.process.clock import SECOND_MICROS, Clock, to_micros
from lineage.states import IMPACT_ANALYSIS
from service.api.served.counter_buffer import (
    IMPACT_BOUNDS,
    CountBatch,
    CountedOutcome,
    Series,
    add_batch,
)
from service.incidents.impact.pages import (
    Page,
    accepted_at,
    fault_start,
    is_by_provider,
    load_page_state,
    paged_incidents,
    running_pages,
)

IMPACT_METRIC: Final = "lineage_impact_analysis_seconds"
GOOD_BELOW_SECONDS: Final = 900.0
# An incident that was resolved or silenced before its first notification has paged nobody.
LEFT_OUT: Final = "left_out"
_SERIES: Final = Series(IMPACT_METRIC, "lineward", "impact", IMPACT_BOUNDS)
# What is bad already is waited for, for its duration's sake: as long as the histogram has bounds.
_WAITED_MICROS: Final = int(IMPACT_BOUNDS[-1] * SECOND_MICROS)


class ImpactClock:
    """Periodic task, once a second; one query where no page is waited for."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def __call__(self, engine: Engine) -> None:
        """Walk the clock of each page on that has no end yet."""
        now = to_micros(self._clock())
        with engine.connect() as connection:
            before = running_pages(connection, now - _WAITED_MICROS)
            looked = [(page, _walked(connection, page, now)) for page in before]
        news = [(page, after) for page, after in looked if after != page]
        if not news:
            return
        with write_transaction(engine) as connection:
            batch = CountBatch()
            for page, after in news:
                if _keep(connection, page, after):
                    _count(batch, page, after, now)
            add_batch(connection, batch)


def _walked(connection: Connection, page: Page, now: int) -> Page:
    """Return the page as it is now."""
    since = paged_incidents(connection, page)
    fault_at = page.fault_at
    if fault_at is None:
        fault = fault_start(connection, page, since)
        fault_at = fault.at
        if not fault.is_known:
            return msgspec.structs.replace(page, fault_at=fault_at, outcome="unknown")
    state = load_page_state(connection, page)
    taken = accepted_at(connection, page, since, state)
    outcome = page.outcome or outcome_of(fault_at, taken, state, now)
    return msgspec.structs.replace(page, fault_at=fault_at, outcome=outcome, accepted_at=taken)


def outcome_of(
    fault_at: int, taken_at: int | None, state: NotificationState | None, now: int
) -> CountedOutcome | None:
    """Return good for less than 15 minutes; bad after them, even if somebody took it since.

    Args:
        fault_at: µs.
        taken_at: when its page was; None: not yet.
        state: notifications sent for the incident; None: deleted.
        now: µs.
    """
    is_in_time = ((taken_at or now) - fault_at) / SECOND_MICROS < GOOD_BELOW_SECONDS
    if taken_at is not None:
        return "good" if is_in_time else "bad"
    return None if is_in_time else _unaccepted_outcome(state)


def _unaccepted_outcome(state: NotificationState | None) -> CountedOutcome:
    """Return the outcome of a page that nobody accepted in time."""
    if state is None:
        return "unknown"
    if any(is_by_provider(place.channel) for place in state.channels):
        return "bad"
    if state.addressee:
        return "unknown"  # the addressee has no channel
    return "bad" if state.is_bad else LEFT_OUT


def _keep(connection: Connection, before: Page, after: Page) -> bool:
    """Store the page if its row has not changed since it was read; return whether it was stored.

    If two services read the same page, only one of them stores and counts it.
    """
    table = incident
    changed = connection.execute(
        update(table)
        .where(
            table.c.incident_id == before.incident_id,
            table.c.fault_at.is_not_distinct_from(before.fault_at),
            table.c.impact_outcome.is_not_distinct_from(before.outcome),
            table.c.accepted_at.is_not_distinct_from(before.accepted_at),
        )
        .values(
            fault_at=after.fault_at, impact_outcome=after.outcome, accepted_at=after.accepted_at
        )
    )
    return changed.rowcount == 1


def _count(batch: CountBatch, before: Page, after: Page, now: int) -> None:
    if before.outcome is None and after.outcome not in {None, LEFT_OUT}:
        batch.count(IMPACT_ANALYSIS, now, str(after.outcome))
    if after.accepted_at is not None and after.fault_at is not None:
        seconds = (after.accepted_at - after.fault_at) / SECOND_MICROS
        batch.observe(_SERIES, max(0.0, seconds))

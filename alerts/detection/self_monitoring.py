"""Monitoring of Lineward itself: whether its evaluation is current, and which parts fail.

Faults of Lineward become incidents beside those of datasets.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

import msgspec
from sqlalchemy import Connection, func, select, text

from alerts.incidents.detected_fault import DetectedFault, service_fault
from alerts.own_parts import COLLECTOR_ROOT, EVENTS_ROOT, PIPELINE_ROOT
from lineage.catalog import tables
from lineage.catalog.meta_keys import BEHIND_SINCE, EVENTS_WAIT_SINCE, LOG_LAST_GOODBYE
from lineage.catalog.rows import convert_rows
from lineage.process.clock import SECOND_MICROS, instant_text
from lineage.states import UNAUTHORIZED_ACCESS

# Evaluations come every 5 to 15 s while events arrive, otherwise every 40 s.
STALE_SECONDS: Final = 120
# The longest outage that is made up for within minutes; a person looks at what takes longer.
BEHIND_SECONDS: Final = 900

# A role that has failed for so long does not recover by itself soon.
FAILING_SECONDS = 120
_HOUR = 3600 * SECOND_MICROS
_MOST_NAMED: Final = 5  # silent collectors
_SILENT_SINCE = "SELECT min(started_at) FROM ingestion_gap WHERE ended_at IS NULL"
_SET_ASIDE = """
    SELECT min(failed_at) FROM event_set_aside
    WHERE spool_seq NOT IN (SELECT spool_seq FROM event_requeue)
"""
_UNAUTHORIZED = """
    SELECT min(hour) FROM served_hour WHERE sli = :sli AND good < total AND hour >= :since
"""


class EvaluationStatus(msgspec.Struct, frozen=True):
    """State of the newest evaluation. All times in µs.

    Attributes:
        now: by the clock of the service.
        began_at: when this service began to look.
        evaluated_at: of the newest evaluation; None: there was never one, and nothing to miss.
            If it is more than STALE_SECONDS ahead of `now`, a wrong clock made it, and newer
            evaluations are hidden behind it.
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


class RoleFailure(msgspec.Struct, frozen=True):
    """Role of Lineward that fails.

    Attributes:
        since: when it began to fail, µs.
        message: how it fails.
    """

    since: int
    message: str


class SilentCollector(msgspec.Struct, frozen=True):
    """Collector whose heartbeats do not arrive; `since`: its last heartbeat, µs."""

    name: str
    since: int


NO_FAILURES: Final[Mapping[str, RoleFailure]] = MappingProxyType({})


def find_own_faults(
    connection: Connection,
    status: EvaluationStatus,
    owner: str | None,
    failures: Mapping[str, RoleFailure] = NO_FAILURES,
) -> Iterator[DetectedFault]:
    """Return failing roles, a silent collector, a late pipeline, events set aside, denied access.

    Args:
        connection: of the catalog.
        status: of the newest evaluation, and the clock.
        owner: of Lineward itself.
        failures: by role of `lineward up`.
    """
    for each in _find(connection, status, owner, failures):
        failure = failures.get(each.name)
        evidence = status.evidence if each.name == PIPELINE_ROOT else each.message
        yield msgspec.structs.replace(each, message=failure.message if failure else evidence)


def _find(
    connection: Connection,
    status: EvaluationStatus,
    owner: str | None,
    failures: Mapping[str, RoleFailure],
) -> Iterator[DetectedFault]:
    now = status.now
    silent = list(_find_silence(connection, status, owner))
    yield from silent
    for role, failure in failures.items():
        is_long = now - failure.since > FAILING_SECONDS * SECOND_MICROS
        if is_long and role not in {each.name for each in silent}:
            yield service_fault("ingestion", role, failure.since, owner)
    if (set_aside_at := connection.scalar(text(_SET_ASIDE))) is not None:
        yield service_fault("set_aside", EVENTS_ROOT, set_aside_at, owner)
    # Reported for one to two hours: an access that was allowed cannot recover.
    hours = {"sli": UNAUTHORIZED_ACCESS.id, "since": (now // _HOUR - 1) * _HOUR}
    if (allowed_at := connection.scalar(text(_UNAUTHORIZED), hours)) is not None:
        yield service_fault("access", UNAUTHORIZED_ACCESS.name, allowed_at, owner)


def _find_silence(
    connection: Connection, status: EvaluationStatus, owner: str | None
) -> Iterator[DetectedFault]:
    if (since := status.overdue_since) is not None:
        yield service_fault("ingestion", PIPELINE_ROOT, since, owner)
    # The pipeline copies the collector's silences: a stale pipeline knows only old ones.
    elif not status.is_stale and (silent_at := connection.scalar(text(_SILENT_SINCE))) is not None:
        names = _describe_silence(connection)
        yield service_fault("ingestion", COLLECTOR_ROOT, silent_at, owner, names)


def find_silent_collectors(connection: Connection) -> list[SilentCollector]:
    """Return the silent collectors, the one that has been silent longest first.

    The pipeline judges the silence: the last heartbeat begins an open gap. A collector that ended
    while no other one ran is not silent.
    """
    collector, gap, meta = tables.log_collector.c, tables.ingestion_gap.c, tables.meta.c
    is_open = (gap.started_at == collector.heartbeat_at) & gap.ended_at.is_(None)
    has_ended = select(meta.value).where(meta.name == LOG_LAST_GOODBYE)
    found = (
        select(collector.collector.label("name"), collector.heartbeat_at.label("since"))
        .join(tables.ingestion_gap, is_open)
        .where(collector.collector.not_in(has_ended))
        .order_by(collector.heartbeat_at, collector.collector)
    )
    return convert_rows(SilentCollector, connection.execute(found))


def _describe_silence(connection: Connection) -> str | None:
    """Return the names of silent collectors; None: the silent one has no name."""
    names = sorted(one.name for one in find_silent_collectors(connection))
    if not names:
        return None
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return f"no heartbeat of {', '.join(names[:_MOST_NAMED])}{more}"

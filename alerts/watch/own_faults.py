"""What is wrong with Lineward itself, as faults beside those of datasets."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

import msgspec
from sqlalchemy import Connection, text

from alerts.incidents.estate import MICROS
from alerts.incidents.incident import Found, service_fault
from lineage.states import UNAUTHORIZED_ACCESS

COLLECTOR, PIPELINE, EVENTS = "collector", "pipeline", "events"
# Evaluations come every 15 s while events do, and every 60 s else.
STALE_SECONDS = 120
# A role that fails for as long does not recover by itself soon.
FAILING_SECONDS = 120
_HOUR = 3600 * MICROS
_SILENT = "SELECT min(started_at) FROM ingestion_gap WHERE ended_at IS NULL"
_SET_ASIDE = """
    SELECT min(failed_at) FROM event_set_aside
    WHERE spool_seq NOT IN (SELECT spool_seq FROM event_requeue)
"""
_LET_IN = """
    SELECT min(hour) FROM served_hour WHERE sli = :sli AND good < total AND hour >= :since
"""


class Trouble(msgspec.Struct, frozen=True):
    """A role of Lineward that fails: since when (µs), and the sentence that tells it."""

    since: int
    words: str


NO_TROUBLES: Final[Mapping[str, Trouble]] = MappingProxyType({})


def own_faults(
    connection: Connection,
    evaluated_at: int | None,
    now: int,
    owner: str | None,
    troubles: Mapping[str, Trouble] = NO_TROUBLES,
) -> Iterator[Found]:
    """A silent collector, a pipeline that stands still, events set aside, an access let in wrongly.

    Args:
        connection: of the catalog.
        evaluated_at: of the newest evaluation, µs; none: there was never one, and nothing to miss.
            One that is further ahead was made by a clock that was wrong, and hides what came since.
        now: µs.
        owner: of Lineward itself.
        troubles: by role of `lineward up`.
    """
    found = list(_silent(connection, evaluated_at, now, owner))
    yield from found
    named = {each.root.name for each in found}
    for role, trouble in troubles.items():
        if role not in named and now - trouble.since > FAILING_SECONDS * MICROS:
            yield service_fault("ingestion", role, trouble.since, owner)
    if (set_aside_at := connection.scalar(text(_SET_ASIDE))) is not None:
        yield service_fault("set_aside", EVENTS, set_aside_at, owner)
    # It stands for an hour or two: what happened once does not become good by being over.
    asked = {"sli": UNAUTHORIZED_ACCESS.id, "since": (now // _HOUR - 1) * _HOUR}
    if (let_in_at := connection.scalar(text(_LET_IN), asked)) is not None:
        yield service_fault("access", UNAUTHORIZED_ACCESS.name, let_in_at, owner)


def _silent(
    connection: Connection, evaluated_at: int | None, now: int, owner: str | None
) -> Iterator[Found]:
    if evaluated_at is not None and abs(now - evaluated_at) > STALE_SECONDS * MICROS:
        yield service_fault("ingestion", PIPELINE, evaluated_at, owner)
    elif (silent_at := connection.scalar(text(_SILENT))) is not None:
        yield service_fault("ingestion", COLLECTOR, silent_at, owner)

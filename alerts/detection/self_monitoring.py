"""What is wrong with Lineward itself, as faults beside those of datasets."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

import msgspec
from sqlalchemy import Connection, text

from alerts.detection.evaluation_status import EvaluationStatus
from alerts.incidents.incident import FaultSnapshot, service_fault
from alerts.root_cause.snapshot import MICROS
from lineage.states import UNAUTHORIZED_ACCESS

COLLECTOR, PIPELINE, EVENTS = "collector", "pipeline", "events"
# A role that fails for as long does not recover by itself soon.
FAILING_SECONDS = 120
_HOUR = 3600 * MICROS
_SILENT_SINCE = "SELECT min(started_at) FROM ingestion_gap WHERE ended_at IS NULL"
_SET_ASIDE = """
    SELECT min(failed_at) FROM event_set_aside
    WHERE spool_seq NOT IN (SELECT spool_seq FROM event_requeue)
"""
_UNAUTHORIZED = """
    SELECT min(hour) FROM served_hour WHERE sli = :sli AND good < total AND hour >= :since
"""


class RoleFailure(msgspec.Struct, frozen=True):
    """A role of Lineward that fails: since when (µs), and the sentence that tells it."""

    since: int
    message: str


NO_FAILURES: Final[Mapping[str, RoleFailure]] = MappingProxyType({})


def find_own_faults(
    connection: Connection,
    status: EvaluationStatus,
    owner: str | None,
    troubles: Mapping[str, RoleFailure] = NO_FAILURES,
) -> Iterator[FaultSnapshot]:
    """A silent collector, a pipeline that stands still, events set aside, an access let in wrongly.

    Args:
        connection: of the catalog.
        status: of the newest evaluation, and the clock.
        owner: of Lineward itself.
        troubles: by role of `lineward up`.
    """
    now = status.now
    found = list(_find_silence(connection, status, owner))
    yield from found
    named = {each.root.name for each in found}
    for role, trouble in troubles.items():
        if role not in named and now - trouble.since > FAILING_SECONDS * MICROS:
            yield service_fault("ingestion", role, trouble.since, owner)
    if (set_aside_at := connection.scalar(text(_SET_ASIDE))) is not None:
        yield service_fault("set_aside", EVENTS, set_aside_at, owner)
    # It stands for an hour or two: what happened once does not become good by being over.
    asked = {"sli": UNAUTHORIZED_ACCESS.id, "since": (now // _HOUR - 1) * _HOUR}
    if (let_in_at := connection.scalar(text(_UNAUTHORIZED), asked)) is not None:
        yield service_fault("access", UNAUTHORIZED_ACCESS.name, let_in_at, owner)


def _find_silence(
    connection: Connection, status: EvaluationStatus, owner: str | None
) -> Iterator[FaultSnapshot]:
    if (since := status.overdue_since) is not None:
        yield service_fault("ingestion", PIPELINE, since, owner)
    # The pipeline copies the collector's silences: while it stands still, the last is of then.
    elif not status.is_stale and (silent_at := connection.scalar(text(_SILENT_SINCE))) is not None:
        yield service_fault("ingestion", COLLECTOR, silent_at, owner)

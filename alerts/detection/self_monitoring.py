"""Find faults of Lineward itself: they become incidents beside those of datasets."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

import msgspec
from sqlalchemy import Connection, text

from alerts.detection.evaluation_status import EvaluationStatus
from alerts.incidents.detected_fault import DetectedFault, service_fault
from lineage.process.clock import SECOND_MICROS
from lineage.states import UNAUTHORIZED_ACCESS

COLLECTOR, PIPELINE, EVENTS = "collector", "pipeline", "events"
# A role that has failed for so long does not recover by itself soon.
FAILING_SECONDS = 120
_HOUR = 3600 * SECOND_MICROS
_SILENT_SINCE = "SELECT min(started_at) FROM ingestion_gap WHERE ended_at IS NULL"
_SET_ASIDE = """
    SELECT min(failed_at) FROM event_set_aside
    WHERE spool_seq NOT IN (SELECT spool_seq FROM event_requeue)
"""
_UNAUTHORIZED = """
    SELECT min(hour) FROM served_hour WHERE sli = :sli AND good < total AND hour >= :since
"""


class RoleFailure(msgspec.Struct, frozen=True):
    """Role of Lineward that fails.

    Attributes:
        since: when it began to fail, µs.
        message: how it fails.
    """

    since: int
    message: str


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
        overdue = status.evidence if each.name == PIPELINE else None
        yield msgspec.structs.replace(each, message=failure.message if failure else overdue)


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
        yield service_fault("set_aside", EVENTS, set_aside_at, owner)
    # Reported for one to two hours: an access that was allowed cannot recover.
    hours = {"sli": UNAUTHORIZED_ACCESS.id, "since": (now // _HOUR - 1) * _HOUR}
    if (allowed_at := connection.scalar(text(_UNAUTHORIZED), hours)) is not None:
        yield service_fault("access", UNAUTHORIZED_ACCESS.name, allowed_at, owner)


def _find_silence(
    connection: Connection, status: EvaluationStatus, owner: str | None
) -> Iterator[DetectedFault]:
    if (since := status.overdue_since) is not None:
        yield service_fault("ingestion", PIPELINE, since, owner)
    # The pipeline copies the collector's silences: a stale pipeline knows only old ones.
    elif not status.is_stale and (silent_at := connection.scalar(text(_SILENT_SINCE))) is not None:
        yield service_fault("ingestion", COLLECTOR, silent_at, owner)

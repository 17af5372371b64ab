"""Status of Lineward itself: roles, backlog, rejected events, and states of datasets."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from lineage.catalog.meta_keys import BEHIND_SINCE, EVENTS_WAIT_SINCE
from lineage.catalog.queries import CURSOR
from lineage.catalog.reader import CatalogReader, NoCatalogError, open_reader, rows_for
from lineage.catalog.revision import require_revision
from lineage.catalog.trouble import CatalogError
from lineage.process.clock import to_micros
from lineage.process.disk import disk_problem
from service.ingest.collector_spool import LAST_STORED, first_figure, open_read_only, read_waiting
from service.queries.applications import KubernetesStatus, kubernetes_status
from service.queries.catalog_session import unreachable_error
from service.queries.datasets import counts_by_state
from service.queries.roles import (
    RolePolicy,
    RoleStatus,
    ServiceLeader,
    find_leader,
    policies_noted,
    roles_of,
    status_policies,
)
from service.queries.run_shapes import IsoTime
from service.queries.set_aside import count_set_aside
from service.queries.timestamps import Evaluated, iso, last_evaluation, seconds_between
from service.runtime.data_folder import open_to_others
from service.runtime.jobs import PeriodicJobState
from service.runtime.settings import Settings

if TYPE_CHECKING:  # the policy brings YAML, which `lineward status` cannot wait for
    from lineage.policy.file import PolicyState

_WAITS = "SELECT name, value FROM meta WHERE name IN (:keys)"
_ALIVE_MICROS = 5_000_000  # the collector sends a heartbeat each second

_LOG_RECORDS: Final = """
SELECT SUM(CASE WHEN end_offset > next_offset THEN end_offset - next_offset ELSE 0 END)
FROM log_position
"""
_OLDEST_EVENT: Final = f"SELECT value FROM meta WHERE name = '{EVENTS_WAIT_SINCE}'"  # noqa: S608 - a constant


class SpoolStatus(msgspec.Struct, frozen=True):
    """Spool of the collector; null as a whole where no spool is beside us.

    `alive`: its heartbeat is within 5 s of now; one further ahead is of a wrong clock.
    """

    heartbeat_at: IsoTime | None
    alive: bool
    last_seq: int  # number of the newest event; each stored event takes one
    rejected: int


class Status(msgspec.Struct, frozen=True):
    """Answer of `lineward status` and `/api/v1/status`."""

    data_dir: str
    up: bool  # `lineward up` runs on this data folder, on this machine
    roles: list[RoleStatus]
    collector: SpoolStatus | None
    backlog_events: int | None  # spooled and not yet in the catalog
    last_batch_at: IsoTime | None
    evaluated_at: IsoTime | None
    evaluation_age_seconds: float | None
    evaluation_seconds: float | None
    stale: bool
    pipeline_errors: int | None
    datasets: dict[str, int] | None  # by state
    policies: list[RolePolicy]  # of service and pipeline, as far as they noted it
    partial: bool
    partial_reason: str | None
    warnings: list[str] = []  # of the machine: a full disk, a data folder that others may read
    set_aside_events: int | None = None  # failed alone, and not posted again
    # No incident opens or resolves since then: the evaluations lack events that were received more
    # than a minute before them. Null: incidents do not wait.
    incidents_wait_since: IsoTime | None = None
    events_wait_since: IsoTime | None = None  # when the oldest of these events was received
    leader: ServiceLeader | None = None  # of the services; null: none has led yet
    kubernetes: KubernetesStatus | None = None  # null: nothing was ever watched
    jobs: list[
        PeriodicJobState
    ] = []  # periodic, of the roles that have written them within a minute


class _Catalog(msgspec.Struct, frozen=True):
    evaluated: Evaluated
    cursor: int
    records_waiting: int | None  # in a log in Kafka
    last_batch: int | None
    errors: int
    set_aside: int
    waits: dict[str, int]  # `BEHIND_SINCE` and `EVENTS_WAIT_SINCE`, while incidents wait
    datasets: dict[str, int] | None
    policies: dict[str, RolePolicy]
    leader: ServiceLeader | None
    kubernetes: KubernetesStatus | None


def load_status(
    settings: Settings,
    now: datetime,
    *,
    count_datasets: bool = True,
    own_policy: "PolicyState | None" = None,
    jobs: Sequence[PeriodicJobState] = (),
) -> Status:
    """Return the status; missing parts are null, and `partial_reason` names them.

    `own_policy`: of the service that asks; it replaces what it stored. `jobs`: of each role.
    """
    spool = spool_status(settings.spool, now)
    catalog = _catalog(settings, now, count_datasets=count_datasets)
    up, roles = roles_of(settings.data_dir)
    is_missing = {"spool": spool is None and not settings.is_shipped, "catalog": catalog is None}
    missing = [name for name, is_so in is_missing.items() if is_so]
    evaluated = catalog.evaluated if catalog else Evaluated(as_of=None, seconds=None, stale=True)
    return Status(
        data_dir=str(settings.data_dir.absolute()),
        up=up,
        roles=roles,
        collector=spool,
        backlog_events=_backlog(settings, spool, catalog),
        last_batch_at=iso(catalog.last_batch) if catalog else None,
        evaluated_at=evaluated.at,
        evaluation_age_seconds=seconds_between(evaluated.as_of, to_micros(now)),
        evaluation_seconds=evaluated.seconds,
        stale=evaluated.stale,
        pipeline_errors=catalog.errors if catalog else None,
        datasets=catalog.datasets if catalog else None,
        policies=status_policies(own_policy, catalog.policies if catalog else None),
        partial=bool(missing),
        partial_reason=f"no {' and no '.join(missing)} yet" if missing else None,
        warnings=warnings_of(settings.data_dir),
        set_aside_events=catalog.set_aside if catalog else None,
        incidents_wait_since=iso(catalog.waits.get(BEHIND_SINCE)) if catalog else None,
        events_wait_since=iso(catalog.waits.get(EVENTS_WAIT_SINCE)) if catalog else None,
        leader=catalog.leader if catalog else None,
        kubernetes=catalog.kubernetes if catalog else None,
        jobs=list(jobs),
    )


def _backlog(settings: Settings, spool: SpoolStatus | None, catalog: _Catalog | None) -> int | None:
    if catalog is None or settings.is_shipped:
        return None if catalog is None else catalog.records_waiting
    return None if spool is None else read_waiting(settings.spool, catalog.cursor)


def warnings_of(data_dir: Path) -> list[str]:
    """Return sentences on the machine: a full disk, a data folder that others may read."""
    return [text for text in (disk_problem(data_dir), open_to_others(data_dir)) if text]


def _catalog(settings: Settings, now: datetime, *, count_datasets: bool) -> _Catalog | None:
    try:
        with open_reader(settings.catalog) as reader:
            require_revision(reader)
            stale = settings.stale_evaluation_seconds
            evaluated = last_evaluation(reader, now=now, stale_seconds=stale)
            cursors = reader.rows(CURSOR, {"reader": "pipeline"})
            return _Catalog(
                evaluated=evaluated,
                cursor=cursors[0][0] if cursors else 0,
                records_waiting=records_waiting(reader),
                last_batch=reader.rows("SELECT MAX(landed_at) FROM batch")[0][0],
                errors=reader.rows("SELECT COUNT(*) FROM pipeline_error")[0][0],
                set_aside=count_set_aside(reader),
                waits=_waits(reader),
                datasets=counts_by_state(reader, evaluated) if count_datasets else None,
                policies=policies_noted(reader),
                leader=find_leader(reader),
                kubernetes=kubernetes_status(reader, now),
            )
    except NoCatalogError:
        return None
    except CatalogError as error:
        raise unreachable_error(error) from error


def _waits(reader: CatalogReader) -> dict[str, int]:
    """Return what incidents wait for; empty where they do not wait."""
    noted = rows_for(reader, _WAITS, (BEHIND_SINCE, EVENTS_WAIT_SINCE))
    times = {name: int(value) for name, value in noted}
    return times if times.get(BEHIND_SINCE) else {}


def spool_status(path: Path, now: datetime) -> SpoolStatus | None:
    """Return what the spool beside us holds; None without one."""
    with open_read_only(path) as spool:
        if spool is None:
            return None
        heartbeat = first_figure(spool, "SELECT beat_at FROM heartbeat")
        return SpoolStatus(
            heartbeat_at=iso(heartbeat),
            alive=heartbeat is not None and abs(to_micros(now) - heartbeat) <= _ALIVE_MICROS,
            last_seq=first_figure(spool, LAST_STORED) or 0,
            rejected=first_figure(spool, "SELECT COUNT(*) FROM rejected") or 0,
        )


def records_waiting(reader: CatalogReader) -> int | None:
    """Return the records behind the pipeline's position; None before the first batch."""
    records = reader.rows(_LOG_RECORDS)[0][0]
    return None if records is None else int(records)


def oldest_since(reader: CatalogReader) -> int | None:
    """Return when the oldest event that had not landed at the last evaluation was received, µs."""
    rows = reader.rows(_OLDEST_EVENT)
    return int(rows[0][0]) or None if rows else None

"""How Lineward itself is: its roles, what waits, what was refused, and how datasets stand."""

from datetime import datetime
from pathlib import Path

import msgspec

from lineage.catalog.reader import NoCatalogError, UnreachableCatalogError, open_reader
from lineage.clock import to_micros
from service.answers.datasets import counts_by_state
from service.answers.moments import Evaluated, iso, last_evaluation, seconds_between
from service.answers.run_shapes import Instant
from service.asking import unreachable
from service.occupancy import is_held
from service.settings import Settings
from service.spool import LAST_SEQ, first, reading

_ALIVE_MICROS = 5_000_000  # the collector beats each second


class Role(msgspec.Struct, frozen=True):
    """A child of `lineward up`."""

    role: str
    state: str  # running | restarting | stopped
    pid: int | None
    restarts: int


class SpoolStatus(msgspec.Struct, frozen=True):
    """What the collector holds; null in place of all of it where no spool is beside us.

    `alive`: it beat within 5 s. A beat that is further ahead was one of a clock that was wrong.
    """

    heartbeat_at: Instant | None
    alive: bool
    last_seq: int
    rejected: int


class Status(msgspec.Struct, frozen=True):
    """The answer of `lineward status` and `/api/v1/status`."""

    data_dir: str
    up: bool  # `lineward up` runs on this data folder, on this machine
    roles: list[Role]
    collector: SpoolStatus | None
    backlog_events: int | None  # spooled and not yet in the catalog
    last_batch_at: Instant | None
    evaluated_at: Instant | None
    evaluation_age_seconds: float | None
    evaluation_seconds: float | None
    stale: bool
    pipeline_errors: int | None
    datasets: dict[str, int] | None  # by state
    partial: bool
    partial_reason: str | None


class _Catalog(msgspec.Struct, frozen=True):
    evaluated: Evaluated
    cursor: int
    last_batch: int | None
    errors: int
    datasets: dict[str, int] | None


def status(settings: Settings, now: datetime, *, count_datasets: bool = True) -> Status:
    """What can be said; what is not there yet is null, and `partial_reason` says so."""
    spool = _spool(settings.spool, now)
    catalog = _catalog(settings, now, count_datasets=count_datasets)
    up, roles = roles_of(settings.data_dir)
    missing = [name for name, part in (("spool", spool), ("catalog", catalog)) if part is None]
    evaluated = catalog.evaluated if catalog else Evaluated(as_of=None, seconds=None, stale=True)
    return Status(
        data_dir=str(settings.data_dir.absolute()),
        up=up,
        roles=roles,
        collector=spool,
        backlog_events=max(0, spool.last_seq - catalog.cursor) if spool and catalog else None,
        last_batch_at=iso(catalog.last_batch) if catalog else None,
        evaluated_at=evaluated.at,
        evaluation_age_seconds=seconds_between(evaluated.as_of, to_micros(now)),
        evaluation_seconds=evaluated.seconds,
        stale=evaluated.stale,
        pipeline_errors=catalog.errors if catalog else None,
        datasets=catalog.datasets if catalog else None,
        partial=bool(missing),
        partial_reason=f"there is no {' and no '.join(missing)} yet" if missing else None,
    )


def _catalog(settings: Settings, now: datetime, *, count_datasets: bool) -> _Catalog | None:
    try:
        with open_reader(settings.catalog) as reader:
            stale = settings.stale_evaluation_seconds
            evaluated = last_evaluation(reader, now=now, stale_seconds=stale)
            cursors = reader.rows("SELECT seq FROM reader_cursor WHERE reader = 'pipeline'")
            return _Catalog(
                evaluated=evaluated,
                cursor=cursors[0][0] if cursors else 0,
                last_batch=reader.rows("SELECT MAX(landed_at) FROM batch")[0][0],
                errors=reader.rows("SELECT COUNT(*) FROM pipeline_error")[0][0],
                datasets=counts_by_state(reader, evaluated) if count_datasets else None,
            )
    except NoCatalogError:
        return None
    except UnreachableCatalogError as error:
        raise unreachable(error) from error


def _spool(path: Path, now: datetime) -> SpoolStatus | None:
    with reading(path) as spool:
        if spool is None:
            return None
        beat = first(spool, "SELECT beat_at FROM heartbeat")
        return SpoolStatus(
            heartbeat_at=iso(beat),
            alive=beat is not None and abs(to_micros(now) - beat) <= _ALIVE_MICROS,
            last_seq=first(spool, LAST_SEQ) or 0,
            rejected=first(spool, "SELECT COUNT(*) FROM rejected") or 0,
        )


def roles_of(data_dir: Path) -> tuple[bool, list[Role]]:
    """What the supervisor wrote last; of a supervisor that is gone, every role is stopped."""
    path = data_dir / "run" / "status.json"
    if not path.is_file():
        return False, []
    roles = msgspec.json.decode(path.read_bytes(), type=list[Role])
    alive = is_held(path.with_name("up.lock"))
    return alive, roles if alive else [Role(r.role, "stopped", None, r.restarts) for r in roles]

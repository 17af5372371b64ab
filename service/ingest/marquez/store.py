"""Catalog rows of the marquez role, each written in one small transaction."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import structlog
from sqlalchemy import Connection, Engine, Table, delete, func, insert, select, update
from sqlalchemy.exc import OperationalError
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_fixed

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.tables.marquez import READER
from lineage.process.clock import DAY_MICROS

_T = TypeVar("_T")
_MAX_SET_ASIDE_ROWS = 1_000
_MAX_SET_ASIDE_BYTES = 65_536
_PROBES_KEPT_MICROS = 7 * DAY_MICROS
_BUSY_SECONDS = 1.0
_log = structlog.get_logger()


class SetAsideRow(msgspec.Struct, frozen=True):
    """Event that Marquez does not accept; instants in µs."""

    spool_seq: int
    run: str
    reason: str
    detail: str
    body: bytes
    body_bytes: int
    set_aside_at: int


class PullState(msgspec.Struct, frozen=True):
    """Progress of the pull from one Marquez, by the producers' time; µs."""

    started_at: int
    through: int


class Probe(msgspec.Struct, frozen=True):
    """Probe of Marquez. `seconds`: of a lineage query that was answered 200."""

    at: int
    is_answered: bool
    seconds: float | None
    status: int | None
    detail: str


class Comparison(msgspec.Struct, frozen=True):
    """Sample of runs, looked for on the other side."""

    at: int
    sampled_ours: int
    missing_there: int
    sampled_theirs: int
    missing_here: int


class MissingRunRow(msgspec.Struct, frozen=True):
    """Run that one side has and the other, `there` or `here`, has not."""

    side: str
    run_id: str
    job_namespace: str
    job_name: str


class Store:
    """Tables of the marquez role; it is their one writer."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def cursor(self) -> int:
        """Return how far the spool was forwarded; the first time write 0, so that events wait."""
        cursor = tables.reader_cursor
        with write_transaction(self._engine) as connection:
            found = connection.scalar(select(cursor.c.seq).where(cursor.c.reader == READER))
            if found is None:
                connection.execute(insert(cursor).values(reader=READER, seq=0))
            return found or 0

    def note_forwarded(self, seq: int, events: int) -> None:
        """Record that all up to and with `seq` is done; `events` were sent since the last note."""
        with write_transaction(self._engine) as connection:
            _put(connection, tables.reader_cursor, {"reader": READER}, {"seq": seq})
            _count(connection, {"forwarded": events})

    def set_aside(self, row: SetAsideRow) -> None:
        """Keep the newest 1,000, each cut to 64 KiB; a repeat of one counts once."""
        table = tables.marquez_set_aside
        given = msgspec.structs.asdict(row) | {"body": row.body[:_MAX_SET_ASIDE_BYTES]}
        with write_transaction(self._engine) as connection:
            if _put(connection, table, {"spool_seq": given.pop("spool_seq")}, given):
                _count(connection, {f"set_aside:{row.reason}": 1})
            newest = select(table.c.spool_seq).order_by(table.c.spool_seq.desc())
            kept = newest.limit(_MAX_SET_ASIDE_ROWS).scalar_subquery()
            connection.execute(delete(table).where(table.c.spool_seq.not_in(kept)))

    def pull_state(self, url: str, now: int) -> PullState:
        """Return how far this Marquez was pulled; the first time it begins now."""
        table = tables.marquez_pull
        with write_transaction(self._engine) as connection:
            row = connection.execute(select(table).where(table.c.url == url)).first()
            if row is not None:
                return PullState(row.started_at, row.through)
            connection.execute(insert(table).values(url=url, started_at=now, through=now))
            return PullState(now, now)

    def note_pulled(self, url: str, through: int, *, taken: int, rejected: int) -> None:
        """Store that events up to `through` were requested, and that they are in the spool.

        Args:
            url: of the Marquez.
            through: µs of the producers' time.
            taken: by the collector since the last note.
            rejected: likewise.
        """
        with write_transaction(self._engine) as connection:
            values = {"through": through}
            connection.execute(
                update(tables.marquez_pull).where(tables.marquez_pull.c.url == url).values(values)
            )
            _count(connection, {"pulled": taken, "pull_refused": rejected})

    def note_probe(self, probe: Probe) -> None:
        """Keep it, and those of a week."""
        table = tables.marquez_probe
        given = msgspec.structs.asdict(probe)
        with write_transaction(self._engine) as connection:
            _put(connection, table, {"at": given.pop("at")}, given)
            connection.execute(delete(table).where(table.c.at < probe.at - _PROBES_KEPT_MICROS))

    def note_comparison(
        self, found: Comparison, missing: Sequence[MissingRunRow], rejected: int = 0
    ) -> None:
        """Keep the counts of all comparisons of a week, and the examples of the last.

        Args:
            found: of those runs that were answered for.
            missing: examples.
            rejected: runs of ours of which Marquez would not say whether it knows them.
        """
        table = tables.marquez_comparison
        given = msgspec.structs.asdict(found)
        with write_transaction(self._engine) as connection:
            _put(connection, table, {"at": given.pop("at")}, given)
            connection.execute(delete(table).where(table.c.at < found.at - _PROBES_KEPT_MICROS))
            connection.execute(delete(tables.marquez_missing_run))
            if missing:
                rows = [msgspec.structs.asdict(row) for row in missing]
                connection.execute(insert(tables.marquez_missing_run), rows)
            if rejected:
                _count(connection, {"compare_refused": rejected})

    def sample_of_runs(self, since: int, until: int, most: int) -> list[tuple[str, str, str]]:
        """Return any runs that landed in [since, until): (run id, job namespace, job name).

        Runs known from evidence only sent no event: they cannot be there, and have ids of our own.
        """
        run = tables.run
        # The key is a hash: its order is as good as chance, and needs no chance.
        question = select(run.c.run_id, run.c.job_namespace, run.c.job_name).where(
            run.c.landed_at >= since,
            run.c.landed_at < until,
            run.c.is_history.is_(False),
            func.coalesce(run.c.evidence, "") != "alone",
        )
        with self._engine.connect() as connection:
            rows = connection.execute(question.order_by(run.c.run_key).limit(most))
            return [(row.run_id, row.job_namespace, row.job_name) for row in rows]

    def known_runs(self, run_ids: Sequence[str]) -> set[str]:
        """Return which of these the catalog has, in lower case; some producers write upper case."""
        run_id = tables.run.c.run_id
        spelt = [*run_ids, *(given.upper() for given in run_ids)]
        with self._engine.connect() as connection:
            question = select(func.lower(run_id)).where(run_id.in_(spelt))
            return set(connection.scalars(question))


async def in_catalog(work: Callable[..., _T], *arguments: Any, **named: Any) -> _T:  # noqa: ANN401 - of `work`
    """Call `work` in a thread; repeat it while the catalog is locked or cannot be reached."""
    retrying = AsyncRetrying(
        retry=retry_if_exception_type(OperationalError),
        wait=wait_fixed(_BUSY_SECONDS),
        before_sleep=_say_busy,
    )
    found: _T = await retrying(asyncio.to_thread, work, *arguments, **named)
    return found


def _say_busy(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    _log.warning("catalog_busy", attempt=state.attempt_number, error=str(error)[:200])


def _put(
    connection: Connection, table: Table, key: Mapping[str, Any], values: Mapping[str, Any]
) -> bool:
    """Write the row of the key; whether it is new."""
    same = [table.c[name] == value for name, value in key.items()]
    if connection.execute(update(table).where(*same).values(**values)).rowcount:
        return False
    connection.execute(insert(table).values(**key, **values))
    return True


def _count(connection: Connection, counts: Mapping[str, int]) -> None:
    table = tables.marquez_counter
    for name, count in counts.items():
        more = update(table).where(table.c.name == name).values(value=table.c.value + count)
        if not connection.execute(more).rowcount:
            connection.execute(insert(table).values(name=name, value=count))

"""Auditor that judges each new access in the audit log once, and deletes old rows."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import structlog
from sqlalchemy import Connection, Engine, delete, func, select

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.upsert import fold_rows, lock_row
from lineage.periods import Monotonic, Period
from lineage.process.clock import DAY_MICROS, Clock, to_micros
from lineage.states import UNAUTHORIZED_ACCESS
from service.api.access.judge import AccessFileVersion, access_fault
from service.api.served.counter_buffer import CountBatch, add_batch

DENIED_METRIC, UNAUTHORIZED_METRIC = "lineage_access_denied", "lineage_access_unauthorized"
_CURSOR = "access"
_MOST_ROWS = 5_000
_MOST_DENIED = 100_000
_LOOK_AFTER = 1_000
GROUPED = "grouped"  # the action of a row that stands for many
_PRUNE_SECONDS = 3_600.0
_PRUNED_ROWS = 10_000
_log = structlog.get_logger()


class AccessAuditor:
    """Auditor of the leader of several services; called once a second.

    What it finds is counted in the transaction that says that it was judged.
    """

    def __init__(
        self, clock: Clock, *, keep_days: int, monotonic: Monotonic = time.monotonic
    ) -> None:
        self._versions: list[AccessFileVersion] = []
        self._denied = 0  # rows of rejections since the surplus was looked for
        self._clock = clock
        self._keep_days = keep_days
        self._prunings = Period(_PRUNE_SECONDS, monotonic)

    def __call__(self, engine: Engine) -> None:
        """Judge what is new."""
        with engine.connect() as connection:
            self._versions = stored_versions(connection, self._versions)
            after = _position(connection)
            rows = _rows_after(connection, after)
        if rows:
            self._add(engine, audited_rows(rows, self._versions), after, rows)
        if self._prunings.is_due() or self._denied >= _LOOK_AFTER:
            with self._prunings.turn():
                self._prune(engine)

    def _add(
        self, engine: Engine, found: CountBatch, after: int, rows: list[dict[str, Any]]
    ) -> None:
        with write_transaction(engine) as connection:
            if _locked_position(connection) != after:
                return  # another service judged them
            add_batch(connection, found)
            moved = [{"name": _CURSOR, "position": rows[-1]["id"]}]
            fold_rows(connection, tables.service_cursor, moved)
        self._denied += sum(row["decision"] != "allow" for row in rows)

    def _prune(self, engine: Engine) -> None:
        """Delete old rows, and rows of rejections beyond the bound, in slices."""
        now = to_micros(self._clock())
        audit = tables.access_audit
        old = audit.c.at < now - self._keep_days * DAY_MICROS
        denied = select(audit.c.id).where(audit.c.decision == "deny")
        # Who has no token can have a row written by asking: those rows are bounded in number.
        surplus = denied.order_by(audit.c.id.desc()).offset(_MOST_DENIED).limit(1)
        with engine.connect() as connection:
            judged_to = _position(connection)
            beyond = connection.scalar(surplus) or 0
        is_surplus = (audit.c.decision == "deny") & (audit.c.id <= beyond)
        gone = select(audit.c.id).where(audit.c.id <= judged_to, old | is_surplus)
        slice_ = delete(audit).where(audit.c.id.in_(gone.limit(_PRUNED_ROWS)))
        is_more = True
        while is_more:
            with write_transaction(engine) as connection:
                is_more = connection.execute(slice_).rowcount == _PRUNED_ROWS
        self._denied = 0


def audited_rows(
    rows: Iterable[dict[str, Any]], versions: Sequence[AccessFileVersion]
) -> CountBatch:
    """Count rows of the audit log: accesses for M10, denials for their own counter."""
    batch = CountBatch()
    for row in rows:
        if row["action"] == GROUPED:
            continue  # counted when it was written: it stands for many
        if row["decision"] != "allow":
            batch.counts[DENIED_METRIC, row["reason"]] += 1
            continue
        fault = access_fault(row, versions)
        if fault is None:
            batch.count(UNAUTHORIZED_ACCESS, row["at"], "good")
        else:
            count_bad(
                batch, fault, row["at"], {name: row[name] for name in ("id", "who", "action")}
            )
    return batch


def stored_versions(
    connection: Connection, known: Sequence[AccessFileVersion] = ()
) -> list[AccessFileVersion]:
    """Return all versions, oldest first; those in `known` are not read again."""
    table = tables.access_version
    last = known[-1].since if known else -1
    rows = connection.execute(
        select(table).where(table.c.in_force_from > last).order_by(table.c.in_force_from)
    ).mappings()
    return [
        *known,
        *(
            msgspec.convert(
                {
                    "since": row["in_force_from"],
                    "hash": row["hash"],
                    "tokens": msgspec.json.decode(row["content"]),
                },
                AccessFileVersion,
            )
            for row in rows
        ),
    ]


def count_bad(batch: CountBatch, fault: str, at: int, facts: dict[str, Any]) -> None:
    """Count an access that the policy did not allow, and log what is known of it."""
    batch.count(UNAUTHORIZED_ACCESS, at, "bad")
    batch.counts[UNAUTHORIZED_METRIC, fault] += 1
    _log.error("unauthorized_access", fault=fault, **facts)


def _rows_after(connection: Connection, after: int) -> list[dict[str, Any]]:
    audit = tables.access_audit
    query = select(audit).where(audit.c.id > after).order_by(audit.c.id).limit(_MOST_ROWS)
    return [dict(row) for row in connection.execute(query).mappings()]


def _position(connection: Connection) -> int:
    """Return the last audited row."""
    table = tables.service_cursor
    found = connection.scalar(select(func.max(table.c.position)).where(table.c.name == _CURSOR))
    return found or 0


def _locked_position(connection: Connection) -> int:
    """Return the last audited row, locked until this transaction ends."""
    lock_row(connection, tables.service_cursor, {"name": _CURSOR, "position": 0})
    return _position(connection)

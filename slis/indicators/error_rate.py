"""M9 error rate: of the events received, how many were neither rejected nor failed?

Counts of rows, by SQL: a Spark job for a handful of sums would cost more than all that it adds.
What was counted is remembered by position, in the transaction that adds it: neither a restart nor
a pruned row counts anything twice, or not at all. Ids of rejected bodies in the collector's spool
are given once and without a hole, so what was pruned before it was seen is known by number, if no
longer by cause.
"""

import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

import msgspec
from sqlalchemy import Connection, Engine, select, text

from lineage import origins
from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.upsert import add_up, fold_rows
from lineage.process.clock import HOUR_MICROS, Clock, to_micros
from lineage.states import ALL_TIERS, ERROR_RATE
from slis.evaluation.counters import Amounts, add_to_hours, counter_epoch
from slis.stream.log.spool_reader import open_spool_to_read

PRUNED = "pruned"
HISTORY, LIVE = "history", "live"

_LAST = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'rejected'"
_OF_HISTORY = ", ".join(f"'{origin}'" for origin in origins.OF_HISTORY)
_SINCE = f"""
    SELECT received_at / :hour * :hour, reason,
        CASE WHEN origin IN ({_OF_HISTORY}) THEN '{HISTORY}' ELSE '{LIVE}' END, count(*)
    FROM rejected WHERE id > :after AND id <= :last GROUP BY 1, 2, 3
"""  # noqa: S608 - words of ours

_SPOOL, _REJECTED = "spool", "rejected"
_ACCEPTED = """
    SELECT landed_at / :hour * :hour AS hour, sum(events - history) AS events,
        max(last_seq) AS last_seq
    FROM batch WHERE last_seq > :after GROUP BY 1
"""
_FAILED = """
    SELECT b.landed_at / :hour * :hour, e.reason,
        CASE WHEN e.is_history THEN 'history' ELSE 'live' END, count(*)
    FROM pipeline_error e
    JOIN batch b ON e.spool_seq > b.after_seq AND e.spool_seq <= b.last_seq
    WHERE b.last_seq > :after AND b.last_seq <= :last GROUP BY 1, 2, 3
"""
Cause = tuple[str, str, str]  # stage, cause, live or history
_Counts = Sequence[tuple[int, str, str, int]]


class Rejections(msgspec.Struct, frozen=True):
    """Bodies rejected up to id `last`.

    Attributes:
        last: the newest id that the spool has given.
        counts: (start of the hour in µs, cause, live or history, bodies).
    """

    last: int
    counts: list[tuple[int, str, str, int]]


def rejections_since(spool: Path, after: int, clock: Clock) -> Rejections | None:
    """Return what was rejected behind id `after`; None while the spool is not ready.

    A spool that has given fewer ids than `after` is an older copy: what it rejected is counted from
    its own end on.
    """
    if not spool.exists():
        return None
    try:
        with closing(open_spool_to_read(spool)) as connection:
            connection.execute("BEGIN")  # one moment: the collector rejects and prunes meanwhile
            last = int(connection.execute(_LAST).fetchone()[0])
            given = {"after": after, "last": last, "hour": HOUR_MICROS}
            counts = connection.execute(_SINCE, given).fetchall()
    except sqlite3.OperationalError:
        # The collector is about to create its tables, or to complete those of an older release.
        return None
    unseen = last - after - sum(count for _, _, _, count in counts)
    if unseen > 0:
        hour = to_micros(clock()) // HOUR_MICROS * HOUR_MICROS
        counts.append((hour, PRUNED, LIVE, unseen))
    return Rejections(last, counts)


class HourlyEvents(msgspec.Struct, frozen=True):
    """Live events by the hour in which they landed, or were rejected, and what failed, by cause."""

    total: Counter[int]
    bad: Counter[int]
    causes: Counter[Cause]
    last_seq: int
    last_rejected: int

    def amounts(self) -> Amounts:
        """Return the good and total of each hour."""
        return {
            (ERROR_RATE.id, ALL_TIERS, hour): (float(total - self.bad[hour]), float(total), 0.0)
            for hour, total in self.total.items()
        }


def count_received(engine: Engine, spool: Path, clock: Clock) -> bool:
    """Count what was received since the last call; whether there was anything.

    While the spool cannot be read nothing is counted, not even what landed: without what was
    rejected the rate would look better than it is. It is counted later.
    """
    with engine.connect() as connection:
        at = _positions(connection)
    rejected = rejections_since(spool, at.get(_REJECTED, 0), clock)
    return rejected is not None and _count(engine, at, rejected, clock)


def count_landed(engine: Engine, clock: Clock) -> bool:
    """Count what landed since the last call, where rejected bodies are counted with their batch."""
    with engine.connect() as connection:
        at = _positions(connection)
    return _count(engine, at, Rejections(at.get(_REJECTED, 0), []), clock)


def add_failures(connection: Connection, stage: str, counts: _Counts, now: datetime) -> None:
    """Count events that failed and never landed, in the transaction that knows them.

    Args:
        connection: inside that transaction.
        stage: collector or pipeline.
        counts: (start of the hour in µs, cause, live or history, events).
        now: by our clock.
    """
    bad: Counter[int] = Counter()
    causes: Counter[Cause] = Counter()
    for hour, cause, origin, count in counts:
        causes[stage, cause, origin] += count
        bad[hour] += count if origin != HISTORY else 0
    _add(connection, HourlyEvents(Counter(bad), bad, causes, 0, 0), now)


def _count(engine: Engine, at: dict[str, int], rejected: Rejections, clock: Clock) -> bool:
    with engine.connect() as connection:
        found = _counted(connection, at.get(_SPOOL, 0), rejected)
    moved = {_SPOOL: found.last_seq, _REJECTED: found.last_rejected}
    if all(at.get(source, 0) == position for source, position in moved.items()):
        return False
    with exclusive_transaction(engine) as connection:
        # Another pipeline may have counted the same since: it says so by its positions.
        if _positions(connection) == at:
            _add(connection, found, clock())
            _move(connection, moved)
    return True


def _positions(connection: Connection) -> dict[str, int]:
    table = tables.received_cursor
    rows = connection.execute(select(table.c.source, table.c.position))
    return {source: position for source, position in rows}  # noqa: C416 - rows of two


def _counted(connection: Connection, after: int, rejected: Rejections) -> HourlyEvents:
    accepted = connection.execute(text(_ACCEPTED), {"hour": HOUR_MICROS, "after": after}).all()
    last = max((int(row.last_seq) for row in accepted), default=after)
    given = {"hour": HOUR_MICROS, "after": after, "last": last}
    failed = connection.execute(text(_FAILED), given).all()
    total = Counter({int(row.hour): int(row.events) for row in accepted if row.events})
    bad: Counter[int] = Counter()
    causes: Counter[Cause] = Counter()
    for stage, rows in (("pipeline", failed), ("collector", rejected.counts)):
        for hour, cause, origin, count in rows:
            causes[stage, cause, origin] += count
            if origin != HISTORY:
                bad[hour] += count
                # What landed is among the accepted; what was rejected never was.
                total[hour] += count if stage == "collector" else 0
    return HourlyEvents(total, bad, causes, last, rejected.last)


def _add(connection: Connection, found: HourlyEvents, now: datetime) -> None:
    causes = [
        {"stage": stage, "cause": cause, "origin": origin, "events": count}
        for (stage, cause, origin), count in found.causes.items()
    ]
    fold_rows(connection, tables.error_count, causes, {"events": add_up})
    total, bad = found.total.total(), found.bad.total()
    if total:
        labels = {"sli": ERROR_RATE.id, "tier": ALL_TIERS, "tier_origin": "default"}
        amounts = {"good": float(total - bad), "total": float(total), "unknown": 0.0}
        row = {**labels, "epoch": counter_epoch(connection), **amounts}
        fold_rows(connection, tables.sli_counter, [row], dict.fromkeys(amounts, add_up))
        add_to_hours(connection, now, found.amounts())


def _move(connection: Connection, positions: dict[str, int]) -> None:
    rows = [{"source": source, "position": position} for source, position in positions.items()]
    fold_rows(connection, tables.received_cursor, rows)

"""Storage of an evaluation's results in the catalog, in one transaction."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

import msgspec
import pyarrow as pa
from sqlalchemy import Connection, Engine, bindparam, delete, select, update

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.meta_keys import BEHIND_SINCE, EDGES_EVALUATED_AT, EVENTS_WAIT_SINCE
from lineage.catalog.upsert import add_up, fold_rows
from lineage.process.clock import DAY_MICROS, to_micros
from lineage.states import ALL_TIERS, ERROR_RATE, INGESTION_LAG, MISSING_PROVENANCE
from slis.evaluation.counters import (
    OF_EDGES,
    Amount,
    Amounts,
    add_amounts,
    add_to_counters,
    add_to_hours,
    amounts_of,
    counter_row,
    hour_of,
    origins_found,
)
from slis.evaluation.dataset_states import (
    FrameRow,
    StateChanges,
    change_states,
    renew_ages,
    state_changes,
)
from slis.evaluation.input import EvaluationRange, range_of_evaluation
from slis.evaluation.judgements import JudgementChanges, change_judgements
from slis.indicators.lag import BOUNDS_SECONDS
from slis.meta import put_meta, read_meta_number

_NO_ORIGIN = "default"
# So long after edges were judged last, nothing of it is shown as how things are now.
_EDGES_STALE = timedelta(minutes=10)
# A batch may take as long on a busy machine. Older events wait because of an outage of ours.
_BEHIND = timedelta(seconds=60)


class OvertakenError(Exception):
    """Evaluation that is older than the published one: its results were counted already."""


class EvaluationRows(msgspec.Struct, frozen=True):
    """Results of an evaluation, as rows of the frames that `sli_schemas` declares."""

    tallies: list[FrameRow]  # TALLIES of the per-dataset SLIs
    states: pa.Table  # STATES
    held: pa.Table  # the states before: `dataset_states.held_states`
    reads: list[FrameRow]  # READ_OUTCOMES
    lags: list[FrameRow]  # LAGS
    datasets: int
    policy_hash: str
    seconds: float
    amended: Amounts = {}  # what late writes change of past hours, in dataset-seconds
    backlog_since: datetime | None = None  # the oldest event that has not landed was received
    judgements: JudgementChanges | None = None  # None: nobody will follow on this evaluation
    aged: Collection[int] | None = None  # the datasets whose ages are written; None: all


def publish(engine: Engine, at: EvaluationRange, found: EvaluationRows) -> StateChanges:
    """Write everything that an evaluation gives; return what it changed of the states.

    Args:
        engine: of the catalog.
        at: the range that was evaluated.
        found: what it gave.

    Raises:
        OvertakenError: the catalog's last evaluation is not the one that `at` follows.
    """
    # Before the transaction: it shall hold the lock for no more than the writing.
    changes = state_changes(found.held, at.as_of, found.states)
    with exclusive_transaction(engine) as connection:
        _check(connection, at)
        counted = [*_dataset_counts(at, found), *_read_counts(found), *_lag_counts(found)]
        add_to_counters(connection, counted)
        found_since = _origins(connection, at)
        add_to_hours(connection, at.as_of, _hourly(at, found), found.amended, found_since)
        _mark_reads(connection, at, found.reads)
        _replace_now(connection, at, found)
        change_states(connection, changes)
        if found.judgements is not None:
            change_judgements(connection, found.judgements)
        renew_ages(connection, at.as_of, found.aged)
        _add_to_lag_buckets(connection, found.lags)
        connection.execute(tables.evaluation.insert(), _evaluation(at, found))
        note_backlog(connection, at.as_of, found.backlog_since)
    return changes


def _origins(connection: Connection, at: EvaluationRange) -> Amounts:
    if at.previous_as_of is None:
        return {}
    return origins_found(connection, at.as_of, at.previous_as_of)


def _check(connection: Connection, at: EvaluationRange) -> None:
    now = range_of_evaluation(connection, at.as_of)
    if now.previous_as_of != at.previous_as_of or now.after_seq != at.after_seq:
        message = f"evaluation of {at.as_of} follows {at.previous_as_of}, not {now.previous_as_of}"
        raise OvertakenError(message)


def _evaluation(at: EvaluationRange, found: EvaluationRows) -> FrameRow:
    previous = None if at.previous_as_of is None else to_micros(at.previous_as_of)
    return {
        "as_of": to_micros(at.as_of),
        "previous_as_of": previous,
        "last_seq": at.last_seq,
        "policy_hash": found.policy_hash,
        "datasets": found.datasets,
        "seconds": found.seconds,
    }


def _dataset_counts(at: EvaluationRange, found: EvaluationRows) -> Iterable[FrameRow]:
    for row in found.tallies:
        yield counter_row(row["sli"], row["tier"], row["tier_origin"], amounts_of(row, at.seconds))


def _read_counts(found: EvaluationRows) -> Iterable[FrameRow]:
    for row in found.reads:
        amounts = _read_amounts(row["outcome"])
        yield counter_row(MISSING_PROVENANCE.id, row["tier"], row["tier_origin"], amounts)


def _read_amounts(outcome: str) -> Amount:
    is_known = outcome != "unknown"
    return float(outcome == "good"), float(is_known), float(not is_known)


def _lag_counts(found: EvaluationRows) -> Iterable[FrameRow]:
    for row in found.lags:
        yield counter_row(INGESTION_LAG.id, ALL_TIERS, _NO_ORIGIN, _lag_amounts(row))


def _lag_amounts(row: FrameRow) -> Amount:
    return row["good"], row["total"], row["skewed"]


def _hourly(at: EvaluationRange, found: EvaluationRows) -> Amounts:
    """Return the good, total and unknown of the hours that each count belongs to."""
    amounts: Amounts = {}
    for row in _dataset_counts(at, found):
        add_amounts(amounts, (row["sli"], row["tier"], hour_of(at.as_of)), amounts_of(row))
    for row in found.reads:
        place = (MISSING_PROVENANCE.id, row["tier"], hour_of(row["read_at"]))
        add_amounts(amounts, place, _read_amounts(row["outcome"]))
    for row in found.lags:
        place = (INGESTION_LAG.id, ALL_TIERS, hour_of(row["hour"]))
        add_amounts(amounts, place, _lag_amounts(row))
    return amounts


def _mark_reads(connection: Connection, at: EvaluationRange, reads: list[FrameRow]) -> None:
    read = tables.dataset_read
    if reads:
        one = update(read).where(
            read.c.dataset_key == bindparam("at_dataset"),
            read.c.root_run_id == bindparam("at_run"),
            read.c.bucket == bindparam("at_bucket"),
        )
        connection.execute(
            one.values(counted_at=to_micros(at.as_of), outcome=bindparam("is_outcome")),
            [
                {
                    "at_dataset": row["dataset_key"],
                    "at_run": row["root_run_id"],
                    "at_bucket": row["bucket"],
                    "is_outcome": row["outcome"],
                }
                for row in reads
            ],
        )
    # They teach and never count; without a mark each evaluation would look at them again.
    history = update(read).where(read.c.counted_at.is_(None), read.c.is_history)
    connection.execute(history.values(counted_at=to_micros(at.as_of)))


def _replace_now(connection: Connection, at: EvaluationRange, found: EvaluationRows) -> None:
    """Replace `sli_now`: datasets as they are; of events, those of the last 24 hours."""
    now = tables.sli_now
    edges_at = read_meta_number(connection, EDGES_EVALUATED_AT) or 0
    kept = () if edges_at < to_micros(at.as_of - _EDGES_STALE) else OF_EDGES
    connection.execute(delete(now).where(now.c.sli.not_in(kept)))
    rows = [{name: row[name] for name in now.c.keys()} for row in found.tallies]  # noqa: SIM118
    rows += [
        {**counter_row(sli, tier, ALL_TIERS, held), "learning": 0, "excepted": 0}
        for (sli, tier), held in _of_a_day(connection, at).items()
    ]
    if rows:
        connection.execute(now.insert(), rows)


def _of_a_day(connection: Connection, at: EvaluationRange) -> dict[tuple[str, str], Amount]:
    hour = tables.sli_hour.c
    events = select(tables.sli_hour).where(
        hour.sli.in_([MISSING_PROVENANCE.id, INGESTION_LAG.id, ERROR_RATE.id]),
        hour.hour > to_micros(at.as_of) - DAY_MICROS,
    )
    sums: dict[tuple[str, str], Amount] = {}
    for row in connection.execute(events):
        add_amounts(sums, (row.sli, row.tier), (row.good, row.total, row.unknown))
    return sums


def _add_to_lag_buckets(connection: Connection, lags: list[FrameRow]) -> None:
    sums: dict[tuple[str, str], float] = {}
    for row in lags:
        figures = dict(zip(map(str, BOUNDS_SECONDS), row["lags"], strict=True))
        figures |= {"+Inf": row["total"], "sum": row["lag_seconds"]}
        figures |= {"history": row["history"], "skewed": row["skewed"]}
        for le, value in figures.items():
            sums[row["processing"], le] = sums.get((row["processing"], le), 0.0) + value
    rows = [{"processing": kind, "le": le, "value": value} for (kind, le), value in sums.items()]
    fold_rows(connection, tables.lag_bucket, rows, {"value": add_up})


def note_backlog(connection: Connection, as_of: datetime, waiting: datetime | None) -> None:
    """Note how far an evaluation is behind the events that were received.

    Args:
        connection: inside the transaction that publishes the evaluation.
        as_of: of the evaluation.
        waiting: when the oldest event that it lacks was received; None: it lacks none.
    """
    at = to_micros(as_of)
    # A clock that was ahead noted a time that has not come.
    first = min(read_meta_number(connection, BEHIND_SINCE) or at, at)
    is_behind = waiting is not None and as_of - waiting > _BEHIND
    since = 0 if waiting is None else to_micros(waiting)
    put_meta(connection, {EVENTS_WAIT_SINCE: since, BEHIND_SINCE: first if is_behind else 0})

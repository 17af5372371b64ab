"""Which datasets turned bad that somebody is paged for, and since when the fault was there."""

from collections.abc import Iterable
from typing import Any

import msgspec
from sqlalchemy import Connection, text

from lineage.states import FRESHNESS

_SECOND = 1_000_000
# Asked for together, SQLite would read all of them.
_ENDS = "SELECT (SELECT min(as_of) FROM evaluation), (SELECT max(as_of) FROM evaluation)"
_BAD = """
    SELECT s.dataset_key, s.sli, COALESCE(s.reason, ''), s.since, s.age_seconds, s.limit_seconds,
        CASE WHEN s.limit_origin = 'learned' THEN l.learned_at END, a.last_failed_at,
        EXISTS (SELECT 1 FROM run r WHERE r.run_id = a.last_failed_run_id AND r.is_history)
    FROM dataset_state s
    JOIN dataset d ON d.dataset_key = s.dataset_key
    JOIN dataset_policy p ON p.dataset_key = s.dataset_key
    LEFT JOIN dataset_activity a ON a.dataset_key = s.dataset_key
    LEFT JOIN dataset_limit l ON l.dataset_key = s.dataset_key
    WHERE s.state = 'bad' AND p.tier IN ('critical', 'important') AND d.retired_at IS NULL
    ORDER BY CASE p.tier WHEN 'critical' THEN 0 ELSE 1 END, s.dataset_key, s.sli
"""
_OPEN = "SELECT dataset_key FROM impact WHERE closed_at IS NULL"
# What is unknown may still be bad: its impact stays open.
_STILL = "SELECT DISTINCT dataset_key FROM dataset_state WHERE state IN ('bad', 'unknown')"


class Fault(msgspec.Struct, frozen=True):
    """A dataset that is bad.

    Attributes:
        fault_at: the FAIL, or the instant at which its deadline passed; µs.
        is_history: the FAIL came with a history load.
    """

    dataset_key: int
    reason: str
    fault_at: int
    is_history: bool


class Faults(msgspec.Struct, frozen=True):
    """What an evaluation changed: faults without an impact list, and lists whose fault is over."""

    new: list[Fault]
    over: list[int]


def newest_evaluation(connection: Connection) -> tuple[int, int] | None:
    """The first and the newest evaluation there was, µs."""
    first, last = connection.execute(text(_ENDS)).one()
    return None if last is None else (first, last)


def changed(connection: Connection, as_of: int) -> Faults:
    """What the evaluation as of `as_of` found, against the impact lists there are."""
    opened = {row[0] for row in connection.execute(text(_OPEN))}
    still = {row[0] for row in connection.execute(text(_STILL))} if opened else set()
    faults: dict[int, Fault] = {}
    for row in connection.execute(text(_BAD)):
        fault = _fault(row, as_of)
        if fault.dataset_key not in opened:
            known = faults.get(fault.dataset_key)
            faults[fault.dataset_key] = _earlier(known, fault)
    return Faults(list(faults.values()), sorted(opened - still))


def _earlier(known: Fault | None, fault: Fault) -> Fault:
    """Bad by several SLIs is one fault, from the first of them on."""
    return fault if known is None else min(known, fault, key=lambda one: one.fault_at)


def _fault(row: Iterable[Any], as_of: int) -> Fault:
    key, sli, reason, since, age, limit, learned_at, failed_at, is_history = row
    failed = reason == "job_failed" and failed_at is not None
    if failed:
        at = failed_at
    elif sli == FRESHNESS.id and age is not None and limit is not None:
        # Not the evaluation that found it: the deadline. Nobody could miss one not yet learned.
        at = max(as_of - int((age - limit) * _SECOND), learned_at or 0)
    else:
        at = since
    return Fault(key, reason, min(at, as_of), failed and bool(is_history))

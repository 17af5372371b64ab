"""Rows that a batch has several times, and the queries of a batch that has each row once.

To group rows that are all different takes PostgreSQL 3 of 47 µs an event.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from slis.stream.staging.staging import StagedRows

_AGGREGATE: Final = re.compile(r"\b(?:min|max)\((CASE .*? END|[\w.]+)\)")
_GROUPS: Final = re.compile(r"\bGROUP BY [\w., ]+")


class Repeats(msgspec.Struct, frozen=True):
    """Facts that several rows of a batch are of: events differ in what they say of a run.

    Attributes:
        runs: some run has several rows.
        run_io: so has what some run read or wrote.
        events: some event was sent again.
    """

    runs: bool
    run_io: bool
    events: bool


def find_repeats(rows: StagedRows) -> Repeats:
    """Return which facts of a batch have several rows."""
    dataset_of = dict(staged_columns(rows, "s_name", "spelling_key", "dataset_key"))
    run_io = [
        (run, dataset_of.get(spelling), direction)
        for run, spelling, direction in staged_columns(
            rows, "s_run_io", "run_key", "spelling_key", "direction"
        )
    ]
    return Repeats(
        runs=_has_repeats(list(staged_columns(rows, "s_run", "run_key"))),
        run_io=_has_repeats(run_io),
        events=_has_repeats(list(staged_columns(rows, "s_event", "event_time", "event_key"))),
    )


def query_for(query: str, *, has_repeats: bool) -> str:
    """Return a query that groups rows by their key, without the groups where all keys differ."""
    return query if has_repeats else _GROUPS.sub("", _AGGREGATE.sub(r"\1", query))


def staged_columns(rows: StagedRows, table: str, *names: str) -> Iterable[tuple[Any, ...]]:
    """Return these columns of the rows of a staging table."""
    columns, values = rows.get(table, ((), ()))
    if not values:
        return ()
    places = [columns.index(name) for name in names]
    return zip(*([row[place] for row in values] for place in places), strict=True)


def _has_repeats(keys: Sequence[Any]) -> bool:
    return len(set(keys)) < len(keys)

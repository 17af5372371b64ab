"""Datasets and the most severe state of each."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from lineage.catalog.queries import (
    FAILS,
    JOIN_WORST_STATE,
    LISTED,
    STATES_BY_SEVERITY,
    TIER_IN_FORCE,
)
from lineage.catalog.reader import CatalogReader, columns_for, rows_for
from lineage.catalog.rows import Row
from lineage.errors import InvalidRequestError
from lineage.states import BAD, FAILING, GOOD, LEARNING, TIER_RANKS, TIERS, UNKNOWN
from service.queries.cursors import CursorText, Whole, cursor_of, start_key
from service.queries.shapes import DatasetPage, DatasetRow
from service.queries.timestamps import Evaluated, iso
from service.queries.visibility import EVERYTHING, Visibility, sql_filter

NOT_EVALUATED = "not_evaluated"
PIPELINE_LAG = "pipeline_lag"

# Without the index, if visibility is partial: it has no namespaces, and would find every row.
_BY_NAMESPACE = "canonical_key + 0 = dataset_key AND retired_at IS NULL"
# By what is asked for alone: a condition that says nothing is looked at 100,000 times all the same.
_CONDITIONS = {
    "tier": " AND d.tier_rank = CAST(:tier AS BIGINT)",
    "owner": " AND d.dataset_key IN (SELECT dataset_key FROM dataset_policy WHERE owner = :owner)",
    "contains": " AND {contains}",
}
_COUNTS = "SELECT d.state_rank, COUNT(*) FROM dataset d WHERE {where} GROUP BY d.state_rank"
_KEY = "d.state_rank, d.tier_rank, d.name, d.namespace"
_BEHIND = f" AND ({_KEY}) > (:rank, :of_tier, :name, :namespace)"
# Details are looked up for the datasets of the page alone.
_ROWS = f"""
SELECT {_KEY}, {TIER_IN_FORCE} AS tier, p.owner, s.state, s.sli, s.reason, s.since,
  CASE WHEN {FAILS} THEN a.last_failed_at END AS failed_at
FROM (
  SELECT d.dataset_key, {_KEY} FROM dataset d WHERE {{where}}
  ORDER BY {_KEY} LIMIT CAST(:most AS BIGINT) OFFSET CAST(:offset AS BIGINT)
) AS d
{JOIN_WORST_STATE}
LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
LEFT JOIN dataset_activity a ON a.dataset_key = d.dataset_key
ORDER BY {_KEY}
"""  # noqa: S608 - constants only
_SortKey = tuple[Whole, Whole, CursorText, CursorText]
_EVERY = 2**62
FURTHEST = 10_000_000  # rows into the list that somebody may ask for: more than any catalog has
_STATES = "SELECT dataset_key, state FROM dataset_state WHERE is_worst AND dataset_key IN (:keys)"
# Every state as it is shown, the most severe first.
SHOWN_STATES: Final = (BAD, FAILING, UNKNOWN, LEARNING, GOOD)
# States that say less than a failed run does. What is unknown stays so.
REPLACED: Final = (LEARNING, GOOD)
FAILING_KEYS: Final = f"SELECT dataset_key FROM dataset_activity WHERE {FAILS}"  # noqa: S608 - a constant
_FAILING_AMONG = f"{FAILING_KEYS} AND dataset_key IN (:keys)"


class ListPart(msgspec.Struct, frozen=True, kw_only=True):
    """Part of the list: behind a cursor or, of pages with numbers, at an offset."""

    limit: int | None = None
    cursor: str | None = None
    offset: int = 0


_WHOLE = ListPart()


class Filters(msgspec.Struct, frozen=True, kw_only=True):
    """Filter of datasets; null is any."""

    state: str | None = None
    tier: str | None = None
    owner: str | None = None
    contains: str | None = None  # in the name, blind to the case of ASCII's letters


def list_datasets(
    reader: CatalogReader,
    filters: Filters,
    evaluated: Evaluated,
    part: ListPart = _WHOLE,
    visibility: Visibility = EVERYTHING,
) -> DatasetPage:
    """List datasets that are not retired, most severe first.

    What was good in a stale evaluation is unknown now: a dead pipeline shows no good figure.

    Raises:
        InvalidRequestError: no such state or tier, or a cursor that is none of this question's.
    """
    _require_one_of("state", SHOWN_STATES, filters.state)
    _require_one_of("tier", TIERS, filters.tier)
    behind = start_key(part.cursor, _question(filters), _SortKey)
    where, values = _where(reader, filters, visibility, evaluated)
    total = sum(count for _, count in _counts(reader, where, values))
    if behind is not None:
        where += _BEHIND
        values |= zip(("rank", "of_tier", "name", "namespace"), behind, strict=True)
    most = _EVERY if part.limit is None else part.limit
    values |= {"most": most + 1, "offset": part.offset}
    rows = reader.rows(_ROWS.format(where=where), values)
    shown = [_row(row, evaluated) for row in rows[:most]]
    is_cut = len(shown) < total
    return DatasetPage(
        datasets=shown,
        total=total,
        partial=is_cut,
        partial_reason=f"{len(shown):,} of {total:,} shown" if is_cut else None,
        next_cursor=_cursor(filters, rows[most - 1]) if rows[most:] else None,
    )


def counts_by_state(
    reader: CatalogReader, evaluated: Evaluated, visibility: Visibility = EVERYTHING
) -> dict[str, int]:
    """Count the datasets by state; a good state of a stale evaluation is unknown."""
    counts = dict.fromkeys(SHOWN_STATES, 0)
    where, values = _where(reader, Filters(), visibility, evaluated)
    for rank, count in _counts(reader, where, values):
        counts[state_of_now(STATES_BY_SEVERITY[rank], evaluated)] += count
    for rank, count in _counts(reader, f"{where} AND d.dataset_key IN ({FAILING_KEYS})", values):
        if (state := state_of_now(STATES_BY_SEVERITY[rank], evaluated)) in REPLACED:
            counts[state] -= count
            counts[FAILING] += count
    return counts


def states_of(reader: CatalogReader, keys: Sequence[int], evaluated: Evaluated) -> list[str]:
    """Return the most severe state of each dataset; a dataset without a row is unknown."""
    known = dict(zip(*columns_for(reader, _STATES, 2, keys), strict=True))
    return mark_failing(reader, keys, states_of_now([known.get(key) for key in keys], evaluated))


def states_of_now(found: Sequence[str | None], evaluated: Evaluated) -> list[str]:
    """Map evaluated states to current states."""
    now = {state: state_of_now(state, evaluated) for state in set(found)}
    return [now[state] for state in found]


def escape_like(text: str) -> str:
    """Escape a text for a LIKE pattern, with `!` as escape."""
    for special in "!%_":
        text = text.replace(special, f"!{special}")
    return text


def _require_one_of(name: str, known: Sequence[str], given: str | None) -> None:
    if given is not None and given not in known:
        message = f"{name}: expected one of {', '.join(known)}, got {given[:80]!r}"
        raise InvalidRequestError(message)


def _where(
    reader: CatalogReader, filters: Filters, visibility: Visibility, evaluated: Evaluated
) -> tuple[str, dict[str, Any]]:
    """Return the conditions of what is asked for and may be seen, and their values."""
    tier = None if filters.tier is None else TIER_RANKS[filters.tier]
    contains = None if filters.contains is None else f"%{escape_like(filters.contains)}%"
    asked = {"tier": tier, "owner": filters.owner, "contains": contains}
    given = {name: value for name, value in asked.items() if value is not None}
    listed = LISTED if visibility.is_whole else _BY_NAMESPACE
    may_see, names = sql_filter(reader, visibility)
    alike = reader.alike("d.name", ":contains")
    of_given = "".join(_CONDITIONS[name] for name in given).format(contains=alike)
    conditions = of_given + _of_state(filters.state, evaluated)
    return f"{listed} AND {may_see}{conditions}", {**given, **names}


def _of_state(state: str | None, evaluated: Evaluated) -> str:
    """Return the condition on ranks for a current state."""
    if state is None:
        return ""
    wanted = REPLACED if state == FAILING else (state,)
    ranks = [
        str(rank)
        for rank, found in enumerate(STATES_BY_SEVERITY)
        if state_of_now(found, evaluated) in wanted
    ]
    if not ranks:
        return " AND 1 = 0"
    is_failing = f" AND d.dataset_key {'IN' if state == FAILING else 'NOT IN'} ({FAILING_KEYS})"
    of_ranks = f" AND d.state_rank IN ({', '.join(ranks)})"
    return of_ranks + is_failing if set(wanted) <= {*REPLACED} else of_ranks


def _counts(reader: CatalogReader, where: str, values: dict[str, Any]) -> list[tuple[int, int]]:
    """Count the datasets of each rank that any dataset has."""
    return [(rank, n) for rank, n in reader.rows(_COUNTS.format(where=where), values)]


def _question(filters: Filters) -> tuple[str, Filters]:
    return "datasets", filters


def state_of_now(state: str | None, evaluated: Evaluated) -> str:
    """Map an evaluated state to the current one: missing, or good but stale, is unknown."""
    return UNKNOWN if state is None or (state == GOOD and evaluated.stale) else state


def _cursor(filters: Filters, last: Row) -> str:
    return cursor_of(
        _question(filters), (last.state_rank, last.tier_rank, last.name, last.namespace)
    )


def _row(row: Row, evaluated: Evaluated) -> DatasetRow:
    state, sli, reason, since = row.state, row.sli, row.reason, row.since
    if state is None:
        state, sli, reason, since = UNKNOWN, None, NOT_EVALUATED, None
    elif row.failed_at is not None and state_of_now(state, evaluated) in REPLACED:
        state, sli, reason, since = FAILING, None, "job_failed", row.failed_at
    elif state == GOOD and evaluated.stale:
        state, sli, reason, since = UNKNOWN, None, PIPELINE_LAG, evaluated.as_of
    elif state == GOOD:
        sli, reason = None, None
    return DatasetRow(row.namespace, row.name, row.tier, row.owner, state, sli, reason, iso(since))


def mark_failing(reader: CatalogReader, keys: Sequence[int], states: Sequence[str]) -> list[str]:
    """Return the states of these datasets, `failing` where the last run failed."""
    known = dict(zip(keys, states, strict=True))
    rows = rows_for(reader, _FAILING_AMONG, [key for key in keys if known[key] in REPLACED])
    known |= {key: FAILING for (key,) in rows}
    return [known[key] for key in keys]

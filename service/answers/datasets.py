"""The datasets and the worst state of each."""

from collections.abc import Sequence
from typing import Any

import msgspec

from lineage.catalog.reader import Reader, Row, columns_for
from lineage.states import GOOD, UNKNOWN
from service.access.sight import EVERYTHING, Sight
from service.answers.cursors import Text, Whole, cursor_of, key_of
from service.answers.moments import Evaluated, iso
from service.answers.seen import seen
from service.answers.shapes import DatasetPage, DatasetRow
from service.errors import InvalidQuestionError

WORST_FIRST = ("bad", "unknown", "learning", "good")
NOT_EVALUATED = "not_evaluated"
PIPELINE_LAG = "pipeline_lag"

# The worst state of a dataset is marked by the pipeline; one that has none is unknown.
# Most are good, and are asked for that first.
RANK = """CASE s.state WHEN 'good' THEN 3 WHEN 'bad' THEN 0 WHEN 'learning' THEN 2 ELSE 1 END"""
JUDGED = """
FROM dataset d
LEFT JOIN dataset_state s ON s.dataset_key = d.dataset_key AND s.is_worst
LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
WHERE d.canonical_key = d.dataset_key AND d.retired_at IS NULL
"""
# By what is asked for alone: a condition that says nothing is looked at 100,000 times all the same.
_CONDITIONS = {
    "tier": " AND p.tier = :tier",
    "owner": " AND p.owner = :owner",
    "contains": " AND d.name LIKE :contains ESCAPE '!'",
}
# In one pass: groups would be sorted.
_COUNTS = f"""
SELECT COUNT(*), COUNT(*) FILTER (WHERE s.state = 'bad'),
  COUNT(*) FILTER (WHERE s.state = 'learning'), COUNT(*) FILTER (WHERE s.state = 'good')
{JUDGED} {{where}}
"""
_KEY = f"""
{RANK}, CASE p.tier WHEN 'critical' THEN 0 WHEN 'important' THEN 1 ELSE 2 END, d.namespace, d.name
"""
_ROWS = f"""
SELECT {_KEY}, p.tier, p.owner, s.state, s.sli, s.reason, s.since
{JUDGED} {{where}} {{ranks}} {{behind}}
ORDER BY {_KEY} LIMIT CAST(:most AS BIGINT) OFFSET CAST(:offset AS BIGINT)
"""
_RANKS = f"AND {RANK} IN (:bad, :unknown, :learning, :good)"
_BEHIND = f"AND ({_KEY}) > (:rank, :of_tier, :namespace, :name)"
_SortKey = tuple[Whole, Whole, Text, Text]
_EVERY = 2**62
_NO_RANK = -1
_STATES = "SELECT dataset_key, state FROM dataset_state WHERE is_worst AND dataset_key IN (:keys)"


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Which part of the list: behind a cursor or, of pages with numbers, so far in."""

    limit: int | None = None
    cursor: str | None = None
    offset: int = 0


_WHOLE = Part()


class Filters(msgspec.Struct, frozen=True, kw_only=True):
    """Which datasets; null is any."""

    state: str | None = None
    tier: str | None = None
    owner: str | None = None
    contains: str | None = None  # in the name


def datasets(
    reader: Reader,
    filters: Filters,
    evaluated: Evaluated,
    part: Part = _WHOLE,
    sight: Sight = EVERYTHING,
) -> DatasetPage:
    """The datasets that are not retired, worst first.

    What was good in a stale evaluation is unknown now: a dead pipeline shows no good figure.

    Raises:
        InvalidQuestionError: no such state, or a cursor that is none of this question's.
    """
    _require_state(filters.state)
    behind = key_of(part.cursor, _question(filters), _SortKey)
    where, values = _where(reader, filters, sight)
    every = _counts(reader, where, values)
    counts = [
        (rank, count)
        for rank, count in every
        if filters.state in {None, state_of_now(WORST_FIRST[rank], evaluated)}
    ]
    most = _EVERY if part.limit is None else part.limit
    values |= _window(counts, part.offset, most + 1, behind)
    is_of_all = all(values[WORST_FIRST[rank]] == rank for rank, _ in every)
    ranks, after = "" if is_of_all else _RANKS, "" if behind is None else _BEHIND
    rows = reader.rows(_ROWS.format(where=where, ranks=ranks, behind=after), values)
    shown, total = [_row(row[2:], evaluated) for row in rows[:most]], sum(n for _, n in counts)
    is_cut = len(shown) < total
    return DatasetPage(
        datasets=shown,
        total=total,
        partial=is_cut,
        partial_reason=f"{len(shown):,} of {total:,} shown" if is_cut else None,
        next_cursor=cursor_of(_question(filters), rows[most - 1][:4]) if rows[most:] else None,
    )


def counts_by_state(
    reader: Reader, evaluated: Evaluated, sight: Sight = EVERYTHING
) -> dict[str, int]:
    """How many datasets are in each state; what was good in a stale evaluation is unknown."""
    counts = dict.fromkeys(WORST_FIRST, 0)
    for rank, count in _counts(reader, *_where(reader, Filters(), sight)):
        counts[state_of_now(WORST_FIRST[rank], evaluated)] += count
    return counts


def states_of(reader: Reader, keys: Sequence[int], evaluated: Evaluated) -> list[str]:
    """The worst state of each of these datasets; what has no row is unknown."""
    known = dict(zip(*columns_for(reader, _STATES, 2, keys), strict=True))
    return states_of_now([known.get(key) for key in keys], evaluated)


def states_of_now(found: Sequence[str | None], evaluated: Evaluated) -> list[str]:
    """The states that were found then, as they count now."""
    now = {state: state_of_now(state, evaluated) for state in set(found)}
    return [now[state] for state in found]


def literal(text: str) -> str:
    """The part of a LIKE pattern that matches this text and nothing else, with `!` as escape."""
    for special in "!%_":
        text = text.replace(special, f"!{special}")
    return text


def _require_state(state: str | None) -> None:
    if state is not None and state not in WORST_FIRST:
        message = f"state: expected one of {', '.join(WORST_FIRST)}, got {state[:80]!r}"
        raise InvalidQuestionError(message)


def _where(reader: Reader, filters: Filters, sight: Sight) -> tuple[str, dict[str, Any]]:
    """Conditions of what is asked for and may be seen, and their values."""
    contains = None if filters.contains is None else f"%{literal(filters.contains)}%"
    asked = {"tier": filters.tier, "owner": filters.owner, "contains": contains}
    given = {name: value for name, value in asked.items() if value is not None}
    may_see, names = seen(reader, sight)
    return f"AND {may_see}" + "".join(_CONDITIONS[name] for name in given), {**given, **names}


def _counts(reader: Reader, where: str, values: dict[str, Any]) -> list[tuple[int, int]]:
    """Of each rank that any dataset has, how many."""
    total, *known = reader.rows(_COUNTS.format(where=where), values)[0]
    bad, learning, good = known
    counts = enumerate((bad, total - sum(known), learning, good))
    return [(rank, count) for rank, count in counts if count]


def _question(filters: Filters) -> tuple[str, Filters]:
    return "datasets", filters


def _window(
    counts: list[tuple[int, int]], offset: int, most: int, behind: tuple[Any, ...] | None
) -> dict[str, Any]:
    """Values of the part that is asked for, by the states that it may be in.

    A page of the worst need not sort all that are good.
    """
    if behind is None:
        ranks, skipped = _ranks_of(counts, offset, offset + most)
        return {**ranks, "most": most, "offset": offset - skipped}
    begin = sum(count for rank, count in counts if rank <= behind[0])
    ranks, _ = _ranks_of(counts, begin, begin + most)
    here = {WORST_FIRST[rank]: rank for rank, _ in counts if rank == behind[0]}
    key = dict(zip(("rank", "of_tier", "namespace", "name"), behind, strict=True))
    return {**ranks, **here, **key, "most": most, "offset": 0}


def _ranks_of(counts: list[tuple[int, int]], begin: int, end: int) -> tuple[dict[str, int], int]:
    """The states that rows [begin, end) are in, and how many rows come before these states."""
    ranks = dict.fromkeys(WORST_FIRST, _NO_RANK)
    before = skipped = 0
    for rank, count in counts:
        if before + count <= begin:
            skipped = before + count
        elif before < end:
            ranks[WORST_FIRST[rank]] = rank
        before += count
    return ranks, skipped


def state_of_now(state: str | None, evaluated: Evaluated) -> str:
    """A state that was found then: who has none, or was good in a stale evaluation, is unknown."""
    return UNKNOWN if state is None or (state == GOOD and evaluated.stale) else state


def _row(row: Row, evaluated: Evaluated) -> DatasetRow:
    namespace, name, tier, owner, state, sli, reason, since = row
    if state is None:
        return DatasetRow(namespace, name, tier, owner, "unknown", None, NOT_EVALUATED, None)
    if state != "good":
        return DatasetRow(namespace, name, tier, owner, state, sli, reason, iso(since))
    if evaluated.stale:
        since = evaluated.at
        return DatasetRow(namespace, name, tier, owner, "unknown", None, PIPELINE_LAG, since)
    return DatasetRow(namespace, name, tier, owner, "good", None, None, iso(since))

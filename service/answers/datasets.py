"""The datasets and the worst state of each."""

from typing import Any

import msgspec

from lineage.catalog.reader import Reader, Row, rows_for
from service.access.sight import EVERYTHING, Sight
from service.answers.moments import Evaluated, iso
from service.answers.shapes import DatasetPage, DatasetRow
from service.errors import InvalidQuestionError

WORST_FIRST = ("bad", "unknown", "learning", "good")
NOT_EVALUATED = "not_evaluated"
PIPELINE_LAG = "pipeline_lag"

# The worst state of a dataset is marked by the pipeline; one that has none is unknown.
RANK = """CASE s.state WHEN 'bad' THEN 0 WHEN 'learning' THEN 2 WHEN 'good' THEN 3 ELSE 1 END"""
JUDGED = """
FROM dataset d
LEFT JOIN dataset_state s ON s.dataset_key = d.dataset_key AND s.is_worst
LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
WHERE d.canonical_key = d.dataset_key AND d.retired_at IS NULL
"""
_FILTERED = f"""{JUDGED}
  AND (CAST(:tier AS TEXT) IS NULL OR p.tier = :tier)
  AND (CAST(:owner AS TEXT) IS NULL OR p.owner = :owner)
  AND (CAST(:contains AS TEXT) IS NULL OR d.name LIKE :contains ESCAPE '!')
"""
_NAMESPACES = "SELECT DISTINCT namespace FROM dataset WHERE canonical_key = dataset_key"
_COUNTS = f"SELECT {RANK}, COUNT(*) {_FILTERED} AND {{seen}} GROUP BY 1"
_ROWS = f"""
SELECT d.namespace, d.name, p.tier, p.owner, s.state, s.sli, s.reason, s.since
{_FILTERED} AND {{seen}} AND {RANK} IN (:bad, :unknown, :learning, :good)
ORDER BY {RANK}, CASE p.tier WHEN 'critical' THEN 0 WHEN 'important' THEN 1 ELSE 2 END,
  d.namespace, d.name
LIMIT CAST(:most AS BIGINT) OFFSET CAST(:offset AS BIGINT)
"""
_EVERY = 2**62
_NO_RANK = -1
_STATES = "SELECT dataset_key, state FROM dataset_state WHERE is_worst AND dataset_key IN (:keys)"


class Filters(msgspec.Struct, frozen=True, kw_only=True):
    """Which datasets; null is any."""

    state: str | None = None
    tier: str | None = None
    owner: str | None = None
    contains: str | None = None  # in the name


def datasets(  # noqa: PLR0913 - the last three by name
    reader: Reader,
    filters: Filters,
    evaluated: Evaluated,
    *,
    limit: int | None = None,
    offset: int = 0,
    sight: Sight = EVERYTHING,
) -> DatasetPage:
    """The datasets that are not retired, worst first.

    What was good in a stale evaluation is unknown now: a dead pipeline shows no good figure.

    Raises:
        InvalidQuestionError: no such state.
    """
    if filters.state is not None and filters.state not in WORST_FIRST:
        message = f"state: expected one of {', '.join(WORST_FIRST)}, got {filters.state[:80]!r}"
        raise InvalidQuestionError(message)
    seen, names = _seen(reader, sight)
    values = {**_values(filters), **names}
    counts = [
        (rank, count)
        for rank, count in _counts(reader, values, seen)
        if filters.state in {None, _of_now(WORST_FIRST[rank], evaluated)}
    ]
    most = _EVERY if limit is None else limit
    ranks, skipped = _ranks_of(counts, offset, offset + most)
    window = {"most": most, "offset": offset - skipped}
    rows = reader.rows(_ROWS.format(seen=seen), {**values, **ranks, **window}) if ranks else []
    return _page([_row(row, evaluated) for row in rows], sum(n for _, n in counts), offset)


def counts_by_state(
    reader: Reader, evaluated: Evaluated, sight: Sight = EVERYTHING
) -> dict[str, int]:
    """How many datasets are in each state; what was good in a stale evaluation is unknown."""
    counts = dict.fromkeys(WORST_FIRST, 0)
    seen, names = _seen(reader, sight)
    for rank, count in _counts(reader, {**_values(Filters()), **names}, seen):
        counts[_of_now(WORST_FIRST[rank], evaluated)] += count
    return counts


def states_of(reader: Reader, keys: list[int], evaluated: Evaluated) -> dict[int, str]:
    """The worst state of each of these datasets; what has no row is unknown."""
    rows = rows_for(reader, _STATES, keys)
    known = {key: _of_now(state, evaluated) for key, state in rows}
    return {key: known.get(key, "unknown") for key in keys}


def literal(text: str) -> str:
    """The part of a LIKE pattern that matches this text and nothing else, with `!` as escape."""
    for special in "!%_":
        text = text.replace(special, f"!{special}")
    return text


def _values(filters: Filters) -> dict[str, Any]:
    contains = None if filters.contains is None else f"%{literal(filters.contains)}%"
    return {"tier": filters.tier, "owner": filters.owner, "contains": contains}


def _counts(reader: Reader, values: dict[str, Any], seen: str) -> list[tuple[int, int]]:
    rows = reader.rows(_COUNTS.format(seen=seen), values)
    return sorted((rank, count) for rank, count in rows)


def _seen(reader: Reader, sight: Sight) -> tuple[str, dict[str, str]]:
    """A condition on the namespace, and its values: namespaces are few, and listed."""
    if sight.is_whole:
        return "1 = 1", {}
    names = [row[0] for row in reader.rows(_NAMESPACES) if sight.sees(row[0])]
    values = {f"seen_{n}": name for n, name in enumerate(names)}
    listed = ", ".join(f":{name}" for name in values)
    return (f"d.namespace IN ({listed})" if names else "1 = 0"), values


def _ranks_of(counts: list[tuple[int, int]], begin: int, end: int) -> tuple[dict[str, int], int]:
    """The states that rows [begin, end) are in, and how many rows come before these states.

    A page of the worst need not sort all that are good.
    """
    ranks: dict[str, int] = {}
    before = skipped = 0
    for rank, count in counts:
        if before + count <= begin:
            skipped = before + count
        elif before < end:
            ranks[WORST_FIRST[rank]] = rank
        before += count
    return ranks and dict.fromkeys(WORST_FIRST, _NO_RANK) | ranks, skipped


def _of_now(state: str, evaluated: Evaluated) -> str:
    return "unknown" if state == "good" and evaluated.stale else state


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


def _page(rows: list[DatasetRow], total: int, offset: int) -> DatasetPage:
    partial = len(rows) < total
    reason = f"{len(rows)} of {total} shown, from {offset} on" if partial else None
    end = offset + len(rows)
    return DatasetPage(rows, total, partial, reason, end if rows and end < total else None)

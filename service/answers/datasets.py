"""The datasets and the worst state of each."""

from typing import Any

import msgspec

from lineage.catalog.reader import Reader, Row, rows_for
from service.answers.moments import Evaluated, iso
from service.answers.shapes import DatasetPage, DatasetRow
from service.errors import InvalidQuestionError

WORST_FIRST = ("bad", "unknown", "learning", "good")
NOT_EVALUATED = "not_evaluated"
PIPELINE_LAG = "pipeline_lag"

# One number orders the states of a dataset: severity in the hundreds, then the SLI's number.
_RANK = """CASE s.state WHEN 'bad' THEN 0 WHEN 'unknown' THEN 100 WHEN 'learning' THEN 200
  WHEN 'good' THEN 300 END + CAST(SUBSTR(s.sli, 2) AS INTEGER)"""
# Every join is by a primary key: PostgreSQL underrates how many rows the first table gives, and
# would walk a derived table once for each of them.
_JUDGED = f"""
FROM (
  SELECT d.dataset_key, d.namespace, d.name, MIN(p.tier) AS tier,
    MIN(p.owner) AS owner, MIN({_RANK}) AS worst, MAX(s.since) AS newest
  FROM dataset d
  LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
  LEFT JOIN dataset_state s ON s.dataset_key = d.dataset_key
  WHERE d.canonical_key = d.dataset_key AND d.retired_at IS NULL
    AND (CAST(:tier AS TEXT) IS NULL OR p.tier = :tier)
    AND (CAST(:owner AS TEXT) IS NULL OR p.owner = :owner)
    AND (CAST(:contains AS TEXT) IS NULL OR d.name LIKE :contains ESCAPE '!')
  GROUP BY d.dataset_key) j
"""  # noqa: S608 - constants only
_WANTED = "WHERE COALESCE(j.worst / 100, 1) IN (:bad, :unknown, :learning, :good)"
_ROWS = f"""
SELECT j.namespace, j.name, j.tier, j.owner, s.state, s.sli, s.reason, s.since, j.newest,
  COUNT(*) OVER ()
{_JUDGED}
LEFT JOIN dataset_state s ON s.dataset_key = j.dataset_key AND s.sli = 'M' || (j.worst % 100)
{_WANTED}
ORDER BY COALESCE(j.worst / 100, 1),
  CASE j.tier WHEN 'critical' THEN 0 WHEN 'important' THEN 1 ELSE 2 END, j.namespace, j.name
LIMIT CAST(:most AS BIGINT) OFFSET CAST(:offset AS BIGINT)
"""
_COUNT = f"SELECT COUNT(*) {_JUDGED} {_WANTED}"
_NO_RANK = -1
_EVERY = 2**62
_STATES = """
SELECT dataset_key, MIN(CASE state WHEN 'bad' THEN 0 WHEN 'unknown' THEN 1 WHEN 'learning' THEN 2
  ELSE 3 END) FROM dataset_state WHERE dataset_key IN (:keys) GROUP BY dataset_key
"""


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
    *,
    limit: int | None = None,
    offset: int = 0,
) -> DatasetPage:
    """The datasets that are not retired, worst first.

    What was good in a stale evaluation is unknown now: a dead pipeline shows no good figure.

    Raises:
        InvalidQuestionError: no such state.
    """
    if filters.state is not None and filters.state not in WORST_FIRST:
        message = f"state: expected one of {', '.join(WORST_FIRST)}, got {filters.state[:80]!r}"
        raise InvalidQuestionError(message)
    values = _values(filters) | _ranks(filters.state, evaluated)
    window = {"most": _EVERY if limit is None else limit, "offset": offset}
    rows = reader.rows(_ROWS, {**values, **window})
    # Beyond the last page no row is left to tell how many there are.
    total = rows[0][-1] if rows else reader.rows(_COUNT, values)[0][0]
    return _page([_row(row[:-1], evaluated) for row in rows], total, offset)


def states_of(reader: Reader, keys: list[int], evaluated: Evaluated) -> dict[int, str]:
    """The worst state of each of these datasets; what has no row is unknown."""
    rows = rows_for(reader, _STATES, keys)
    known = {key: _of_now(WORST_FIRST[rank], evaluated) for key, rank in rows}
    return {key: known.get(key, "unknown") for key in keys}


def literal(text: str) -> str:
    """The part of a LIKE pattern that matches this text and nothing else, with `!` as escape."""
    for special in "!%_":
        text = text.replace(special, f"!{special}")
    return text


def _values(filters: Filters) -> dict[str, Any]:
    contains = None if filters.contains is None else f"%{literal(filters.contains)}%"
    return {"tier": filters.tier, "owner": filters.owner, "contains": contains}


def _ranks(state: str | None, evaluated: Evaluated) -> dict[str, int]:
    """Which of the stored states count as the one that is asked for, each by its rank."""
    kept = {word: state in (None, _of_now(word, evaluated)) for word in WORST_FIRST}
    return {word: rank if kept[word] else _NO_RANK for rank, word in enumerate(WORST_FIRST)}


def _of_now(state: str, evaluated: Evaluated) -> str:
    return "unknown" if state == "good" and evaluated.stale else state


def _row(row: Row, evaluated: Evaluated) -> DatasetRow:
    namespace, name, tier, owner, state, sli, reason, since, newest = row
    if state is None:
        return DatasetRow(namespace, name, tier, owner, "unknown", None, NOT_EVALUATED, None)
    if state != "good":
        return DatasetRow(namespace, name, tier, owner, state, sli, reason, iso(since))
    if evaluated.stale:
        since = evaluated.at
        return DatasetRow(namespace, name, tier, owner, "unknown", None, PIPELINE_LAG, since)
    return DatasetRow(namespace, name, tier, owner, "good", None, None, iso(newest))


def _page(rows: list[DatasetRow], total: int, offset: int) -> DatasetPage:
    partial = len(rows) < total
    reason = f"{len(rows)} of {total} shown, from {offset} on" if partial else None
    end = offset + len(rows)
    return DatasetPage(rows, total, partial, reason, end if rows and end < total else None)

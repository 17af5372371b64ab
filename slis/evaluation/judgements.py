"""Table `dataset_judgement`: of each dataset what the next evaluation needs to know."""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, bindparam, delete

from lineage.catalog import tables
from lineage.catalog.queries import split_batches
from lineage.catalog.upsert import fold_rows
from lineage.states import BAD, COVERAGE, FRESHNESS, UNKNOWN
from slis.evaluation.dataset_states import FrameRow
from slis.evaluation.datasets_to_judge import hash_near_names
from slis.key_queries import in_parts

_HELD: Final = """
    SELECT dataset_key, tier, tier_origin, is_source, coverage, freshness
    FROM dataset_judgement WHERE dataset_key IN :keys
"""
_READ: Final = ("tier", "tier_origin", "is_source")
_NOT_GOOD: Final = (BAD, UNKNOWN)
_AT_ONCE: Final = 10_000


class JudgementChanges(msgspec.Struct, frozen=True):
    """Changes to `dataset_judgement`."""

    rows: Iterable[FrameRow]  # may be made while they are written: read once
    gone: list[int] = []
    is_whole: bool = False  # the rows are of all datasets


def judgement_rows(rows: pa.Table, judged: pa.Table) -> Iterator[FrameRow]:
    """Yield a row of the table for each dataset that was judged.

    Args:
        rows: of `read_rows`.
        judged: `sli_schemas.STATES` of M1 and M2 with `next_change_at`.
    """
    # As objects of Python, rows of 100,000 datasets take 60 MiB: some at a time.
    for start in range(0, rows.num_rows, _AT_ONCE):
        some = rows.slice(start, _AT_ONCE)
        own = pc.is_in(judged["dataset_key"], some["dataset_key"].combine_chunks())
        yield from _rows_of(some, judged.filter(own))


def watched_rows(rows: pa.Table, judged: pa.Table) -> pa.Table:
    """Return the rows of the datasets that `judgement_rows` calls watched."""
    not_good = judged.filter(pc.is_in(judged["state"], pa.array(_NOT_GOOD)))["dataset_key"]
    is_blank = pc.and_(_is_blank(rows), _is_among(rows, judged["dataset_key"]))
    return rows.filter(pc.or_(is_blank, _is_among(rows, not_good)))


def _is_among(rows: pa.Table, keys: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.is_in(rows["dataset_key"], keys.combine_chunks())


def _rows_of(rows: pa.Table, judged: pa.Table) -> Iterator[FrameRow]:
    states, next_changes = _by_dataset(judged)
    blank = _is_blank(rows).to_pylist()
    names = rows["name"].to_pylist()
    read = [rows[name].to_pylist() for name in _READ]
    for dataset, name, is_blank, *fields in zip(
        rows["dataset_key"].to_pylist(), names, blank, *read, strict=True
    ):
        if (freshness := states.get((dataset, FRESHNESS.id))) is None:
            continue  # first seen by a clock ahead
        coverage = states.get((dataset, COVERAGE.id))
        yield {
            "dataset_key": dataset,
            "next_change_at": next_changes.get(dataset),
            **dict(zip(_READ, fields, strict=True)),
            "coverage": coverage,
            "freshness": freshness,
            "is_watched": is_blank or coverage in _NOT_GOOD or freshness in _NOT_GOOD,
            "near_key": next(iter(hash_near_names([name])), None),
        }


def _by_dataset(judged: pa.Table) -> tuple[dict[tuple[int, str], str], dict[int, int]]:
    keys = judged["dataset_key"].to_pylist()
    labels = zip(keys, judged["sli"].to_pylist(), strict=True)
    states = dict(zip(labels, judged["state"].to_pylist(), strict=True))
    timed = judged.filter(pc.is_valid(judged["next_change_at"]))
    times = timed["next_change_at"].cast(pa.timestamp("us")).cast(pa.int64()).to_pylist()
    earliest: dict[int, int] = {}
    for key, time in zip(timed["dataset_key"].to_pylist(), times, strict=True):
        earliest[key] = min(time, earliest.get(key, time))
    return states, earliest


def _is_blank(rows: pa.Table) -> pa.ChunkedArray:
    """Return whether a dataset is only known by a run that created it, or failed to write it."""
    active = pc.coalesce(rows["written_at"], rows["read_at"], rows["started_at"])
    return pc.is_null(active)


def held_judgements(connection: Connection, keys: Collection[int]) -> list[FrameRow]:
    """Return what the tallies have of these datasets."""
    return [dict(row._mapping) for row in in_parts(connection, _HELD, keys)]  # noqa: SLF001


def change_judgements(connection: Connection, changes: JudgementChanges) -> None:
    """Write the changes."""
    table = tables.dataset_judgement
    if changes.is_whole:
        connection.execute(delete(table))
    elif changes.gone:
        gone = delete(table).where(table.c.dataset_key == bindparam("gone"))
        connection.execute(gone, [{"gone": key} for key in changes.gone])
    for some in split_batches(changes.rows, _AT_ONCE):
        fold_rows(connection, table, some)

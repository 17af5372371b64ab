"""Table `dataset_state`: an evaluation's states of each dataset, and their changes."""

from collections.abc import Collection, Iterable
from datetime import datetime
from functools import reduce
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, Engine, bindparam, delete, text

from lineage.catalog import tables
from lineage.catalog.grown_tables import analyze_grown
from lineage.catalog.queries import NOT_JUDGED, STATES_BY_SEVERITY, key_list, rank_of
from lineage.catalog.upsert import fold_rows
from lineage.process.clock import to_micros
from lineage.states import COVERAGE, FACTS, FRESHNESS, GOOD, MISSING_PROVENANCE, NODE_COMPLETENESS
from slis.evaluation import catalog_frames
from slis.key_queries import change_in_parts

FrameRow = dict[str, Any]
OF_FACTS = (COVERAGE.id, FRESHNESS.id)  # of each dataset, judged when its facts change
OF_QUERIES = (NODE_COMPLETENESS.id, MISSING_PROVENANCE.id, FACTS)  # bad datasets, found by a query

_AGES = f"""
    UPDATE dataset_state SET age_seconds = CASE WHEN a.last_written_at < :at
        THEN (:at - a.last_written_at * 1.0) / 1e6 ELSE 0 END
    FROM dataset_activity a
    WHERE a.dataset_key = dataset_state.dataset_key AND dataset_state.sli = '{FRESHNESS.id}'
    AND a.last_written_at IS NOT NULL
"""  # noqa: S608 - constants only
_AGES_OF = f"{_AGES} AND dataset_state.dataset_key IN :keys"
_RANK = f"""
    UPDATE dataset SET state_rank = coalesce((
        SELECT MIN({rank_of("s.state", STATES_BY_SEVERITY, NOT_JUDGED)}) FROM dataset_state s
        WHERE s.dataset_key = dataset.dataset_key), {NOT_JUDGED})
    WHERE dataset_key IN
"""  # noqa: S608 - constants only
# What all list, count and show first; to find it among a dataset's states cost half a second.
_MARK = f"""
    UPDATE dataset_state SET is_worst = (sli = (
        SELECT o.sli FROM dataset_state o WHERE o.dataset_key = dataset_state.dataset_key
        ORDER BY {rank_of("o.state", STATES_BY_SEVERITY, NOT_JUDGED)},
            CASE o.state WHEN 'good' THEN -o.since ELSE 0 END, LENGTH(o.sli), o.sli LIMIT 1))
    WHERE dataset_key IN
"""  # noqa: S608 - constants only
_UNMARKED = "(SELECT dataset_key FROM dataset_state WHERE is_worst IS NULL)"
_KEYS = ["dataset_key", "sli"]
_COMPARED = ("state", "reason", "evidence", "limit_seconds", "limit_origin")
_BEFORE = "_before"
# The first evaluation changes them all.
_ROWS_AT_ONCE = 10_000
_HELD = """
    SELECT dataset_key, sli, since, state, reason, evidence, limit_seconds, limit_origin,
        was_good
    FROM dataset_state WHERE sli IN ({slis})
"""
_HELD_AS = """
    dataset_key bigint, sli string, since bigint, state string, reason string, evidence string,
    limit_seconds double, limit_origin string, was_good boolean
"""


class StateChanges(msgspec.Struct, frozen=True):
    """Changes to `dataset_state`: most datasets are unchanged."""

    rows: pa.Table  # columns of `dataset_state`
    gone: list[tuple[int, str]]


def held_states(
    engine: Engine, slis: Collection[str], keys: Iterable[int] | None = None
) -> pa.Table:
    """Return the stored states of these SLIs of each dataset: the columns of `_HELD_AS`.

    Args:
        engine: of the catalog.
        slis: ids.
        keys: of the datasets; None: all.
    """
    query = _HELD.format(slis=", ".join(map(repr, slis)))
    if keys is not None:
        query += f" AND dataset_key IN ({key_list(keys)})"
    return catalog_frames.read_frame(engine, query, _HELD_AS)


def state_changes(held: pa.Table, as_of: datetime, states: pa.Table) -> StateChanges:
    """Return `states` against those of the same SLIs that the catalog holds.

    Args:
        held: what `held_states` gives; a row that only `held` has is gone.
        as_of: the instant that was judged: `since` where state or reason is another.
        states: `sli_schemas.STATES`.
    """
    both = states.join(held, _KEYS, join_type="full outer", right_suffix=_BEFORE)
    is_gone = pc.is_null(both["state"])
    changed = both.filter(pc.and_not(differ(both, *_COMPARED), is_gone))
    stays = pc.invert(differ(changed, "state", "reason"))
    since = pc.if_else(stays, changed["since"], to_micros(as_of))
    rows = changed.select([*_KEYS, *_COMPARED, "age_seconds"]).append_column("since", since)
    rows = rows.append_column("was_good", _was_good(changed))
    gone = both.filter(is_gone).select(_KEYS).to_pylist()
    return StateChanges(rows=rows, gone=[(row["dataset_key"], row["sli"]) for row in gone])


def _was_good(changed: pa.Table) -> pa.ChunkedArray:
    """Return whether each state is good now, or was at some evaluation before."""
    is_good = (pc.equal(changed[name], GOOD) for name in ("state", "state" + _BEFORE))
    every = (pc.fill_null(each, fill_value=False) for each in (*is_good, changed["was_good"]))
    return reduce(pc.or_, every)


def differ(both: pa.Table, *names: str) -> pa.ChunkedArray:
    """Return whether any of the columns has changed; null equals null."""
    found = []
    for name in names:
        now, before = both[name], both[name + _BEFORE]
        differs = pc.fill_null(pc.not_equal(now, before), fill_value=False)
        found.append(pc.or_(differs, pc.xor(pc.is_null(now), pc.is_null(before))))
    return reduce(pc.or_, found)


def change_states(connection: Connection, changes: StateChanges) -> None:
    """Write the changes, and which state is now the most severe of each dataset they concern."""
    table = tables.dataset_state
    keys = {dataset for dataset, _ in changes.gone}
    for batch in changes.rows.to_batches(max_chunksize=_ROWS_AT_ONCE):
        rows = batch.to_pylist()
        keys.update(row["dataset_key"] for row in rows)
        fold_rows(connection, table, rows)
    if changes.gone:
        gone = delete(table).where(
            table.c.dataset_key == bindparam("gone"), table.c.sli == bindparam("of")
        )
        connection.execute(gone, [{"gone": one, "of": sli} for one, sli in changes.gone])
    mark_worst(connection, keys)


def renew_ages(
    connection: Connection, as_of: datetime, keys: Collection[int] | None = None
) -> None:
    """Write the age that datasets have by now.

    Args:
        connection: inside a transaction.
        as_of: now.
        keys: of the datasets; None: all.
    """
    at = {"at": to_micros(as_of)}
    if keys is None:
        connection.execute(text(_AGES), at)
    else:
        change_in_parts(connection, _AGES_OF, keys, at)


def mark_worst(connection: Connection, keys: Collection[int] | None = None) -> None:
    """Mark the most severe state of each dataset, and rank the dataset by that.

    Args:
        connection: inside a transaction.
        keys: of the datasets; None: those that have a state without a mark.
    """
    analyze_grown(connection)  # a first evaluation is of all datasets
    for change in (_RANK, _MARK):
        if keys is None:
            connection.execute(text(change + _UNMARKED))
        else:
            change_in_parts(connection, f"{change} :keys", keys)

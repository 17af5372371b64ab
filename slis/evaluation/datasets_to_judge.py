"""Datasets that an evaluation must judge: those whose facts, policy, edges or time changed."""

from collections.abc import Iterable
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, Engine, text

from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.queries import IS_STREAM
from lineage.names.keys import key
from lineage.names.near_names import near_key
from lineage.policy.tiers import MIN_RUNS
from lineage.process.clock import to_micros
from slis.evaluation.evaluation_memory import RememberedEstate, SharedInputs
from slis.key_queries import in_parts

_ANY_CHANGE = "SELECT 1 FROM dataset_change LIMIT 1"
_TAKE_CHANGES = "DELETE FROM dataset_change RETURNING dataset_key"
_DUE = "SELECT dataset_key FROM dataset_judgement WHERE next_change_at <= :at"
_IS_NOT_GOOD = "(j.coverage IN ('bad', 'unknown') OR j.freshness IN ('bad', 'unknown'))"
_NOT_GOOD = f"SELECT dataset_key FROM dataset_judgement j WHERE is_watched AND {_IS_NOT_GOOD}"  # noqa: S608 - ours
_OF_PLANS = "SELECT dataset_key FROM dataset_policy WHERE plan IN :keys"
_OF_ROOTS = "SELECT dataset_key FROM dataset_activity WHERE last_write_root_run_id IN :keys"
_STREAMS_BELOW = f"""
    SELECT DISTINCT e.downstream_key FROM edge e
    JOIN dataset_policy p ON p.dataset_key = e.downstream_key
    LEFT JOIN dataset_activity a ON a.dataset_key = e.downstream_key
    WHERE e.upstream_key IN :keys AND {IS_STREAM}
"""  # noqa: S608 - ours
_NOT_GOOD_BELOW = f"""
    SELECT DISTINCT e.downstream_key FROM edge e
    JOIN dataset_judgement j ON j.dataset_key = e.downstream_key
    WHERE e.upstream_key IN :keys AND e.runs >= {MIN_RUNS} AND {_IS_NOT_GOOD}
"""  # noqa: S608 - ours
_LATE_ABOVE = f"""
    SELECT DISTINCT e.upstream_key FROM edge e
    JOIN dataset_judgement j ON j.dataset_key = e.upstream_key
    WHERE e.downstream_key IN :keys AND e.runs >= {MIN_RUNS} AND j.freshness = 'bad'
"""  # noqa: S608 - ours
_INPUTS = "SELECT DISTINCT upstream_key FROM edge WHERE downstream_key IN :keys"
_NAMES = "SELECT name FROM dataset WHERE dataset_key IN :keys"
_NEAR = "SELECT DISTINCT near_key FROM dataset_judgement WHERE dataset_key IN :keys"
_SIMILAR = "SELECT dataset_key FROM dataset_judgement WHERE near_key IN :keys"
_SIMILAR_NOT_GOOD = f"""
    SELECT dataset_key FROM dataset_judgement j WHERE near_key IN :keys AND {_IS_NOT_GOOD}
"""  # noqa: S608 - ours
DatasetKeys = set[int]


def take_changes(engine: Engine) -> DatasetKeys:
    """Return the datasets that the triggers of the catalog noted, and delete the notes.

    What changes from here on is noted for the next evaluation.
    """
    with engine.connect() as connection:
        if connection.execute(text(_ANY_CHANGE)).first() is None:
            return set()
    with exclusive_transaction(engine) as connection:
        return set(connection.scalars(text(_TAKE_CHANGES)))


def find_datasets_to_judge(
    connection: Connection,
    as_of: datetime,
    before: RememberedEstate,
    *,
    changed: DatasetKeys,
    shared: SharedInputs,
) -> DatasetKeys:
    """Return the datasets to judge; all others are as they were.

    Args:
        connection: to the catalog.
        as_of: now.
        before: what the last evaluation left.
        changed: datasets with a note or a watched row that changed.
        shared: the inputs that many datasets share, as they are now.
    """
    own = changed | before.ahead | _due(connection, as_of)
    own |= _by_shared(connection, as_of, before.shared, shared)
    own |= _keys(connection, _STREAMS_BELOW, own)
    below = _keys(connection, _NOT_GOOD_BELOW, own)
    similar = _keys(connection, _SIMILAR_NOT_GOOD, _near_keys(connection, own))
    return own | below | similar


def _due(connection: Connection, as_of: datetime) -> DatasetKeys:
    return set(connection.scalars(text(_DUE), {"at": to_micros(as_of)}))


def _by_shared(
    connection: Connection, as_of: datetime, before: SharedInputs, now: SharedInputs
) -> DatasetKeys:
    """Return the datasets that a change of a shared input may concern."""
    found = set(before.retired ^ now.retired)
    found |= _keys(connection, _OF_ROOTS, before.sql_roots ^ now.sql_roots)
    changed = {plan for plan, _ in before.pauses} | {plan for plan, _ in now.pauses}
    changed -= {plan for plan, spans in before.pauses if (plan, spans) in now.pauses}
    found |= _keys(connection, _OF_PLANS, changed)
    # A gap of ours excuses what is bad, and nothing else. One that lasts excuses more with time.
    if before.gaps != now.gaps or _lasts(now.gaps, as_of):
        found |= set(connection.scalars(text(_NOT_GOOD)))
    return found


def _lasts(gaps: pa.Table, as_of: datetime) -> bool:
    ended = pc.fill_null(pc.less_equal(gaps["ended_at"], as_of), fill_value=False)
    return not pc.all(ended, min_count=0).as_py()


def _near_keys(connection: Connection, keys: DatasetKeys) -> DatasetKeys:
    names = (row.name for row in in_parts(connection, _NAMES, keys))
    # A dataset that is gone has its name in what was judged alone.
    return set(hash_near_names(names)) | (_keys(connection, _NEAR, keys) - {None})


def hash_near_names(names: Iterable[str]) -> Iterable[int]:
    """Yield a hash of what each name shares with similar ones; none of a name that has no such."""
    for name in names:
        if near := near_key(name):
            yield key(near)


def late_and_similar(
    connection: Connection, not_good: DatasetKeys, names: Iterable[str]
) -> DatasetKeys:
    """Return the datasets that the reasons of others look at.

    Args:
        connection: to the catalog.
        not_good: the datasets whose reasons are looked for.
        names: of these datasets.
    """
    late = _keys(connection, _LATE_ABOVE, not_good)
    return late | _keys(connection, _SIMILAR, set(hash_near_names(names)))


def inputs_of(connection: Connection, streams: DatasetKeys) -> DatasetKeys:
    """Return the datasets that these streams read."""
    return _keys(connection, _INPUTS, streams)


def _keys(connection: Connection, query: str, keys: Iterable[int | str]) -> DatasetKeys:
    return {row[0] for row in in_parts(connection, query, keys)}

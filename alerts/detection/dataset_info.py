"""Load names, tiers, owners and states of datasets for messages."""

from collections.abc import Iterable, Iterator

import msgspec
from sqlalchemy import Connection, bindparam, text

from lineage.catalog.queries import FAILS, JOIN_WORST_STATE, TIER, split_batches
from lineage.states import FAILING, GOOD, LEARNING, UNKNOWN

_DATASETS = text(
    f"""
    SELECT d.dataset_key AS key, d.namespace, d.name, {TIER} AS tier, p.owner,
        CASE WHEN {FAILS} AND s.state IN ('{GOOD}', '{LEARNING}') THEN '{FAILING}'
            ELSE coalesce(s.state, '{UNKNOWN}') END AS state,
        CAST(a.last_written_at + two.limit_seconds * 1e6 AS BIGINT) AS limit_at,
        coalesce(p.is_declared, false) AS is_declared, a.last_written_at IS NULL AS is_unwritten
    FROM dataset d
    LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
    LEFT JOIN dataset_activity a ON a.dataset_key = d.dataset_key
    {JOIN_WORST_STATE}
    LEFT JOIN dataset_state two ON two.dataset_key = d.dataset_key AND two.sli = 'M2'
    WHERE d.dataset_key IN :keys AND d.retired_at IS NULL
    """  # noqa: S608 - constants only
).bindparams(bindparam("keys", expanding=True))


class DatasetInfo(msgspec.Struct, frozen=True):
    """Dataset.

    Attributes:
        owner: by the policy or its facet.
        state: the most severe of its SLIs; `failing` where its last run failed and none is worse.
        is_declared: the policy names it outright.
        is_unwritten: no job was ever seen to write it.
    """

    key: int
    namespace: str
    name: str
    tier: str
    owner: str | None
    state: str
    limit_at: int | None
    is_declared: bool
    is_unwritten: bool


def load_dataset_info(connection: Connection, keys: Iterable[int]) -> dict[int, DatasetInfo]:
    """Return the datasets by key, without retired and unknown ones."""
    return {each.key: each for each in _load(connection, keys)}


def _load(connection: Connection, keys: Iterable[int]) -> Iterator[DatasetInfo]:
    for piece in split_batches(keys):
        rows = connection.execute(_DATASETS, {"keys": piece})
        yield from (DatasetInfo(**row) for row in rows.mappings())

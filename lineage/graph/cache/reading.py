"""Reader of a catalog's edges into memory, and of the names that are new.

A key is made of the name: what has been read once is not read again. Long answers come as columns
of a few thousand rows, so that the threads that answer have Python's lock meanwhile.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from lineage.catalog.reader import CatalogReader, columns_for
from lineage.graph.adjacency import Keys, positions_in
from lineage.graph.cache.dataset_attributes import read_policies, read_states
from lineage.graph.cache.merging import SLICE_BITS, EdgeColumns, replace_slices
from lineage.graph.cache.snapshot import EMPTY_GRAPH, NOWHERE, Mark, Numbers, Snapshot, Texts

_AT_ONCE: Final = 16_000  # names
_EDGES = """
SELECT upstream_key, downstream_key, job_key FROM edge WHERE upstream_key BETWEEN :low AND :high
"""
_JOBS = "SELECT job_key, job_name FROM edge WHERE upstream_key IN (:keys)"
_NAMES = "SELECT dataset_key, namespace, name FROM dataset WHERE dataset_key IN (:keys)"
# Another sum, other edges: products, so that a swap of two edges' ends is noticed. Events come
# by the thousand where edges do not, and the database adds up a million in a tenth of the time in
# which they can be read.
_MARKS = f"""
WITH RECURSIVE slice(number) AS (
  SELECT CAST(-128 AS BIGINT) UNION ALL SELECT number + 1 FROM slice WHERE number < 127
)
SELECT number, (
  SELECT COUNT(*) || ' ' || SUM((
    (upstream_key % 1000003) * (downstream_key % 1000033)
    + (job_key % 1000037) * (downstream_key % 1000081)) % 1000000007)
  FROM edge WHERE upstream_key
  BETWEEN number * {2**SLICE_BITS} AND number * {2**SLICE_BITS} + {2**SLICE_BITS - 1}
) FROM slice
"""  # noqa: S608 - constants only


def read_snapshot(reader: CatalogReader, before: Snapshot = EMPTY_GRAPH) -> Snapshot:
    """Read all edges of the catalog, the names of their ends, and the state of all datasets.

    What did not change since `before` is not read; where nothing did, it is `before`.
    """
    states, policies = read_states(reader, before.states), read_policies(reader, before.policies)
    if states is not before.states or policies is not before.policies:
        before = msgspec.structs.replace(before, states=states, policies=policies)
    mark: Mark = {number: mark for number, mark in reader.rows(_MARKS) if mark is not None}
    return before if mark == before.mark else _of_edges(reader, mark, before)


def _of_edges(reader: CatalogReader, mark: Mark, before: Snapshot) -> Snapshot:
    was = before.mark
    changed = [number for number in was.keys() | mark.keys() if was.get(number) != mark.get(number)]
    read = _edges(reader, changed)
    found = replace_slices(before, changed, read)
    names, namespace_of, namespaces = _names(reader, found.keys, before)
    return Snapshot(
        keys=found.keys,
        names=names,
        namespace_of=namespace_of,
        namespaces=namespaces,
        job_keys=found.job_keys,
        jobs=_jobs(reader, found.job_keys, read, before),
        ways=found.ways,
        mark=mark,
        states=before.states,
        policies=before.policies,
    )


def _edges(reader: CatalogReader, slices: list[int]) -> EdgeColumns:
    """Return the edges of these slices, by their upstream keys."""
    read = [[np.array([], np.int64)] * 3, *(_slice(reader, number) for number in sorted(slices))]
    return EdgeColumns(*(np.concatenate(columns) for columns in zip(*read, strict=True)))


def _slice(reader: CatalogReader, number: int) -> list[Keys]:
    low = number << SLICE_BITS
    bounds = {"low": low, "high": low + 2**SLICE_BITS - 1}
    return [np.array(column, np.int64) for column in reader.columns(_EDGES, 3, bounds)]


def _jobs(reader: CatalogReader, job_keys: Keys, read: EdgeColumns, before: Snapshot) -> Texts:
    """Return names of the jobs, asked for by a dataset that they read."""
    names = _known(job_keys, before.job_keys, before.jobs, "")
    _, is_known = positions_in(before.job_keys, read.jobs)
    readers = read.upstream[~is_known]
    for found, name in _asked(reader, _JOBS, 2, np.unique(readers)):
        at, _ = positions_in(job_keys, np.array(found, np.int64))
        names[at] = name
    return names


def _names(reader: CatalogReader, keys: Keys, before: Snapshot) -> tuple[Texts, Numbers, list[str]]:
    """Return names, namespaces by number, and these. What had no row may have one by now."""
    names = _known(keys, before.keys, before.names, "")
    namespace_of = _known(keys, before.keys, before.namespace_of, NOWHERE)
    numbers = {namespace: number for number, namespace in enumerate(before.namespaces)}
    for found, spaces, name in _asked(reader, _NAMES, 3, keys[namespace_of == NOWHERE]):
        at, _ = positions_in(keys, np.array(found, np.int64))
        names[at] = name
        namespace_of[at] = [numbers.setdefault(each, len(numbers)) for each in spaces]
    return names, namespace_of, list(numbers)


def _known(keys: Keys, old_keys: Keys, old: NDArray[Any], unknown: object) -> NDArray[Any]:
    """Return the old value of each key, `unknown` for new keys."""
    at, is_old = positions_in(old_keys, keys)
    values = np.full(len(keys), unknown, old.dtype)
    values[is_old] = old[at]
    return values


def _asked(reader: CatalogReader, sql: str, width: int, keys: Keys) -> Iterator[list[list[Any]]]:
    for piece in np.array_split(keys, len(keys) // _AT_ONCE + 1):
        yield columns_for(reader, sql, width, piece.tolist())

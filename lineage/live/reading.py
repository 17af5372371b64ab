"""Reads the edges of a catalog into memory, and of names those that are new.

A key is made of the name: what has been read once is not read again. Long answers come as columns
of a few thousand rows, so that the threads that answer have Python's lock meanwhile.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lineage.adjacency import Flags, Keys, Positions, arranged, positions_in
from lineage.catalog.reader import Reader, columns_for
from lineage.live.snapshot import NOWHERE, Numbers, Snapshot, Texts, Way

_AT_ONCE: Final = 16_000  # rows, more or less
# Keys are spread evenly over all numbers of 64 bits.
_EDGES = """
SELECT upstream_key, downstream_key, job_key FROM edge WHERE upstream_key BETWEEN :low AND :high
"""
_JOBS = "SELECT job_key, job_name FROM edge WHERE upstream_key IN (:keys)"
_NAMES = "SELECT dataset_key, namespace, name FROM dataset WHERE dataset_key IN (:keys)"
# Another sum, other edges: products, so that two edges that change their ends are told. Events come
# by the thousand where edges do not, and the database adds up a million in a tenth of the time in
# which they can be read.
_MARK = """
SELECT COUNT(*), SUM((
  (upstream_key % 1000003) * (downstream_key % 1000033)
  + (job_key % 1000037) * (downstream_key % 1000081)) % 1000000007) FROM edge
"""
_NO_KEYS: Keys = np.array([], np.int64)
_NO_TEXTS: Texts = np.array([], object)
NOTHING = Snapshot(_NO_KEYS, _NO_TEXTS, np.array([], np.int32), [], _NO_KEYS, _NO_TEXTS, {}, ())


def read_snapshot(reader: Reader, before: Snapshot = NOTHING) -> Snapshot:
    """All edges of the catalog, and what their ends are called; `before`, where nothing changed."""
    (mark,) = reader.rows(_MARK)
    if mark == before.mark:
        return before
    upstream_keys, downstream_keys, by_jobs = _edges(reader, mark[0])
    keys, ends = np.unique([upstream_keys, downstream_keys], return_inverse=True)
    job_keys, numbers = np.unique(by_jobs, return_inverse=True)
    upstream, downstream = ends.reshape(2, -1)
    size, by_number = len(keys), numbers.reshape(-1).astype(np.int32)
    names, namespace_of, namespaces = _names(reader, keys, before)
    return Snapshot(
        keys=keys,
        names=names,
        namespace_of=namespace_of,
        namespaces=namespaces,
        job_keys=job_keys,
        jobs=_jobs(reader, job_keys, (by_jobs, upstream_keys), before),
        ways={
            "upstream": _way(downstream, upstream, by_number, size),
            "downstream": _way(upstream, downstream, by_number, size),
        },
        mark=mark,
    )


def _way(origins: Positions, ends: Positions, jobs: Numbers, size: int) -> Way:
    found, order = arranged(origins, ends, size)
    return Way(found, jobs[order])


def _edges(reader: Reader, count: int) -> list[Keys]:
    """Their three keys."""
    pieces = count // _AT_ONCE + 1
    bounds = [piece * 2**64 // pieces - 2**63 for piece in range(pieces + 1)]
    read = [
        reader.columns(_EDGES, 3, {"low": low, "high": end - 1}) for low, end in pairwise(bounds)
    ]
    return [_joined(column, np.int64) for column in zip(*read, strict=True)]


def _joined(pieces: Any, dtype: Any) -> NDArray[Any]:  # noqa: ANN401 - as numpy has it
    return np.concatenate([np.array(piece, dtype) for piece in pieces])


def _jobs(reader: Reader, job_keys: Keys, edges: tuple[Keys, Keys], before: Snapshot) -> Texts:
    """Names of the jobs, asked for by a dataset that they read."""
    names, is_new = _known(job_keys, before.job_keys, before.jobs, "")
    by_jobs, upstream_keys = edges
    readers = upstream_keys[np.isin(by_jobs, job_keys[is_new])]
    for found, told in _asked(reader, _JOBS, 2, np.unique(readers)):
        at, _ = positions_in(job_keys, np.array(found, np.int64))
        names[at] = told
    return names


def _names(reader: Reader, keys: Keys, before: Snapshot) -> tuple[Texts, Numbers, list[str]]:
    """Names, namespaces by number, and these. What had no row may have one by now."""
    names, _ = _known(keys, before.keys, before.names, "")
    namespace_of, is_new = _known(keys, before.keys, before.namespace_of, NOWHERE)
    numbers = {namespace: number for number, namespace in enumerate(before.namespaces)}
    for found, spaces, told in _asked(reader, _NAMES, 3, keys[is_new]):
        at, _ = positions_in(keys, np.array(found, np.int64))
        names[at] = told
        namespace_of[at] = [numbers.setdefault(each, len(numbers)) for each in spaces]
    return names, namespace_of, list(numbers)


def _known(
    keys: Keys, old_keys: Keys, old: NDArray[Any], unknown: object
) -> tuple[NDArray[Any], Flags]:
    """What is known of each of these keys, and of which it is not."""
    at, is_old = positions_in(old_keys, keys)
    values = np.full(len(keys), unknown, old.dtype)
    values[is_old] = old[at]
    return values, values == unknown


def _asked(reader: Reader, sql: str, width: int, keys: Keys) -> Iterator[list[list[Any]]]:
    for piece in np.array_split(keys, len(keys) // _AT_ONCE + 1):
        yield columns_for(reader, sql, width, piece.tolist())

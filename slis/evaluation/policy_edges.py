"""Edges that policies depend on, and what follows from a change of them."""

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, text

from lineage.policy.tiers import tier_edges
from slis.key_queries import in_parts

_EDGE = "SELECT upstream_key, downstream_key, job_key, runs FROM edge"
_INTO = f"{_EDGE} WHERE downstream_key IN :keys"
_OUT_OF = f"{_EDGE} WHERE upstream_key IN :keys"
_EXPECTED = """
    SELECT dataset_key, is_declared, is_expected FROM dataset_policy WHERE dataset_key IN :keys
"""
_EXPECT = "UPDATE dataset_policy SET is_expected = :expected WHERE dataset_key = :key"
Edges = list[tuple[int, int, int, int]]  # upstream, downstream, job, runs


def rarely_read_datasets(edges: Edges) -> set[int]:
    """Return datasets that jobs have read, but no job in most of its runs."""
    runs_of_job: defaultdict[int, int] = defaultdict(int)
    for _, _, job, runs in edges:
        runs_of_job[job] = max(runs_of_job[job], runs)
    usual = {upstream for upstream, _, job, runs in edges if 2 * runs > runs_of_job[job]}
    return {upstream for upstream, *_ in edges} - usual


class FollowedEdges(NamedTuple):
    """Changes of edges.

    Attributes:
        upstreams: the datasets whose readers may have changed.
        deciding: (upstream, downstream) of each new edge that decides tiers.
    """

    upstreams: set[int]
    deciding: set[tuple[int, int]]


class PolicyEdges:
    """Upstreams of each dataset when its policy was resolved last.

    Packed, because an estate may have millions of edges: 100 bytes a dataset.
    """

    def __init__(self, edges: Edges) -> None:
        """Remember all edges."""
        self._deciding: dict[int, bytes] = {}  # of tiers
        self._others: dict[int, bytes] = {}
        self._put(edges, ())

    def follow(self, connection: Connection, changed: Collection[int]) -> FollowedEdges | None:
        """Remember the edges of now, and return what they change.

        Args:
            connection: to the catalog.
            changed: the datasets with an edge into them that changed.

        Returns:
            None where an edge that decides tiers went: then any tier may be another.
        """
        into = _ask(connection, _INTO, changed)
        before = {key: set(self.deciding_upstreams(key)) for key in changed}
        upstreams = {up for key in changed for up in self._upstreams(key)}
        self._put(into, changed)
        now = {key: set(self.deciding_upstreams(key)) for key in changed}
        if any(before[key] - now[key] for key in changed):
            return None
        deciding = {(up, key) for key in changed for up in now[key] - before[key]}
        return FollowedEdges(upstreams | {up for up, *_ in into}, deciding)

    def deciding_upstreams(self, key: int) -> Iterable[int]:
        """Return the upstreams of a dataset by edges that decide tiers."""
        return _unpacked(self._deciding.get(key, b""))

    def _upstreams(self, key: int) -> Iterable[int]:
        yield from self.deciding_upstreams(key)
        yield from _unpacked(self._others.get(key, b""))

    def _put(self, edges: Edges, instead_of: Iterable[int]) -> None:
        for key in instead_of:
            self._deciding.pop(key, None)
            self._others.pop(key, None)
        deciding = tier_edges((up, down, runs) for up, down, _, runs in edges)
        others = {(up, down) for up, down, *_ in edges} - deciding
        self._deciding |= _packed(deciding)
        self._others |= _packed(others)


def _unpacked(packed: bytes) -> Sequence[int]:
    found = array("q")
    found.frombytes(packed)
    return found


def _packed(pairs: Iterable[tuple[int, int]]) -> dict[int, bytes]:
    upstreams: defaultdict[int, list[int]] = defaultdict(list)
    for upstream, downstream in pairs:
        upstreams[downstream].append(upstream)
    return {key: array("q", sorted(found)).tobytes() for key, found in upstreams.items()}


def find_rarely_read(connection: Connection, datasets: Collection[int]) -> set[int]:
    """Return which of these datasets jobs have read, but no job in most of its runs."""
    # A job key names one downstream dataset: all edges of the job lead into that dataset.
    downstream = {down for _, down, *_ in _ask(connection, _OUT_OF, datasets)}
    return rarely_read_datasets(_ask(connection, _INTO, downstream)) & set(datasets)


def find_expected_changes(
    connection: Connection, upstreams: Collection[int]
) -> list[dict[str, object]]:
    """Return whether each of these datasets is expected, where the catalog says otherwise."""
    rarely_read = find_rarely_read(connection, upstreams)
    return [
        {"key": key, "expected": is_expected}
        for key, is_declared, was_expected in _ask(connection, _EXPECTED, upstreams)
        if (is_expected := bool(is_declared) or key not in rarely_read) != bool(was_expected)
    ]


def change_expected(connection: Connection, changes: Collection[dict[str, object]]) -> None:
    """Write what `find_expected_changes` returned."""
    connection.execute(text(_EXPECT), list(changes))


def _ask(connection: Connection, query: str, keys: Iterable[int]) -> list[Any]:
    return [tuple(row) for row in in_parts(connection, query, keys)]

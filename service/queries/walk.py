"""Walks of the visible part of the graph, level by level, and their trees.

A dataset stands once in a tree with its own branch, where it was found; elsewhere it is only named
(`repeated`): a graph with diamonds would otherwise grow without end as a tree.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final, TypeVar

from lineage.catalog.queries import TIER_IN_FORCE
from lineage.catalog.reader import CatalogReader, Values, rows_for
from lineage.catalog.rows import Row
from lineage.graph.walks import NOBODY, Edge, Responsible, Walk, too_deep, too_many
from lineage.names.names import Name
from service.queries.catalog_session import CatalogSession
from service.queries.datasets import mark_failing, states_of, states_of_now
from service.queries.visibility import UNSEEN, Visibility

MOST_NODES = 5_000
MOST_DEPTH = 100
NEXT = {
    "upstream": "SELECT downstream_key, upstream_key, job_name FROM edge"
    " WHERE downstream_key IN (:keys)",
    "downstream": "SELECT upstream_key, downstream_key, job_name FROM edge"
    " WHERE upstream_key IN (:keys)",
}
NAMES = "SELECT dataset_key, namespace, name FROM dataset WHERE dataset_key IN (:keys)"
_POLICIES = f"""
SELECT d.dataset_key, {TIER_IN_FORCE}, p.owner
FROM dataset d LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
WHERE d.dataset_key IN (:keys) AND d.retired_at IS NULL
"""  # noqa: S608 - constants only
_EDGES = """
SELECT upstream_key, downstream_key, job_namespace, job_name, event_job_name, first_seen_at,
  last_seen_at
FROM edge WHERE downstream_key IN (:keys)
"""
_Known = TypeVar("_Known", Name, Responsible)

DIRECTIONS: dict[str, tuple[str, ...]] = {"upstream": ("upstream",), "downstream": ("downstream",)}
DIRECTIONS["both"] = ("upstream", "downstream")

_Node = TypeVar("_Node")
# An edge, by positions in the walk: from, to, jobs, and the branches of its end. The branches are
# filled later; None if the end was drawn before.
Draw = Callable[[int, int, list[str], list[_Node] | None], _Node]
_NAME: Final = attrgetter("dataset_namespace", "dataset")


def walk_lineage(asked: CatalogSession, way: str, starts: Iterable[int], depth: int) -> Walk:
    """Return all that is reached from these datasets in one direction, within `depth` steps."""
    if asked.live is None:
        return CatalogWalk(asked.reader, NEXT[way], asked.visibility).walked(starts, depth)
    sees = None if asked.visibility.is_whole else asked.visibility.sees
    return asked.live.walked(way, starts, depth, MOST_NODES, sees, asked.visibility.hidden)


def name_nodes(asked: CatalogSession, keys: Sequence[int]) -> list[Name | None]:
    """Return the names of these datasets; None for one that the catalog does not have."""
    held = None if asked.live is None else asked.live.named(keys)
    return _reported(keys, held, lambda unknown: names_of(asked.reader, unknown))


def tier_and_owner_of(asked: CatalogSession, keys: Sequence[int]) -> list[Responsible | None]:
    """Return tier and owner of these datasets; None for a retired or unknown one."""
    held = None if asked.live is None else asked.live.policies_of(keys)

    def asked_for(unknown: Sequence[int]) -> dict[int, Responsible]:
        rows = rows_for(asked.reader, _POLICIES, unknown)
        return {key: (tier, owner) for key, tier, owner in rows}

    return _reported(keys, held, asked_for)


def _reported(
    keys: Sequence[int],
    held: list[_Known | None] | None,
    asked_for: Callable[[Sequence[int]], Mapping[int, _Known]],
) -> list[_Known | None]:
    """Return each from memory, or from the catalog if only that knows it."""
    known = held or [None] * len(keys)
    if None not in known:  # as a rule
        return known
    found = asked_for([key for key, each in zip(keys, known, strict=True) if each is None])
    return [each or found.get(key) for key, each in zip(keys, known, strict=True)]


def states_of_nodes(asked: CatalogSession, keys: Sequence[int]) -> list[str]:
    """Return the current most severe state of each dataset."""
    evaluated = asked.evaluated
    judged = evaluated.as_of, evaluated.edges_at
    held = None if asked.live is None else asked.live.states_of(keys, judged)
    if held is None:
        return states_of(asked.reader, keys, evaluated)
    return mark_failing(asked.reader, keys, states_of_now(held, evaluated))


def all_named(keys: Sequence[int], known: Iterable[Name | None]) -> list[Name]:
    """Return the names, with a placeholder for datasets that have edges and no row."""
    pairs = zip(keys, known, strict=True)
    return [name or ("", f"(unknown dataset {key})") for key, name in pairs]


def names_of(reader: CatalogReader, keys: Iterable[int]) -> dict[int, Name]:
    """Return the names of those of these datasets that the catalog has."""
    return {key: (namespace, name) for key, namespace, name in rows_for(reader, NAMES, keys)}


def cuts_of(walks: Mapping[str, Walk]) -> list[str]:
    """Describe what the walks of these names did not reach."""
    cuts = [f"{way}: {walk.cut}" for way, walk in walks.items() if walk.cut]
    return [*cuts, UNSEEN] if any(walk.hidden for walk in walks.values()) else cuts


def edges_between(reader: CatalogReader, keys: Iterable[int]) -> Iterator[Row]:
    """Yield all edges between these datasets, whichever way a walk came to them.

    Yields:
        keys upstream and downstream, the job's namespace and name (both empty: declared, by none),
        its name in events, where that is another, and when the edge was first and last seen.
    """
    known = set(keys)
    return (row for row in rows_for(reader, _EDGES, known) if row.upstream_key in known)


class CatalogWalk:
    """Walk that queries the catalog for each level."""

    def __init__(
        self, reader: CatalogReader, sql: str, visibility: Visibility, values: Values | None = None
    ) -> None:
        """Walk from `:keys`; `sql` returns (here, other, job name) for them and `values`."""
        self._reader = reader
        self._sql = sql
        self._visibility = visibility
        self._values = values
        self._walk = Walk([], [], [], {})
        self._numbers: dict[int, int] = {}  # of each key its position in the walk

    def walked(self, starts: Iterable[int], depth: int) -> Walk:
        """Return all that is reached, nearest first."""
        walk = self._walk
        for start in dict.fromkeys(starts):
            self._find(start, NOBODY)
        frontier = list(walk.keys)
        for _ in range(depth):
            frontier = self._step(frontier)
            if not frontier or walk.cut:
                return walk
        if any(other not in self._numbers for _, other, _ in self._edges(frontier)):
            walk.cut = too_deep(depth)
        return walk

    def _step(self, frontier: Iterable[int]) -> list[int]:
        walk, numbers, reached = self._walk, self._numbers, len(self._walk.keys)
        for here, other, job in self._edges(frontier):
            if other not in numbers:
                if len(numbers) > MOST_NODES:
                    walk.cut = too_many(MOST_NODES)
                    continue
                self._find(other, numbers[here])
            if other != here:
                walk.edges.append((numbers[here], numbers[other], job))
        return walk.keys[reached:]

    def _find(self, key: int, finder: int) -> None:
        self._numbers[key] = len(self._walk.keys)
        self._walk.keys.append(key)
        self._walk.finders.append(finder)

    def _edges(self, frontier: Iterable[int]) -> list[tuple[int, int, str]]:
        """Return edges from a frontier to visible datasets; record the hidden ones."""
        found = rows_for(self._reader, self._sql, frontier, self._values)
        rows = sorted((here, other, job) for here, other, job in found)
        if self._visibility.is_whole:
            return rows
        names = names_of(self._reader, {other for _, other, _ in rows})
        seen = {
            key for key, (namespace, _) in names.items() if self._visibility.sees(namespace, key)
        }
        for here, other, _ in rows:
            if other not in seen:
                self._walk.hidden.setdefault(self._numbers[here], set()).add(other)
        return [row for row in rows if row[1] in seen]


def build_tree(walk: Walk, draw: Draw[_Node]) -> list[_Node]:
    """Build the tree of a walk by name; `draw` decides about each edge."""
    hanging: list[list[_Node]] = [[] for _ in walk.keys]
    for here, other, jobs in _joined(walk.edges):
        below = hanging[other] if walk.finders[other] == here else None
        hanging[here].append(draw(here, other, jobs, below))
    for nodes in hanging:
        if len(nodes) > 1:
            nodes.sort(key=_NAME)
    return hanging[0]


def _joined(edges: Iterable[Edge]) -> Iterator[tuple[int, int, list[str]]]:
    """Yield each pair once, with its jobs: its edges follow one another."""
    of = to = None
    jobs: list[str] = []
    several: list[list[str]] = [jobs]
    for here, other, job in edges:
        if other == to and here == of:
            jobs.append(job)
            if several[-1] is not jobs:
                several.append(jobs)
        else:
            jobs, of, to = [job], here, other
            yield here, other, jobs
    for jobs in several:
        jobs[:] = sorted(set(jobs))

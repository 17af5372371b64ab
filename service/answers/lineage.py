"""What a dataset is made of, and what is made of it, as two trees.

A dataset stands once with its own branch, at its shortest distance; elsewhere in the tree it is
only named (`repeated`): a graph with diamonds would otherwise grow without end as a tree.
"""

from collections.abc import Iterable

import msgspec

from lineage.catalog.reader import Reader, rows_for
from service.access.sight import EVERYTHING, Sight
from service.answers.datasets import states_of
from service.answers.moments import Evaluated
from service.answers.named import Dataset
from service.answers.runs import last_run
from service.answers.shapes import Lineage, Node

MOST_NODES = 5_000
MOST_DEPTH = 100
NEXT = {
    "upstream": "SELECT downstream_key, upstream_key, job_name FROM edge"
    " WHERE downstream_key IN (:keys)",
    "downstream": "SELECT upstream_key, downstream_key, job_name FROM edge"
    " WHERE upstream_key IN (:keys)",
}
_NAMES = "SELECT dataset_key, namespace, name FROM dataset WHERE dataset_key IN (:keys)"

DIRECTIONS: dict[str, tuple[str, ...]] = {"upstream": ("upstream",), "downstream": ("downstream",)}
DIRECTIONS["both"] = ("upstream", "downstream")


class Walk(msgspec.Struct):
    """A breadth-first walk: the jobs between datasets and their neighbours, and who found whom.

    `found_by` is in the order of finding.
    """

    neighbours: dict[int, dict[int, set[str]]]
    found_by: dict[int, int | None]
    hidden: dict[int, set[int]] = {}  # next to each, what may not be seen: the walk ends there
    cut: str | None = None


def lineage(  # noqa: PLR0913 - the last three by name
    reader: Reader,
    dataset: Dataset,
    evaluated: Evaluated,
    *,
    depth: int,
    direction: str = "both",
    sight: Sight = EVERYTHING,
) -> Lineage:
    """Both trees, or the one asked for, to `depth` steps away.

    Partial when there is more beyond the depth, or more than `MOST_NODES` datasets. What may not be
    seen is counted beside each dataset, and nothing beyond it is followed.
    """
    key, namespace, name = dataset
    walks = {
        way: walked(Steps(reader, NEXT[way], sight), key, depth) for way in DIRECTIONS[direction]
    }
    keys = {key}.union(*(walk.found_by for walk in walks.values()))
    draw = _Drawing(reader, keys, evaluated)
    cuts = [f"{way}: {walk.cut}" for way, walk in walks.items() if walk.cut]
    trees = {way: draw.branches(walk, key) for way, walk in walks.items()}
    return Lineage(
        dataset_namespace=namespace,
        dataset=name,
        state=draw.states[key],
        upstream=trees.get("upstream", []),
        downstream=trees.get("downstream", []),
        last_run=last_run(reader, key, sight),
        depth=depth,
        partial=bool(cuts),
        partial_reason="; ".join(cuts) or None,
        hidden_upstream=_hidden(walks.get("upstream"), key),
        hidden_downstream=_hidden(walks.get("downstream"), key),
    )


def _hidden(walk: Walk | None, key: int) -> int:
    return 0 if walk is None else len(walk.hidden.get(key, ()))


class Steps:
    """The edges of one direction, and which of their ends may be seen."""

    def __init__(self, reader: Reader, sql: str, sight: Sight) -> None:
        self._reader = reader
        self._sql = sql
        self._sight = sight

    def edges(self, frontier: Iterable[int]) -> list[tuple[int, int, str, bool]]:
        """(from, to, job, whether `to` may be seen) of every edge out of these."""
        rows = rows_for(self._reader, self._sql, frontier)
        if self._sight.is_whole:
            return [(here, other, job, True) for here, other, job in rows]
        named = rows_for(self._reader, _NAMES, {other for _, other, _ in rows})
        seen = {key for key, namespace, _ in named if self._sight.sees(namespace)}
        return [(here, other, job, other in seen) for here, other, job in rows]


def walked(steps: Steps, start: int, depth: int) -> Walk:
    """All that is reached from here in one direction, nearest first, to `depth` steps away."""
    walk = Walk(neighbours={}, found_by={start: None}, hidden={})
    frontier = [start]
    for _ in range(depth):
        frontier = _step(steps, walk, frontier)
        if not frontier or walk.cut:
            return walk
    beyond = (other for _, other, _, is_seen in steps.edges(frontier) if is_seen)
    if any(other not in walk.found_by for other in beyond):
        walk.cut = f"more lies beyond depth {depth}"
    return walk


def _step(steps: Steps, walk: Walk, frontier: Iterable[int]) -> list[int]:
    reached: list[int] = []
    for here, other, job_name, is_seen in steps.edges(frontier):
        if not is_seen:
            walk.hidden.setdefault(here, set()).add(other)
            continue
        if other not in walk.found_by:
            if len(walk.found_by) > MOST_NODES:
                walk.cut = f"more than {MOST_NODES} datasets"
                continue
            walk.found_by[other] = here
            reached.append(other)
        if other != here:
            walk.neighbours.setdefault(here, {}).setdefault(other, set()).add(job_name)
    return reached


class _Drawing:
    """Names and states of the datasets that a tree is drawn of."""

    def __init__(self, reader: Reader, keys: Iterable[int], evaluated: Evaluated) -> None:
        wanted = list(keys)
        self.states = states_of(reader, wanted, evaluated)
        self._names = {row[0]: (row[1], row[2]) for row in rows_for(reader, _NAMES, wanted)}

    def branches(self, walk: Walk, key: int) -> list[Node]:
        """What hangs on this dataset, by name."""
        others = walk.neighbours.get(key, {})
        nodes = [self._node(walk, key, other, jobs) for other, jobs in others.items()]
        return sorted(nodes, key=lambda node: (node.dataset_namespace, node.dataset))

    def _node(self, walk: Walk, parent: int, key: int, jobs: set[str]) -> Node:
        namespace, name = self._names.get(key, ("", f"(unknown dataset {key})"))
        repeated = walk.found_by[key] != parent
        children = [] if repeated else self.branches(walk, key)
        told = (namespace, name, self.states[key], sorted(jobs), repeated, children)
        return Node(*told, hidden=_hidden(walk, key))

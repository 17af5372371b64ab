"""What a dataset is made of, and what is made of it, as two trees.

A dataset stands once with its own branch, at its shortest distance; elsewhere in the tree it is
only named (`repeated`): a graph with diamonds would otherwise grow without end as a tree.
"""

from collections.abc import Iterable

import msgspec

from lineage.catalog.reader import Reader, Row, Values, rows_for
from service.answers.datasets import states_of
from service.answers.moments import Evaluated
from service.answers.named import Dataset
from service.answers.runs import last_run
from service.answers.shapes import Lineage, Node

MOST_NODES = 5_000
MOST_DEPTH = 100
_NEXT = {
    "upstream": "SELECT downstream_key, upstream_key, job_name FROM edge"
    " WHERE downstream_key IN (:keys)",
    "downstream": "SELECT upstream_key, downstream_key, job_name FROM edge"
    " WHERE upstream_key IN (:keys)",
}
NAMES = "SELECT dataset_key, namespace, name FROM dataset WHERE dataset_key IN (:keys)"

DIRECTIONS: dict[str, tuple[str, ...]] = {"upstream": ("upstream",), "downstream": ("downstream",)}
DIRECTIONS["both"] = ("upstream", "downstream")


class Walk(msgspec.Struct):
    """A breadth-first walk: the jobs between datasets and their neighbours, and who found whom."""

    neighbours: dict[int, dict[int, set[str]]]
    found_by: dict[int, int | None]
    cut: str | None = None


def lineage(
    reader: Reader, dataset: Dataset, evaluated: Evaluated, *, depth: int, direction: str = "both"
) -> Lineage:
    """Both trees, or the one asked for, to `depth` steps away.

    Partial when there is more beyond the depth, or more than `MOST_NODES` datasets.
    """
    key, namespace, name = dataset
    walks = {way: walk(reader, key, _NEXT[way], depth) for way in DIRECTIONS[direction]}
    keys = {key}.union(*(found.found_by for found in walks.values()))
    draw = _Drawing(reader, keys, evaluated)
    cuts = [f"{way}: {found.cut}" for way, found in walks.items() if found.cut]
    trees = {way: draw.branches(found, key) for way, found in walks.items()}
    return Lineage(
        dataset_namespace=namespace,
        dataset=name,
        state=draw.states[key],
        upstream=trees.get("upstream", []),
        downstream=trees.get("downstream", []),
        last_run=last_run(reader, key),
        depth=depth,
        partial=bool(cuts),
        partial_reason="; ".join(cuts) or None,
    )


def walk(reader: Reader, start: int, sql: str, depth: int, values: Values | None = None) -> Walk:
    """From `start`, so many steps; `sql` gives (here, other, job name) of the datasets `:keys`."""
    found = Walk(neighbours={}, found_by={start: None})
    frontier = [start]
    for _ in range(depth):
        frontier = _step(found, rows_for(reader, sql, frontier, values))
        if not frontier or found.cut:
            return found
    beyond = rows_for(reader, sql, frontier, values)
    if any(other not in found.found_by for _, other, _ in beyond):
        found.cut = f"more lies beyond depth {depth}"
    return found


def _step(found: Walk, edges: Iterable[Row]) -> list[int]:
    reached: list[int] = []
    for here, other, job_name in edges:
        if other not in found.found_by:
            if len(found.found_by) > MOST_NODES:
                found.cut = f"more than {MOST_NODES} datasets"
                continue
            found.found_by[other] = here
            reached.append(other)
        if other != here:
            found.neighbours.setdefault(here, {}).setdefault(other, set()).add(job_name)
    return reached


class _Drawing:
    """Names and states of the datasets that a tree is drawn of."""

    def __init__(self, reader: Reader, keys: Iterable[int], evaluated: Evaluated) -> None:
        wanted = list(keys)
        self.states = states_of(reader, wanted, evaluated)
        self._names = {row[0]: (row[1], row[2]) for row in rows_for(reader, NAMES, wanted)}

    def branches(self, found: Walk, key: int) -> list[Node]:
        """What hangs on this dataset, by name."""
        others = found.neighbours.get(key, {})
        nodes = [self._node(found, key, other, jobs) for other, jobs in others.items()]
        return sorted(nodes, key=lambda node: (node.dataset_namespace, node.dataset))

    def _node(self, found: Walk, parent: int, key: int, jobs: set[str]) -> Node:
        namespace, name = self._names.get(key, ("", f"(unknown dataset {key})"))
        repeated = found.found_by[key] != parent
        children = [] if repeated else self.branches(found, key)
        return Node(namespace, name, self.states[key], sorted(jobs), repeated, children)

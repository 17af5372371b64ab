"""A walk drawn as a tree.

A dataset stands once with its own branch, where it was found; elsewhere in the tree it is only
named (`repeated`): a graph with diamonds would otherwise grow without end as a tree.
"""

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Final, TypeVar

from lineage.walks import Edge, Walk

_Node = TypeVar("_Node")
# Of an edge: from, to, by which jobs, and what hangs on its end: filled later, none if repeated.
Draw = Callable[[int, int, list[str], list[_Node] | None], _Node]
_NAME: Final = attrgetter("dataset_namespace", "dataset")


def branches(walk: Walk, start: int, draw: Draw[_Node]) -> list[_Node]:
    """What hangs on this dataset, by name; `draw` is asked for each edge."""
    hanging: dict[int, list[_Node]] = {key: [] for key in walk.found_by}
    for here, other, jobs in _joined(walk.edges):
        below = hanging[other] if walk.found_by[other] == here else None
        hanging[here].append(draw(here, other, jobs, below))
    for nodes in hanging.values():
        if len(nodes) > 1:
            nodes.sort(key=_NAME)
    return hanging[start]


def _joined(edges: Iterable[Edge]) -> list[tuple[int, int, list[str]]]:
    """Each pair once, with all its jobs: its edges follow one another."""
    joined: list[tuple[int, int, list[str]]] = []
    of = to = None
    for here, other, job in edges:
        if other == to and here == of:
            joined[-1][2].append(job)
        else:
            joined.append((here, other, [job]))
            of, to = here, other
    return [pair if len(pair[2]) == 1 else _in_order(*pair) for pair in joined]


def _in_order(here: int, other: int, jobs: list[str]) -> tuple[int, int, list[str]]:
    return here, other, sorted(set(jobs))

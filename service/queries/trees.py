"""Trees of walks.

A dataset stands once with its own branch, where it was found; elsewhere in the tree it is only
named (`repeated`): a graph with diamonds would otherwise grow without end as a tree.
"""

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Final, TypeVar

from lineage.graph.walks import Edge, Walk

_Node = TypeVar("_Node")
# An edge, by positions in the walk: from, to, jobs, and the branches of its end. The branches are
# filled later; None if the end was drawn before.
Draw = Callable[[int, int, list[str], list[_Node] | None], _Node]
_NAME: Final = attrgetter("dataset_namespace", "dataset")


def branches(walk: Walk, draw: Draw[_Node]) -> list[_Node]:
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

"""A walk drawn as a tree.

A dataset stands once with its own branch, where it was found; elsewhere in the tree it is only
named (`repeated`): a graph with diamonds would otherwise grow without end as a tree.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from lineage.walks import Walk

_Node = TypeVar("_Node")
# Of an edge: from, to, by which jobs, and what hangs on its end: filled later, none if repeated.
Draw = Callable[[int, int, list[str], list[_Node] | None], _Node]


def branches(
    walk: Walk, start: int, names: Mapping[int, tuple[str, str]], draw: Draw[_Node]
) -> list[_Node]:
    """What hangs on this dataset, by name; `draw` is asked for each edge."""
    beyond: dict[int, dict[int, list[str]]] = {key: {} for key in walk.found_by}
    for here, other, job in walk.edges:
        beyond[here].setdefault(other, []).append(job)
    hanging: dict[int, list[_Node]] = {key: [] for key in walk.found_by}
    for here, others in beyond.items():
        for other in sorted(others, key=names.__getitem__) if len(others) > 1 else others:
            below = hanging[other] if walk.found_by[other] == here else None
            jobs = others[other]
            told = jobs if len(jobs) == 1 else sorted(set(jobs))
            hanging[here].append(draw(here, other, told, below))
    return hanging[start]

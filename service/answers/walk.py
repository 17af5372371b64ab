"""Walks of the graph in SQL, level by level, of what may be seen of it."""

from collections.abc import Iterable

import msgspec

from lineage.catalog.reader import Reader, Values, rows_for
from service.access.sight import Sight

MOST_NODES = 5_000
MOST_DEPTH = 100
NEXT = {
    "upstream": "SELECT downstream_key, upstream_key, job_name FROM edge"
    " WHERE downstream_key IN (:keys)",
    "downstream": "SELECT upstream_key, downstream_key, job_name FROM edge"
    " WHERE upstream_key IN (:keys)",
}
NAMES = "SELECT dataset_key, namespace, name FROM dataset WHERE dataset_key IN (:keys)"

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

    def depths(self) -> dict[int, int]:
        """Steps to each dataset, in the order of finding: whoever found it was found before."""
        depths: dict[int, int] = {}
        for key, finder in self.found_by.items():
            depths[key] = 0 if finder is None else depths[finder] + 1
        return depths


class Steps:
    """The edges of one direction, and which of their ends may be seen."""

    def __init__(
        self, reader: Reader, sql: str, sight: Sight, values: Values | None = None
    ) -> None:
        """`sql` gives (here, other, job name) of the datasets `:keys`, and of `values`."""
        self._reader = reader
        self._sql = sql
        self._sight = sight
        self._values = values

    def edges(self, frontier: Iterable[int]) -> list[tuple[int, int, str, bool]]:
        """(from, to, job, whether `to` may be seen) of every edge out of these."""
        rows = rows_for(self._reader, self._sql, frontier, self._values)
        if self._sight.is_whole:
            return [(here, other, job, True) for here, other, job in rows]
        named = rows_for(self._reader, NAMES, {other for _, other, _ in rows})
        seen = {key for key, namespace, _ in named if self._sight.sees(namespace)}
        return [(here, other, job, other in seen) for here, other, job in rows]


def walked(steps: Steps, start: int, depth: int) -> Walk:
    """All that is reached from here in one direction, nearest first, to `depth` steps away."""
    return walked_from(steps, [start], depth)


def walked_from(steps: Steps, starts: Iterable[int], depth: int) -> Walk:
    """The same from several datasets at once."""
    frontier = list(starts)
    walk = Walk(neighbours={}, found_by=dict.fromkeys(frontier), hidden={})
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

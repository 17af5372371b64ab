"""Walks of the graph, level by level, of what may be seen of it."""

from collections.abc import Iterable

from lineage.catalog.reader import Reader, Values, rows_for
from lineage.walks import Walk, too_deep, too_many
from service.access.sight import Sight
from service.asking import Question

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


def walked(asked: Question, way: str, starts: Iterable[int], depth: int) -> Walk:
    """All that is reached from here now, `upstream` or `downstream`, to `depth` steps away."""
    if asked.live is None:
        return CatalogWalk(asked.reader, NEXT[way], asked.sight).walked(starts, depth)
    sees = None if asked.sight.is_whole else asked.sight.sees
    return asked.live.walked(way, starts, depth, MOST_NODES, sees)


def named(asked: Question, keys: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Namespace and name of those of these datasets that the catalog has."""
    wanted = set(keys)
    known = {} if asked.live is None else asked.live.named(wanted)
    return known | names_of(asked.reader, wanted - known.keys())


def all_named(keys: Iterable[int], known: dict[int, tuple[str, str]]) -> dict[int, tuple[str, str]]:
    """What is known of these, and words for the datasets that have edges, and no row."""
    return known | {key: ("", f"(unknown dataset {key})") for key in set(keys) - known.keys()}


def names_of(reader: Reader, keys: Iterable[int]) -> dict[int, tuple[str, str]]:
    """The same, of the catalog alone."""
    return {key: (namespace, name) for key, namespace, name in rows_for(reader, NAMES, keys)}


class CatalogWalk:
    """A walk that asks the catalog for each level."""

    def __init__(
        self, reader: Reader, sql: str, sight: Sight, values: Values | None = None
    ) -> None:
        """`sql` gives (here, other, job name) of the datasets `:keys`, and of `values`."""
        self._reader = reader
        self._sql = sql
        self._sight = sight
        self._values = values
        self._walk = Walk({}, [], {})

    def walked(self, starts: Iterable[int], depth: int) -> Walk:
        """All that is reached, nearest first."""
        walk = self._walk
        walk.found_by = dict.fromkeys(starts)
        frontier = list(walk.found_by)
        for _ in range(depth):
            frontier = self._step(frontier)
            if not frontier or walk.cut:
                return walk
        if any(other not in walk.found_by for _, other, _ in self._edges(frontier)):
            walk.cut = too_deep(depth)
        return walk

    def _step(self, frontier: Iterable[int]) -> list[int]:
        walk, reached = self._walk, []
        for here, other, job in self._edges(frontier):
            if other not in walk.found_by:
                if len(walk.found_by) > MOST_NODES:
                    walk.cut = too_many(MOST_NODES)
                    continue
                walk.found_by[other] = here
                reached.append(other)
            if other != here:
                walk.edges.append((here, other, job))
        return reached

    def _edges(self, frontier: Iterable[int]) -> list[tuple[int, int, str]]:
        """Out of these, to what may be seen; what may not is noted."""
        rows = sorted(rows_for(self._reader, self._sql, frontier, self._values))
        if self._sight.is_whole:
            return rows
        names = names_of(self._reader, {other for _, other, _ in rows})
        seen = {key for key, (namespace, _) in names.items() if self._sight.sees(namespace)}
        for here, other, _ in rows:
            if other not in seen:
                self._walk.hidden.setdefault(here, set()).add(other)
        return [row for row in rows if row[1] in seen]

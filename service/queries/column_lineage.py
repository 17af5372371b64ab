"""Lineage of a column, upstream and downstream: walks of the column graph, and their trees.

A walk goes level by level, over what the token may see.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from lineage.catalog.reader import CatalogReader
from lineage.catalog.rows import Row
from lineage.graph.walks import NOBODY, Walk, too_deep
from lineage.names.names import Name
from service.queries.catalog_session import CatalogSession
from service.queries.column_shapes import ColumnLineage, ColumnNode
from service.queries.columns import column_type, stored_transformations
from service.queries.dataset_lookup import KnownDataset
from service.queries.timestamps import iso
from service.queries.visibility import UNSEEN, Visibility
from service.queries.walk import DIRECTIONS, all_named, build_tree, names_of

ColumnKey = tuple[int, str]  # canonical key of its dataset, and its name

MOST_COLUMNS: Final = 5_000
_MOST_EDGES = 20_000  # of one query: a column may feed very many
_PAIRS = 1_000  # columns of one query
# A CROSS JOIN has SQLite look for the columns that are wanted, and not the other way round.
_NEXT = """
WITH wanted(dataset_key, field) AS (VALUES {wanted})
SELECT e.{here}_key AS here_key, e.{here}_field AS here_field, e.{other}_key AS other_key,
  e.{other}_field AS other_field, e.transformations, e.first_seen_at, e.last_seen_at
FROM wanted w CROSS JOIN column_edge e
WHERE e.{here}_key = w.dataset_key AND e.{here}_field = w.field
ORDER BY 1, 2, 3, 4 LIMIT :most
"""
_ENDS = {"upstream": ("downstream", "upstream"), "downstream": ("upstream", "downstream")}


class ColumnEdge(NamedTuple):
    """Attributes of a column edge, without its ends."""

    transformations: str | None
    first_seen_at: int
    last_seen_at: int


class ColumnWalk:
    """Walk along column edges in one direction.

    Attributes:
        columns: that were found, by position in the walk.
        walk: the same by position, so that trees can be drawn of it.
        edges: by positions, in the direction of the walk.
        hidden: next to each position, the columns that the token may not see.
    """

    def __init__(self, reader: CatalogReader, way: str, visibility: Visibility) -> None:
        """Prepare a walk; `way`: upstream or downstream."""
        self._reader = reader
        self._way = way
        self._visibility = visibility
        self._positions: dict[ColumnKey, int] = {}
        self._names: dict[int, Name] = {}
        self.columns: list[ColumnKey] = []
        self.walk = Walk([], [], [], {})
        self.edges: dict[tuple[int, int], ColumnEdge] = {}
        self.hidden: dict[int, set[ColumnKey]] = {}

    def follow(self, starts: Iterable[ColumnKey], depth: int) -> "ColumnWalk":
        """Find all columns within `depth` steps of these, nearest first."""
        for start in dict.fromkeys(starts):
            self._find(start, NOBODY)
        frontier = list(self.columns)
        for _ in range(depth):
            frontier = self._step(frontier)
            if not frontier or self.walk.cut:
                return self
        if any(other not in self._positions for _, other, _ in self._seen_edges(frontier)):
            self.walk.cut = too_deep(depth)
        return self

    def names(self) -> list[Name]:
        """Return the name of the dataset of each column, by position."""
        keys = [key for key, _ in self.columns]
        self._learn_names(keys)
        return all_named(keys, [self._names.get(key) for key in keys])

    def _step(self, frontier: Sequence[ColumnKey]) -> list[ColumnKey]:
        reached = len(self.columns)
        for here, other, edge in self._seen_edges(frontier):
            start = self._positions[here]
            if other not in self._positions:
                if len(self.columns) > MOST_COLUMNS:
                    self.walk.cut = f"more than {MOST_COLUMNS:,} columns"
                    continue
                self._find(other, start)
            if other != here:
                end = self._positions[other]
                self.walk.edges.append((start, end, ""))
                self.edges[start, end] = edge
        return self.columns[reached:]

    def _find(self, column: ColumnKey, finder: int) -> None:
        self._positions[column] = len(self.columns)
        self.walk.keys.append(len(self.columns))
        self.walk.finders.append(finder)
        self.columns.append(column)

    def _seen_edges(
        self, frontier: Sequence[ColumnKey]
    ) -> list[tuple[ColumnKey, ColumnKey, ColumnEdge]]:
        """Return the edges out of these to what the token may see; count all others."""
        edges, is_cut = edges_of(self._reader, self._way, frontier)
        if is_cut:
            self.walk.cut = f"more than {_MOST_EDGES:,} edges of one step"
        if self._visibility.is_whole:
            return edges
        self._learn_names(key for _, (key, _), _ in edges)
        for here, other, _ in edges:
            if not self._is_seen(other[0]):
                self.hidden.setdefault(self._positions[here], set()).add(other)
        return [edge for edge in edges if self._is_seen(edge[1][0])]

    def _is_seen(self, key: int) -> bool:
        """Say no of a dataset without a row: its namespace is not known."""
        name = self._names.get(key)
        return name is not None and self._visibility.sees(name[0], key)

    def _learn_names(self, keys: Iterable[int]) -> None:
        self._names |= names_of(self._reader, set(keys) - self._names.keys())


def edges_of(
    reader: CatalogReader, way: str, columns: Sequence[ColumnKey]
) -> tuple[list[tuple[ColumnKey, ColumnKey, ColumnEdge]], bool]:
    """Return the edges out of these columns, and whether there are more than a query returns."""
    here, other = _ENDS[way]
    sql = _NEXT.replace("{here}", here).replace("{other}", other)
    found: list[tuple[ColumnKey, ColumnKey, ColumnEdge]] = []
    is_cut = False
    for start in range(0, len(columns), _PAIRS):
        pairs, values = _wanted(columns[start : start + _PAIRS])
        rows = reader.rows(sql.replace("{wanted}", pairs), values | {"most": _MOST_EDGES + 1})
        is_cut |= len(rows) > _MOST_EDGES
        found += map(_edge, rows[:_MOST_EDGES])
    return found, is_cut


def _wanted(columns: Sequence[ColumnKey]) -> tuple[str, dict[str, Any]]:
    """Return columns as a list of parameters, and their values."""
    pairs = [f"(CAST(:key_{n} AS BIGINT), CAST(:field_{n} AS TEXT))" for n in range(len(columns))]
    values: dict[str, Any] = {}
    for n, (key, field) in enumerate(columns):
        values |= {f"key_{n}": key, f"field_{n}": field}
    return ", ".join(pairs), values


def _edge(row: Row) -> tuple[ColumnKey, ColumnKey, ColumnEdge]:
    edge = ColumnEdge(row.transformations, row.first_seen_at, row.last_seen_at)
    return (row.here_key, row.here_field), (row.other_key, row.other_field), edge


def find_column_lineage(
    asked: CatalogSession,
    dataset: KnownDataset,
    column: str,
    *,
    depth: int,
    direction: str = "both",
) -> ColumnLineage:
    """Return both trees, or the one asked for, to `depth` steps away.

    Columns that the token may not see are counted beside each column, and not followed.

    Raises:
        UnknownColumnError: the dataset has no column of this name.
    """
    key, namespace, name = dataset
    kind = column_type(asked.reader, dataset, column)
    walks = {
        way: ColumnWalk(asked.reader, way, asked.visibility).follow([(key, column)], depth)
        for way in DIRECTIONS[direction]
    }
    trees = {way: _tree(asked, found) for way, found in walks.items()}
    cuts = column_cuts_of(walks)
    return ColumnLineage(
        dataset_namespace=namespace,
        dataset=name,
        column=column,
        type=kind,
        upstream=trees.get("upstream", []),
        downstream=trees.get("downstream", []),
        depth=depth,
        partial=bool(cuts),
        partial_reason="; ".join(cuts) or None,
        hidden_upstream=_hidden(walks.get("upstream")),
        hidden_downstream=_hidden(walks.get("downstream")),
    )


def column_cuts_of(walks: dict[str, ColumnWalk]) -> list[str]:
    """Return in words what walks of these names left out."""
    cuts = [f"{way}: {found.walk.cut}" for way, found in walks.items() if found.walk.cut]
    return [*cuts, UNSEEN] if any(found.hidden for found in walks.values()) else cuts


def _hidden(found: ColumnWalk | None) -> int:
    return 0 if found is None else len(found.hidden.get(0, ()))


def _tree(asked: CatalogSession, found: ColumnWalk) -> list[ColumnNode]:
    """Return the tree below the column that the walk starts from."""
    names = found.names()

    def node(here: int, at: int, _: list[str], below: list[ColumnNode] | None) -> ColumnNode:
        edge = found.edges[here, at]
        return ColumnNode(
            *names[at],
            found.columns[at][1],
            stored_transformations(edge.transformations, asked.visibility),
            iso(edge.first_seen_at),
            iso(edge.last_seen_at),
            below is None,
            [] if below is None else below,  # filled later
            len(found.hidden.get(at, ())),
        )

    return build_tree(found.walk, node)

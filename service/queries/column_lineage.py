"""Lineage of a column, upstream and downstream, as two trees."""

from service.queries.catalog_session import CatalogSession
from service.queries.column_shapes import ColumnLineage, ColumnNode
from service.queries.column_walk import ColumnWalk
from service.queries.columns import column_type, transformations_of
from service.queries.dataset_lookup import Dataset
from service.queries.timestamps import iso
from service.queries.trees import branches
from service.queries.visible import UNSEEN
from service.queries.walk import DIRECTIONS


def column_lineage(
    asked: CatalogSession, dataset: Dataset, column: str, *, depth: int, direction: str = "both"
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
    cuts = cuts_of(walks)
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


def cuts_of(walks: dict[str, ColumnWalk]) -> list[str]:
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
            transformations_of(edge.transformations, asked.visibility),
            iso(edge.first_seen_at),
            iso(edge.last_seen_at),
            below is None,
            [] if below is None else below,  # filled later
            len(found.hidden.get(at, ())),
        )

    return branches(found.walk, node)

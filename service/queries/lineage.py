"""Upstream and downstream lineage of a dataset, as two trees."""

from collections.abc import Iterable
from typing import Final

from lineage.catalog.reader import CatalogReader, rows_for
from lineage.graph.walks import Walk
from service.queries.catalog_session import CatalogSession
from service.queries.dataset_lookup import KnownDataset
from service.queries.edge_runs import EdgeKeys
from service.queries.runs import last_run
from service.queries.shapes import Lineage, Node
from service.queries.walk import (
    DIRECTIONS,
    all_named,
    build_tree,
    name_nodes,
    states_of_nodes,
    walk_lineage,
)

ORIGIN_WORDS: Final = {
    "column_lineage": "column lineage",
    "lineage_facet": "lineage facet",
    "sql": "SQL",
    "foreach_batch": "foreachBatch",
}
_ANY_ORIGIN: Final = "SELECT 1 FROM edge WHERE origin IS NOT NULL LIMIT 1"
# An edge that another job names by its inputs has no origin.
_ORIGINS: Final = """
SELECT e.upstream_key, e.downstream_key, MIN(e.origin) AS origin FROM edge e
WHERE e.origin IS NOT NULL AND e.downstream_key IN (:keys) AND NOT EXISTS (
  SELECT 1 FROM edge o WHERE o.upstream_key = e.upstream_key
  AND o.downstream_key = e.downstream_key AND o.origin IS NULL)
GROUP BY e.upstream_key, e.downstream_key
"""


def find_lineage(
    asked: CatalogSession, dataset: KnownDataset, *, depth: int, direction: str = "both"
) -> Lineage:
    """Return the upstream tree, the downstream tree or both, up to `depth` hops.

    The answer is partial if more lies beyond the depth, or beyond `MOST_NODES` datasets. Hidden
    datasets are counted beside each dataset, and nothing beyond them is followed.
    """
    key, namespace, name = dataset
    walks = {way: walk_lineage(asked, way, [key], depth) for way in DIRECTIONS[direction]}
    trees = {way: _tree(asked, found, way) for way, found in walks.items()}
    cuts = [f"{way}: {found.cut}" for way, found in walks.items() if found.cut]
    return Lineage(
        dataset_namespace=namespace,
        dataset=name,
        state=states_of_nodes(asked, [key])[0],
        upstream=trees.get("upstream", []),
        downstream=trees.get("downstream", []),
        last_run=last_run(asked.reader, key, asked.visibility),
        depth=depth,
        partial=bool(cuts),
        partial_reason="; ".join(cuts) or None,
        hidden_upstream=_hidden(walks.get("upstream")),
        hidden_downstream=_hidden(walks.get("downstream")),
    )


def _hidden(found: Walk | None) -> int:
    return 0 if found is None else found.hidden_next_to(0)


def _tree(asked: CatalogSession, found: Walk, way: str) -> list[Node]:
    """Return the tree of a walk, from its start."""
    states = states_of_nodes(asked, found.keys)
    names = all_named(found.keys, name_nodes(asked, found.keys))
    hidden = {at: len(others) for at, others in found.hidden.items()}

    origins = edge_origins(asked.reader, found.keys)

    def node(here: int, at: int, jobs: list[str], below: list[Node] | None) -> Node:
        namespace, name = names[at]
        beyond = [] if below is None else below
        ends = (at, here) if way == "upstream" else (here, at)
        origin = origins.get((found.keys[ends[0]], found.keys[ends[1]]))
        unseen = hidden.get(at, 0)
        return Node(namespace, name, states[at], jobs, below is None, beyond, unseen, origin)

    return build_tree(found, node)


def edge_origins(reader: CatalogReader, downstream: Iterable[int]) -> dict[EdgeKeys, str]:
    """Return the origin of each edge into these datasets that no run names by its inputs."""
    if not reader.rows(_ANY_ORIGIN):  # most catalogs have none, and a walk may be of 5,000 datasets
        return {}
    return {(up, down): origin for up, down, origin in rows_for(reader, _ORIGINS, downstream)}

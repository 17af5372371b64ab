"""Neighbourhood of a dataset in the format of Grafana's node graph: nodes, and edges.

Field names are the panel's (`title`, `mainstat`, `arc__…`); a part of the arc that is 1 colours the
whole of it. `dataset_namespace` and `dataset` stand beside them for links.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from lineage.catalog.queries import TIER_IN_FORCE
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row
from lineage.graph.walks import Walk
from lineage.states import BAD, FAILING, GOOD, LEARNING, UNKNOWN
from service.queries.catalog_session import CatalogSession
from service.queries.dataset_lookup import UNCHOSEN, KnownDataset
from service.queries.datasets import states_of
from service.queries.timestamps import Evaluated
from service.queries.walk import NEXT, cuts_of, edges_between, name_nodes, walk_lineage

MOST_DRAWN = 200  # more is no picture
_NODES = f"""
SELECT d.dataset_key, d.namespace, d.name, {TIER_IN_FORCE} AS tier, COALESCE(p.owner, '') AS owner,
  (SELECT s.reason FROM dataset_state s WHERE s.dataset_key = d.dataset_key AND s.is_worst)
    AS reason
FROM dataset d LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
WHERE d.dataset_key IN (:keys)
"""  # noqa: S608 - constants only
_Edges = dict[tuple[int, int], set[str]]  # jobs, by upstream and downstream


class GraphNode(msgspec.Struct, frozen=True):
    """Dataset; the arc of its state is 1, the others are 0."""

    id: str
    title: str
    subtitle: str
    mainstat: str  # state
    secondarystat: str  # its reason, or the tier
    arc__good: int
    arc__learning: int
    arc__unknown: int
    arc__bad: int
    highlighted: bool  # the one asked for
    dataset_namespace: str
    dataset: str
    tier: str
    owner: str


class GraphEdge(msgspec.Struct, frozen=True):
    """Edge from dataset to dataset, with its jobs."""

    id: str
    source: str
    target: str
    mainstat: str  # the job, or how many
    job_names: str


class GraphNodes(msgspec.Struct, frozen=True):
    """Datasets of a neighbourhood, the nearest first; of which one: null where none was chosen."""

    dataset_namespace: str | None
    dataset: str | None
    nodes: list[GraphNode]
    partial: bool
    partial_reason: str | None


class GraphEdges(msgspec.Struct, frozen=True):
    """Edges between those datasets."""

    dataset_namespace: str | None
    dataset: str | None
    edges: list[GraphEdge]
    partial: bool
    partial_reason: str | None


# A dashboard whose variable has no value asks all the same, and an error would hide that nothing
# is wrong.
NO_NODES: Final = GraphNodes(None, None, [], partial=True, partial_reason=UNCHOSEN)
NO_EDGES: Final = GraphEdges(None, None, [], partial=True, partial_reason=UNCHOSEN)


class Neighbourhood(msgspec.Struct, frozen=True):
    """Result of a walk both ways, cut to what can be drawn."""

    keys: list[int]
    edges: _Edges
    cut: str | None


def neighbourhood(
    asked: CatalogSession, centre: KnownDataset, depth: int, *, limit: int = MOST_DRAWN
) -> Neighbourhood:
    """Return the nearest `limit` visible datasets within `depth` steps both ways."""
    most = min(limit, MOST_DRAWN)
    walks = {way: walk_lineage(asked, way, [centre[0]], depth) for way in NEXT}
    keys = _nearest(asked, walks.values())
    edges: _Edges = {}
    for row in edges_between(asked.reader, keys[:most]):
        if row.upstream_key != row.downstream_key:
            edges.setdefault((row.upstream_key, row.downstream_key), set()).add(row.job_name)
    cuts = cuts_of(walks)
    if len(keys) > most:
        cuts.append(f"the nearest {most} of {len(keys)} datasets shown")
    return Neighbourhood(keys[:most], edges, "; ".join(cuts) or None)


def _nearest(asked: CatalogSession, walks: Iterable[Walk]) -> list[int]:
    """Return datasets that the catalog has: an edge may name one whose row is gone."""
    found = sorted(pair for walk in walks for pair in zip(walk.depths(), walk.keys, strict=True))
    keys = list(dict.fromkeys(key for _, key in found))
    return [key for key, name in zip(keys, name_nodes(asked, keys), strict=True) if name]


def graph_nodes(
    reader: CatalogReader, named: KnownDataset, around: Neighbourhood, evaluated: Evaluated
) -> GraphNodes:
    """Return the datasets, coloured by state; unknown if the evaluation is stale."""
    key, namespace, name = named
    states = states_of(reader, around.keys, evaluated)
    rows = {row.dataset_key: row for row in rows_for(reader, _NODES, around.keys)}
    nodes = [
        _node(rows[one], state, is_asked=one == key)
        for one, state in zip(around.keys, states, strict=True)
        if one in rows
    ]
    return GraphNodes(namespace, name, nodes, around.cut is not None, around.cut)


def _node(row: Row, state: str, *, is_asked: bool) -> GraphNode:
    is_explained = row.reason is not None and state in (BAD, UNKNOWN)
    return GraphNode(
        id=str(row.dataset_key),
        title=row.name.rpartition("/")[2] or row.name,
        subtitle=f"{row.namespace} {row.name}",
        mainstat=state,
        secondarystat=row.reason if is_explained else row.tier,
        arc__good=int(state == GOOD),
        arc__learning=int(state == LEARNING),
        arc__unknown=int(state == UNKNOWN),
        arc__bad=int(state in (BAD, FAILING)),
        highlighted=is_asked,
        dataset_namespace=row.namespace,
        dataset=row.name,
        tier=row.tier,
        owner=row.owner,
    )


def graph_edges(named: KnownDataset, around: Neighbourhood) -> GraphEdges:
    """Return the edges, one for each pair."""
    edges = [_edge(pair, jobs) for pair, jobs in sorted(around.edges.items())]
    _, namespace, name = named
    return GraphEdges(namespace, name, edges, around.cut is not None, around.cut)


def _edge(pair: tuple[int, int], jobs: set[str]) -> GraphEdge:
    source, target = map(str, pair)
    named = sorted(job or "(declared)" for job in jobs)
    label = named[0] if len(named) == 1 else f"{len(named)} jobs"
    return GraphEdge(f"{source}-{target}", source, target, label, ", ".join(named))

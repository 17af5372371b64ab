"""Neighbourhood of a dataset, as Grafana's node graph wants it: two queries, two responses."""

from typing import Annotated

from litestar import get
from litestar.params import FromQuery, QueryParameter

from service.api.routes.request import AnyRequest, session
from service.queries.dataset_lookup import resolve_dataset
from service.queries.node_graph import (
    MOST_DRAWN,
    NO_EDGES,
    NO_NODES,
    GraphEdges,
    GraphNodes,
    graph_edges,
    graph_nodes,
    neighbourhood,
)

_Depth = Annotated[
    int, QueryParameter(ge=1, le=10, description=("Hops to follow upstream and downstream."))
]
_Limit = Annotated[
    int,
    QueryParameter(ge=1, le=MOST_DRAWN, description=("Maximum number of datasets, nearest first.")),
]


@get("/api/v1/graph/nodes", query="lineage", access="graph", is_cut=True, sync_to_thread=True)
def get_graph_nodes(
    request: AnyRequest,
    *,
    dataset: FromQuery[str],
    dataset_namespace: FromQuery[str | None] = None,
    depth: _Depth = 2,
    limit: _Limit = MOST_DRAWN,
) -> GraphNodes:
    """Return the datasets around one dataset, coloured by state; none without a name."""
    if not dataset:
        return NO_NODES
    with session(request) as asked:
        named = resolve_dataset(asked.reader, dataset, dataset_namespace, asked.visibility)
        around = neighbourhood(asked, named, depth, limit=limit)
        return graph_nodes(asked.reader, named, around, asked.evaluated)


@get("/api/v1/graph/edges", query="lineage", access="graph", is_cut=True, sync_to_thread=True)
def get_graph_edges(
    request: AnyRequest,
    *,
    dataset: FromQuery[str],
    dataset_namespace: FromQuery[str | None] = None,
    depth: _Depth = 2,
    limit: _Limit = MOST_DRAWN,
) -> GraphEdges:
    """Return the edges between these datasets."""
    if not dataset:
        return NO_EDGES
    with session(request) as asked:
        named = resolve_dataset(asked.reader, dataset, dataset_namespace, asked.visibility)
        around = neighbourhood(asked, named, depth, limit=limit)
        return graph_edges(named, around)

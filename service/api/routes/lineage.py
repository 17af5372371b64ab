"""Lineage of one dataset, and what it affects."""

from typing import Annotated, Literal

from litestar import get
from litestar.params import FromQuery, QueryParameter

from lineage.errors import InvalidRequestError
from service.api.routes.request import AnyRequest, session
from service.queries.dataset_lookup import resolve_dataset
from service.queries.impact import Impact, find_impact
from service.queries.lineage import find_lineage
from service.queries.lineage_at import PastLineage, past_lineage
from service.queries.marquez_api.ids import find_node
from service.queries.marquez_api.lineage import marquez_lineage
from service.queries.marquez_api.lineage_shapes import MarquezLineage
from service.queries.shapes import Lineage
from service.queries.timestamps import past_instant
from service.queries.walk import MOST_DEPTH

_Direction = FromQuery[Literal["upstream", "downstream", "both"]]
_Depth = Annotated[
    int | None,
    QueryParameter(
        ge=0,
        le=MOST_DEPTH,
        description=(
            "Hops to follow: default 5, minimum 1; with nodeId default 20, and 0 is one job."
        ),
    ),
]
_Steps = Annotated[int, QueryParameter(ge=1, le=MOST_DEPTH, description="Steps to follow.")]
_NodeId = Annotated[
    str | None,
    QueryParameter(
        name="nodeId",
        max_length=8_192,
        description="Node id as in Marquez: dataset:NAMESPACE:NAME or job:NAMESPACE:NAME.",
    ),
]
_DEPTH, _MARQUEZ_DEPTH = 5, 20
_At = Annotated[str | None, QueryParameter(description="Timestamp with time zone.")]


@get("/api/v1/lineage", query="lineage", access="lineage", is_cut=True, sync_to_thread=True)
def get_lineage(  # noqa: PLR0913 - each is a parameter of the query
    request: AnyRequest,
    *,
    dataset: FromQuery[str | None] = None,
    dataset_namespace: FromQuery[str | None] = None,
    depth: _Depth = None,
    direction: _Direction = "both",
    at: _At = None,
    node_id: _NodeId = None,
) -> Lineage | PastLineage | MarquezLineage:
    """Return upstream and downstream datasets and the last run; with `at`, at a past time.

    With `nodeId` in place of a dataset: upstream and downstream of it in Marquez's shape.
    """
    if (dataset is None) == (node_id is None):
        raise InvalidRequestError("dataset: missing; give a dataset, or a nodeId as in Marquez")
    if node_id is not None:
        if at is not None:
            raise InvalidRequestError("at: not supported with nodeId; give a dataset instead")
        return _of_node(request, node_id, _MARQUEZ_DEPTH if depth is None else depth)
    steps = _DEPTH if depth is None else depth
    if steps < 1:
        raise InvalidRequestError(f"depth: expected 1 to {MOST_DEPTH}, got {steps}")
    with session(request) as asked:
        named = resolve_dataset(asked.reader, str(dataset), dataset_namespace, asked.visibility)
        if at is None:
            return find_lineage(asked, named, depth=steps, direction=direction)
        reader, visibility, then = asked.reader, asked.visibility, past_instant(at, asked.now)
        return past_lineage(
            reader, named, then, depth=steps, direction=direction, visibility=visibility
        )


def _of_node(request: AnyRequest, node_id: str, depth: int) -> MarquezLineage:
    with session(request) as asked:
        node = find_node(asked.reader, node_id, asked.visibility)
        return marquez_lineage(asked, node, depth)


@get("/api/v1/impact", query="impact", access="impact", is_cut=True, sync_to_thread=True)
def get_impact(
    request: AnyRequest,
    *,
    dataset: FromQuery[str],
    dataset_namespace: FromQuery[str | None] = None,
    depth: _Steps = MOST_DEPTH,
) -> Impact:
    """Return all datasets downstream, with owners and tiers."""
    with session(request) as asked:
        named = resolve_dataset(asked.reader, dataset, dataset_namespace, asked.visibility)
        return find_impact(asked, named, depth=depth)

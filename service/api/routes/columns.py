"""Columns: those of a dataset, and the lineage of one, also in Marquez's shape."""

from typing import Annotated, Literal

from litestar import get
from litestar.params import FromQuery, QueryParameter

from lineage.errors import InvalidRequestError
from service.api.routes.request import AnyRequest, session
from service.queries.column_lineage import find_column_lineage
from service.queries.column_shapes import ColumnLineage, DatasetColumns
from service.queries.columns import MOST_LISTED_COLUMNS, dataset_columns
from service.queries.dataset_lookup import resolve_dataset
from service.queries.marquez_api.column_lineage import MarquezColumnLineage, marquez_column_lineage
from service.queries.walk import MOST_DEPTH

_Text = Annotated[str | None, QueryParameter(max_length=4_096)]
_Limit = Annotated[
    int, QueryParameter(ge=1, le=MOST_LISTED_COLUMNS, description=("Maximum number of results."))
]
_Depth = Annotated[
    int | None,
    QueryParameter(
        ge=0, le=MOST_DEPTH, description="Hops to follow: default 5, minimum 1; 20 for nodeId."
    ),
]
_Downstream = Annotated[
    bool,
    QueryParameter(name="withDownstream", description="With nodeId: include downstream columns."),
]
_Direction = FromQuery[Literal["upstream", "downstream", "both"]]
_NodeId = Annotated[
    str | None,
    QueryParameter(
        name="nodeId",
        max_length=8_192,
        description="dataset:NAMESPACE:NAME or datasetField:NAMESPACE:NAME:FIELD, as in Marquez.",
    ),
]
_DEPTH, _MARQUEZ_DEPTH = 5, 20


@get("/api/v1/columns", query="dataset", access="dataset", is_cut=True, sync_to_thread=True)
def get_columns(
    request: AnyRequest,
    *,
    dataset: FromQuery[str],
    dataset_namespace: _Text = None,
    limit: _Limit = MOST_LISTED_COLUMNS,
) -> DatasetColumns:
    """List the columns of a dataset, each with the columns one step upstream and downstream."""
    with session(request) as asked:
        named = resolve_dataset(asked.reader, dataset, dataset_namespace, asked.visibility)
        return dataset_columns(asked.reader, named, asked.visibility, limit=limit)


@get("/api/v1/column-lineage", query="lineage", access="lineage", is_cut=True, sync_to_thread=True)
def get_column_lineage(  # noqa: PLR0913 - each is a parameter of the query
    request: AnyRequest,
    *,
    dataset: _Text = None,
    dataset_namespace: _Text = None,
    column: _Text = None,
    depth: _Depth = None,
    direction: _Direction = "both",
    node_id: _NodeId = None,
    with_downstream: _Downstream = False,
) -> ColumnLineage | MarquezColumnLineage:
    """Return the columns up- and downstream of a column; with `nodeId` in Marquez's shape."""
    if node_id is not None:
        steps = _MARQUEZ_DEPTH if depth is None else depth
        with session(request) as asked:
            return marquez_column_lineage(asked, node_id, steps, with_downstream=with_downstream)
    if dataset is None or column is None:
        raise InvalidRequestError("dataset, column: give both, or a nodeId as in Marquez")
    steps = _DEPTH if depth is None else depth
    if steps < 1:
        raise InvalidRequestError(f"depth: expected 1 to {MOST_DEPTH}, got {steps}")
    with session(request) as asked:
        named = resolve_dataset(asked.reader, dataset, dataset_namespace, asked.visibility)
        return find_column_lineage(asked, named, column, depth=steps, direction=direction)


COLUMN_ROUTES = (get_columns, get_column_lineage)

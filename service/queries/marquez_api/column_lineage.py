"""Column lineage as Marquez 0.51 answers it: `GET /api/v1/column-lineage?nodeId=`."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote

import msgspec

from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import pairs_of
from lineage.errors import InvalidRequestError
from lineage.names.names import Name
from service.errors import UnknownNodeError
from service.queries.catalog_session import CatalogSession
from service.queries.column_lineage import (
    ColumnEdge,
    ColumnKey,
    ColumnWalk,
    column_cuts_of,
    edges_of,
)
from service.queries.columns import stored_transformations, types_of
from service.queries.dataset_lookup import KnownDataset
from service.queries.marquez_api.ids import find_node, unknown_node
from service.queries.marquez_api.lineage_shapes import MarquezEdge
from service.queries.schema_changes import fields_of
from service.queries.visibility import Visibility

_FIELD: Final = "datasetField"
_EDGES_CUT = "some columns have too many sources: not all edges are shown"
_MOST_COLONS = 4  # of a column's name
_SCHEMAS = """
SELECT dataset_key, fields FROM schema_version WHERE dataset_key IN (:keys)
ORDER BY last_seen_at, schema_key DESC
"""


class MarquezInputField(msgspec.Struct, frozen=True, rename="camel", kw_only=True, gc=False):
    """Column that a column is made of; `dataset_namespace` as everywhere in this API."""

    namespace: str
    dataset: str
    dataset_version: str | None = None
    field: str
    transformation_description: str | None
    transformation_type: str | None
    dataset_namespace: str = msgspec.field(name="dataset_namespace")


class FieldNodeData(msgspec.Struct, frozen=True, rename="camel", kw_only=True, gc=False):
    """`data` of a column's node. Its two transformations are those of its first input field."""

    namespace: str
    dataset: str
    dataset_version: str | None = None
    field: str
    field_type: str  # empty where it is not known, as there
    transformation_description: str | None
    transformation_type: str | None
    input_fields: list[MarquezInputField]
    dataset_namespace: str = msgspec.field(name="dataset_namespace")


class FieldNode(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """Column. The origin of every edge is the node itself, of `inEdges` too, as with Marquez."""

    id: str
    type: str
    data: FieldNodeData
    in_edges: list[MarquezEdge]
    out_edges: list[MarquezEdge]


class MarquezColumnLineage(msgspec.Struct, frozen=True):
    """Columns around a node, by id; `partial` and its reason are ours."""

    graph: list[FieldNode]
    partial: bool
    partial_reason: str | None


class _Graph(msgspec.Struct):
    """Columns that the walks found, and the edges between them."""

    names: dict[ColumnKey, Name]
    edges: dict[tuple[ColumnKey, ColumnKey], ColumnEdge]  # upstream, downstream


def marquez_column_lineage(
    asked: CatalogSession, node_id: str, depth: int, *, with_downstream: bool
) -> MarquezColumnLineage:
    """Return what lies upstream of a column, or of all columns of a dataset, and downstream.

    Raises:
        InvalidRequestError: the id is neither of a dataset nor of a column.
        UnknownNodeError: the token sees no such dataset or column.
    """
    starts = _columns_of(asked.reader, node_id, asked.visibility)
    ways = ("upstream", "downstream") if with_downstream else ("upstream",)
    walks = {
        way: ColumnWalk(asked.reader, way, asked.visibility).follow(starts, max(depth, 1))
        for way in ways
    }
    graph, is_cut = _joined(asked.reader, walks)
    cuts = [*column_cuts_of(walks), *([_EDGES_CUT] if is_cut else [])]
    return MarquezColumnLineage(_nodes(asked, graph), bool(cuts), "; ".join(cuts) or None)


def _columns_of(reader: CatalogReader, node_id: str, visibility: Visibility) -> list[ColumnKey]:
    kind, _, rest = node_id.partition(":")
    if kind == "dataset":
        named = find_node(reader, node_id, visibility)
        if not isinstance(named, tuple):
            raise unknown_node("dataset", rest)
        return [(named[0], field) for field in types_of(reader, named[0])]
    if kind != _FIELD or rest.count(":") < 2:  # noqa: PLR2004 - namespace, name, field
        expected = f"expected dataset:NAMESPACE:NAME or {_FIELD}:NAMESPACE:NAME:FIELD"
        raise InvalidRequestError(f"nodeId: {expected}, got {node_id[:80]!r}")
    return [_column(reader, rest, visibility)]


def _column(reader: CatalogReader, rest: str, visibility: Visibility) -> ColumnKey:
    """Find the colon that the column's name begins behind, the last one first."""
    colons = [at for at, letter in enumerate(rest) if letter == ":"]
    for at in reversed(colons[-_MOST_COLONS:]):
        try:
            named = find_node(reader, f"dataset:{rest[:at]}", visibility)
        except (UnknownNodeError, InvalidRequestError):
            continue
        found = _field(reader, named, rest[at + 1 :]) if isinstance(named, tuple) else None
        if found is not None:
            return found
    raise unknown_node("dataset field", rest)


def _field(reader: CatalogReader, named: KnownDataset, given: str) -> ColumnKey | None:
    # Some clients encode the parts once more than the query asks for.
    types = types_of(reader, named[0])
    field = next((one for one in (given, unquote(given)) if one in types), None)
    return None if field is None else (named[0], field)


def _joined(reader: CatalogReader, walks: dict[str, ColumnWalk]) -> tuple[_Graph, bool]:
    """Return the columns of all walks with the edges between them, and if any are left out."""
    names: dict[ColumnKey, Name] = {}
    for found in walks.values():
        names |= dict(zip(found.columns, found.names(), strict=True))
    edges, is_cut = edges_of(reader, "upstream", list(names))
    between = {(up, down): edge for down, up, edge in edges if up in names and up != down}
    return _Graph(names, between), is_cut


def _nodes(asked: CatalogSession, graph: _Graph) -> list[FieldNode]:
    """Return the columns that have edges, as Marquez leaves out all others."""
    sources: dict[ColumnKey, list[ColumnKey]] = {}
    uses: dict[ColumnKey, list[ColumnKey]] = {}
    for up, down in graph.edges:
        sources.setdefault(down, []).append(up)
        uses.setdefault(up, []).append(down)
    ids = {one: ":".join((_FIELD, *graph.names[one], one[1])) for one in {*sources, *uses}}
    types = _types(asked.reader, {key for key, _ in ids})
    nodes = [
        FieldNode(
            ids[one],
            "DATASET_FIELD",
            _data(asked, graph, one, sources.get(one, []), types.get(one) or ""),
            *(_edges(ids, one, ends.get(one, [])) for ends in (sources, uses)),
        )
        for one in ids
    ]
    return sorted(nodes, key=lambda node: node.id)


def _edges(
    ids: dict[ColumnKey, str], here: ColumnKey, others: list[ColumnKey]
) -> list[MarquezEdge]:
    return [MarquezEdge(ids[here], other) for other in sorted(ids[one] for one in others)]


def _types(reader: CatalogReader, keys: set[int]) -> dict[ColumnKey, str | None]:
    """Return the types of all columns of these datasets' newest schemas."""
    newest = pairs_of(rows_for(reader, _SCHEMAS, sorted(keys)))
    return {
        (key, field.name): field.type for key, text in newest.items() for field in fields_of(text)
    }


def _data(
    asked: CatalogSession, graph: _Graph, column: ColumnKey, sources: list[ColumnKey], kind: str
) -> FieldNodeData:
    namespace, name = graph.names[column]
    inputs = sorted(
        (_input(asked, graph, source, column) for source in sources),
        key=lambda one: (one.namespace, one.dataset, one.field),
    )
    return FieldNodeData(
        namespace=namespace,
        dataset=name,
        field=column[1],
        field_type=kind,
        transformation_description=inputs[0].transformation_description if inputs else None,
        transformation_type=inputs[0].transformation_type if inputs else None,
        input_fields=inputs,
        dataset_namespace=namespace,
    )


def _input(
    asked: CatalogSession, graph: _Graph, source: ColumnKey, column: ColumnKey
) -> MarquezInputField:
    """Join the types and descriptions: Marquez has one of each."""
    namespace, name = graph.names[source]
    stored = graph.edges[source, column].transformations
    found = stored_transformations(stored, asked.visibility)
    return MarquezInputField(
        namespace=namespace,
        dataset=name,
        field=source[1],
        transformation_description=_text(one.description for one in found),
        transformation_type=_text(one.subtype or one.type for one in found),
        dataset_namespace=namespace,
    )


def _text(texts: Iterable[str | None]) -> str | None:
    return "; ".join(dict.fromkeys(filter(None, texts))) or None

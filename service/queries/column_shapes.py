"""Documented shapes of columns: those of a dataset, and what a column is made of."""

import msgspec

from service.queries.run_shapes import IsoTime, RunTag


class Transformation(msgspec.Struct, frozen=True):
    """Transformation of a column into another, as the producer reports it.

    Attributes:
        type: DIRECT | INDIRECT; IDENTITY | MASKED by producers of older facets.
        subtype: as IDENTITY, AGGREGATION, FILTER.
        description: null also for a token that may not see every namespace.
        masking: whether the value is masked.
    """

    type: str | None = None
    subtype: str | None = None
    description: str | None = None
    masking: bool = False


class ColumnEnd(msgspec.Struct, frozen=True):
    """Column at the other end of a column edge."""

    dataset_namespace: str
    dataset: str
    column: str
    transformations: list[Transformation]
    first_seen_at: IsoTime | None
    last_seen_at: IsoTime | None


class ColumnRow(msgspec.Struct, frozen=True):
    """Column of a dataset.

    Attributes:
        type: null where only column lineage names the column.
        sources: columns one hop upstream.
        uses: columns one hop downstream.
        description: by its producers; null for a token that may not see every namespace.
        hidden_sources: how many sources the token may not see; likewise `hidden_uses`.
    """

    column: str
    type: str | None
    sources: list[ColumnEnd]
    uses: list[ColumnEnd]
    hidden_sources: int = 0
    hidden_uses: int = 0
    description: str | None = None
    tags: list[RunTag] = []


class DatasetColumns(msgspec.Struct, frozen=True):
    """Columns of a dataset: those of its newest schema in their order, then all others."""

    dataset_namespace: str
    dataset: str
    columns: list[ColumnRow]
    partial: bool
    partial_reason: str | None


class ColumnNode(ColumnEnd, frozen=True, gc=False):  # a tree: nothing leads back
    """Column of a lineage tree; `repeated`: its own branch is shown elsewhere in the tree.

    Attributes:
        transformations: of the edge to the column above; likewise both times.
        hidden: columns next to it on this side that the token may not see.
    """

    repeated: bool
    children: "list[ColumnNode]"
    hidden: int = 0


class ColumnLineage(msgspec.Struct, frozen=True):
    """Lineage of a column, upstream and downstream, to a depth."""

    dataset_namespace: str
    dataset: str
    column: str
    type: str | None
    upstream: list[ColumnNode]
    downstream: list[ColumnNode]
    depth: int
    partial: bool
    partial_reason: str | None
    hidden_upstream: int = 0
    hidden_downstream: int = 0

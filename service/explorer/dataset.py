"""Page of a dataset."""

import msgspec

from service.explorer.graph import (
    HOPS,
    Picture,
    datasets_to_draw,
    draw_trees,
    edges_among,
    origins_among,
)
from service.queries import dataset as one
from service.queries.catalog_session import CatalogSession
from service.queries.column_shapes import DatasetColumns
from service.queries.columns import dataset_columns
from service.queries.dataset_checks import EdgeChecks, Limit, edge_checks, limit_of
from service.queries.dataset_history import DatasetHistory, dataset_history
from service.queries.dataset_lookup import KnownDataset
from service.queries.deleted_runs import older_runs, where_older_runs_are
from service.queries.impact import Impact, find_impact
from service.queries.incident_shapes import IncidentRow
from service.queries.incidents import list_incidents
from service.queries.lineage import find_lineage
from service.queries.schema_changes import describe_changes
from service.queries.shapes import DatasetDetail

MOST_AFFECTED = 100
_MOST_OF_HISTORY = 20
_MOST_COLUMNS = 200


class SchemaRow(msgspec.Struct, frozen=True):
    """Schema, and its changes from the previous one in words."""

    first_seen_at: str
    last_seen_at: str
    columns: int
    changes: list[str]


class DatasetView(msgspec.Struct, frozen=True):
    """View of the page.

    Attributes:
        why: reasons of the state, as sentences.
        incidents: unresolved incidents that affect the dataset.
        history: null for users who may not see every namespace.
        older: since when the catalog has runs, and what to ask for older ones; may be empty.
    """

    known: DatasetDetail
    why: list[str]
    incidents: list[IncidentRow]
    limit: Limit | None
    graph: Picture
    impact: Impact
    checks: EdgeChecks
    history: DatasetHistory | None
    schemas: list[SchemaRow]
    columns: DatasetColumns
    older: str


def dataset_view(asked: CatalogSession, named: KnownDataset) -> DatasetView:
    """Load the page from one snapshot of the catalog."""
    reader, evaluated, visibility = asked.reader, asked.evaluated, asked.visibility
    known = one.load_dataset(reader, named, evaluated, visibility)
    trees = find_lineage(asked, named, depth=HOPS)
    shown = datasets_to_draw(trees)
    history = (
        dataset_history(reader, named, limit=_MOST_OF_HISTORY) if visibility.is_whole else None
    )
    return DatasetView(
        known=known,
        why=one.verdicts(known),
        incidents=list_incidents(reader, visibility, dataset=named[0]).incidents,
        limit=limit_of(reader, named, known),
        graph=draw_trees(trees, edges_among(reader, shown), origins_among(reader, shown)),
        impact=find_impact(asked, named),
        checks=edge_checks(reader, named, visibility),
        history=history,
        schemas=_schemas(history) if history else [],
        columns=dataset_columns(reader, named, visibility, limit=_MOST_COLUMNS),
        older=where_older_runs_are(older_runs(reader)),
    )


def _schemas(history: DatasetHistory) -> list[SchemaRow]:
    """Return the schemas, newest first."""
    return [
        SchemaRow(
            span.first_seen_at,
            span.last_seen_at,
            len(span.fields),
            describe_changes(span.change) if span.change else ["first schema seen"],
        )
        for span in reversed(history.schemas)
    ]

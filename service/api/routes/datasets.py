"""Datasets: all of them by page, one of them whole, and reads without a source (M5)."""

from typing import Annotated

from litestar import get
from litestar.params import FromQuery, QueryParameter

from service.api.routes.request import AnyRequest, Cursor, page, render_for_caller, session
from service.explorer.dataset import MOST_AFFECTED, dataset_view
from service.explorer.listing import load_list
from service.queries import dataset as one
from service.queries.dataset_history import DatasetHistory, dataset_history
from service.queries.dataset_lookup import resolve_dataset
from service.queries.datasets import FURTHEST, Filters, ListPart, list_datasets
from service.queries.shapes import DatasetDetail, DatasetPage, Why
from service.queries.unsourced import MOST_HOURS, MOST_UNSOURCED, UnsourcedReads, unsourced_reads

_Limit = Annotated[int, QueryParameter(ge=1, le=10_000, description="Maximum number of results.")]
_Most = Annotated[
    int, QueryParameter(ge=1, le=1_000, description=("Maximum number of results of each kind."))
]
_Text = Annotated[str | None, QueryParameter(max_length=4_096)]
_Offset = Annotated[int, QueryParameter(ge=0, le=FURTHEST, description="Datasets to skip.")]

_MostReads = Annotated[
    int, QueryParameter(ge=1, le=MOST_UNSOURCED, description=("Maximum number of results."))
]
_Hours = Annotated[int, QueryParameter(ge=1, le=MOST_HOURS, description="Number of past hours.")]


@get("/api/v1/datasets", query="datasets", access="datasets", is_cut=True, sync_to_thread=True)
def get_datasets(  # noqa: PLR0913 - each is a parameter of the query
    request: AnyRequest,
    *,
    dataset_state: Annotated[str | None, QueryParameter(name="state")] = None,
    tier: _Text = None,
    owner: _Text = None,
    contains: _Text = None,
    limit: _Limit = 1_000,
    cursor: Cursor = None,
) -> DatasetPage:
    """List datasets with their most severe state, most severe first."""
    filters = Filters(state=dataset_state, tier=tier, owner=owner, contains=contains)
    with session(request) as asked:
        part = ListPart(limit=limit, cursor=cursor)
        return list_datasets(asked.reader, filters, asked.evaluated, part, asked.visibility)


@get("/api/v1/dataset", query="dataset", access="dataset", is_cut=True, sync_to_thread=True)
def get_dataset(
    request: AnyRequest, dataset: FromQuery[str], dataset_namespace: _Text = None
) -> DatasetDetail:
    """Return one dataset: policy, states, limits, aliases, last run."""
    with session(request) as asked:
        named = resolve_dataset(asked.reader, dataset, dataset_namespace, asked.visibility)
        return one.load_dataset(asked.reader, named, asked.evaluated, asked.visibility)


@get("/api/v1/history", query="history", access="history", sync_to_thread=True)
def get_history(
    request: AnyRequest,
    dataset: FromQuery[str],
    dataset_namespace: _Text = None,
    limit: _Most = 100,
) -> DatasetHistory:
    """Return its schemas with changes, its versions and checksums, and its writes."""
    with session(request) as asked:
        named = resolve_dataset(asked.reader, dataset, dataset_namespace, asked.visibility)
        return dataset_history(asked.reader, named, limit=limit)


@get("/api/v1/why", query="why", access="why", is_cut=True, sync_to_thread=True)
def get_why(request: AnyRequest, dataset: FromQuery[str], dataset_namespace: _Text = None) -> Why:
    """Explain the state of a dataset in sentences."""
    with session(request) as asked:
        named = resolve_dataset(asked.reader, dataset, dataset_namespace, asked.visibility)
        return one.explain_states(asked.reader, named, asked.evaluated, asked.visibility)


@page("/datasets", access="datasets", is_cut=True)
def get_dataset_list(  # noqa: PLR0913 - each is a parameter of the query
    request: AnyRequest,
    *,
    dataset_state: Annotated[str | None, QueryParameter(name="state")] = None,
    tier: _Text = None,
    owner: _Text = None,
    find: _Text = None,
    offset: _Offset = 0,
) -> str:
    """List datasets by a part of the name, state, tier and owner."""
    # A form sends an empty text for a field that is not filled in.
    given = {"state": dataset_state, "tier": tier, "owner": owner, "contains": find}
    filters = Filters(**{name: text or None for name, text in given.items()})
    with session(request) as asked:
        return render_for_caller(request, "datasets", view=load_list(asked, filters, offset))


@page("/dataset", access="dataset", is_cut=True)
def get_dataset_page(
    request: AnyRequest, dataset: FromQuery[str], dataset_namespace: _Text = None
) -> str:
    """Show health, reasons, last run, limit, owner, graph, downstream datasets and schemas."""
    with session(request) as asked:
        named = resolve_dataset(asked.reader, dataset, dataset_namespace, asked.visibility)
        view = dataset_view(asked, named)
        return render_for_caller(request, "dataset", view=view, most_affected=MOST_AFFECTED)


@get("/api/v1/unsourced-reads", access="datasets", is_cut=True, sync_to_thread=True)
def get_unsourced_reads(
    request: AnyRequest, *, hours: _Hours = 24, limit: _MostReads = 100
) -> UnsourcedReads:
    """List datasets that were read though no write of them is known, most readers first."""
    with session(request) as asked:
        return unsourced_reads(asked.reader, asked.now, asked.visibility, hours=hours, limit=limit)


@page("/unsourced-reads", access="datasets", is_cut=True)
def get_unsourced_page(request: AnyRequest, *, hours: _Hours = 24) -> str:
    """Show datasets that were read though no write of them is known."""
    with session(request) as asked:
        found = unsourced_reads(asked.reader, asked.now, asked.visibility, hours=hours)
    return render_for_caller(request, "unsourced", view=found)

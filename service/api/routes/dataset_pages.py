"""Pages of datasets: the list, and one dataset."""

from typing import Annotated

from litestar.params import FromQuery, QueryParameter

from service.api.routes.pages import page, render
from service.api.routes.session import AnyRequest, session
from service.explorer.dataset import MOST_AFFECTED, dataset_view
from service.explorer.listing import listing
from service.queries.dataset_lookup import resolve_dataset
from service.queries.datasets import FURTHEST, Filters

_Offset = Annotated[int, QueryParameter(ge=0, le=FURTHEST, description="Datasets to skip.")]
_Text = Annotated[str | None, QueryParameter(max_length=4_096)]


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
        return render(request, "datasets", view=listing(asked, filters, offset))


@page("/dataset", access="dataset", is_cut=True)
def get_dataset_page(
    request: AnyRequest, dataset: FromQuery[str], dataset_namespace: _Text = None
) -> str:
    """Show health, reasons, last run, limit, owner, graph, downstream datasets and schemas."""
    with session(request) as asked:
        named = resolve_dataset(asked.reader, dataset, dataset_namespace, asked.visibility)
        view = dataset_view(asked, named)
        return render(request, "dataset", view=view, most_affected=MOST_AFFECTED)

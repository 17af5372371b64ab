"""Search, as Marquez answers it."""

from datetime import date
from typing import Annotated, Literal, cast

from litestar import get
from litestar.params import FromQuery, QueryParameter

from lineage.errors import InvalidRequestError
from service.api.routes.request import AnyRequest, session
from service.queries.marquez_api import search as answers
from service.queries.marquez_api.paging import MOST_LIMIT
from service.queries.marquez_api.shapes import Hits, SearchResults

_Query = Annotated[
    str, QueryParameter(name="q", min_length=1, max_length=1_024, description="Text in the name.")
]
_Filter = Annotated[
    Literal["dataset", "job", "DATASET", "JOB"] | None, QueryParameter(name="filter")
]
_Sort = Annotated[Literal["name", "updated_at", "NAME", "UPDATE_AT"], QueryParameter(name="sort")]
_Limit = Annotated[
    int, QueryParameter(ge=0, le=MOST_LIMIT, description=("Maximum number of results."))
]
_Day = Annotated[str | None, QueryParameter(description="A day, as 2026-11-20.")]


@get("/api/v1/search", access="datasets", is_cut=True, sync_to_thread=True)
def get_search(  # noqa: PLR0913 - each is a parameter of the query
    request: AnyRequest,
    q: _Query,
    *,
    kind: _Filter = None,
    sort: _Sort = "name",
    limit: _Limit = answers.MOST_HITS,
    namespace: FromQuery[str | None] = None,
    before: _Day = None,
    after: _Day = None,
) -> SearchResults:
    """Find datasets and jobs by a part of their names."""
    wanted = answers.SearchQuery(
        query=q,
        kind=cast("Literal['dataset', 'job'] | None", kind and kind.lower()),
        sort="name" if sort.lower() == "name" else "updated_at",
        limit=limit,
        namespace=namespace,
        before=_day(before, "before"),
        after=_day(after, "after"),
    )
    with session(request) as asked:
        return answers.search(asked.reader, asked.visibility, wanted)


@get("/api/v2beta/search/jobs", access="jobs", is_cut=True, sync_to_thread=True)
def get_search_of_jobs(request: AnyRequest, q: _Query) -> Hits:
    """Find jobs by a part of their names."""
    with session(request) as asked:
        return answers.search_jobs(asked.reader, asked.visibility, q)


@get("/api/v2beta/search/datasets", access="datasets", is_cut=True, sync_to_thread=True)
def get_search_of_datasets(request: AnyRequest, q: _Query) -> Hits:
    """Find datasets by a part of their names."""
    with session(request) as asked:
        return answers.search_datasets(asked.reader, asked.visibility, q)


def _day(text: str | None, name: str) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        message = f"{name}: expected a day such as 2026-11-20, got {text[:80]!r}"
        raise InvalidRequestError(message) from error

"""Parameters that Marquez's lists share."""

from typing import Annotated

from litestar.params import QueryParameter

from service.queries.datasets import FURTHEST
from service.queries.marquez_api.paging import MOST_LIMIT

Limit = Annotated[
    int, QueryParameter(ge=0, le=MOST_LIMIT, description=("Maximum number of results."))
]
Offset = Annotated[int, QueryParameter(ge=0, le=FURTHEST, description="Number of results to skip.")]
DEFAULT_LIMIT = 100

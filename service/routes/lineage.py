"""Lineage of one dataset, and what it affects."""

from typing import Annotated, Literal

from litestar import get
from litestar.params import FromQuery, QueryParameter

from service.answers.impact import Impact, impact
from service.answers.lineage import lineage
from service.answers.moments import past_instant
from service.answers.named import dataset_named
from service.answers.past import past_lineage
from service.answers.past_shapes import PastLineage
from service.answers.shapes import Lineage
from service.answers.walk import MOST_DEPTH
from service.routes.asked import AnyRequest, asked_by

_Direction = FromQuery[Literal["upstream", "downstream", "both"]]
_Depth = Annotated[int, QueryParameter(ge=1, le=MOST_DEPTH, description="Steps to follow.")]

_At = Annotated[str | None, QueryParameter(description="An instant, with its time zone.")]


@get("/api/v1/lineage", query="lineage", access="lineage", is_cut=True, sync_to_thread=True)
def get_lineage(  # noqa: PLR0913 - each is a parameter of the query
    request: AnyRequest,
    *,
    dataset: FromQuery[str],
    dataset_namespace: FromQuery[str | None] = None,
    depth: _Depth = 5,
    direction: _Direction = "both",
    at: _At = None,
) -> Lineage | PastLineage:
    """What it is made of and what is made of it, and its last run; with `at`, as it was then."""
    with asked_by(request) as asked:
        named = dataset_named(asked.reader, dataset, dataset_namespace, asked.sight)
        reader, sight = asked.reader, asked.sight
        if at is None:
            told = asked.evaluated
            return lineage(reader, named, told, depth=depth, direction=direction, sight=sight)
        then = past_instant(at, asked.now)
        return past_lineage(reader, named, then, depth=depth, direction=direction, sight=sight)


@get("/api/v1/impact", query="impact", access="impact", is_cut=True, sync_to_thread=True)
def get_impact(
    request: AnyRequest, dataset: FromQuery[str], dataset_namespace: FromQuery[str | None] = None
) -> Impact:
    """All that is made of it, with owners and tiers."""
    with asked_by(request) as asked:
        named = dataset_named(asked.reader, dataset, dataset_namespace, asked.sight)
        return impact(asked.reader, named, asked.evaluated, asked.sight)

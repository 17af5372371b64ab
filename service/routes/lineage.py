"""Lineage of one dataset, and what it affects."""

from typing import Annotated, Literal

from litestar import get
from litestar.params import FromQuery, QueryParameter

from service.answers.impact import Impact, impact
from service.answers.lineage import MOST_DEPTH, lineage
from service.answers.named import dataset_named
from service.answers.shapes import Lineage
from service.routes.asked import AnyRequest, asked_by

_Direction = FromQuery[Literal["upstream", "downstream", "both"]]
_Depth = Annotated[int, QueryParameter(ge=1, le=MOST_DEPTH, description="Steps to follow.")]


@get("/api/v1/lineage", query="lineage", access="lineage", is_cut=True, sync_to_thread=True)
def get_lineage(
    request: AnyRequest,
    dataset: FromQuery[str],
    dataset_namespace: FromQuery[str | None] = None,
    depth: _Depth = 5,
    direction: _Direction = "both",
) -> Lineage:
    """What it is made of and what is made of it, and its last run."""
    with asked_by(request) as asked:
        named = dataset_named(asked.reader, dataset, dataset_namespace, asked.sight)
        question = (asked.reader, named, asked.evaluated)
        return lineage(*question, depth=depth, direction=direction, sight=asked.sight)


@get("/api/v1/impact", query="impact", access="impact", is_cut=True, sync_to_thread=True)
def get_impact(
    request: AnyRequest, dataset: FromQuery[str], dataset_namespace: FromQuery[str | None] = None
) -> Impact:
    """All that is made of it, with owners and tiers."""
    with asked_by(request) as asked:
        named = dataset_named(asked.reader, dataset, dataset_namespace, asked.sight)
        return impact(asked.reader, named, asked.evaluated, asked.sight)

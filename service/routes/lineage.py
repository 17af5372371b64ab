"""Lineage of one dataset."""

from typing import Annotated, Literal

from litestar import get
from litestar.datastructures import State
from litestar.params import FromQuery, QueryParameter

from service.answers.lineage import MOST_DEPTH, lineage
from service.answers.moments import past_instant
from service.answers.named import dataset_named
from service.answers.past import past_lineage
from service.answers.past_shapes import PastLineage
from service.answers.shapes import Lineage
from service.asking import question

_Direction = FromQuery[Literal["upstream", "downstream", "both"]]
_Depth = Annotated[int, QueryParameter(ge=1, le=MOST_DEPTH, description="Steps to follow.")]

_At = Annotated[str | None, QueryParameter(description="An instant, with its time zone.")]


@get("/api/v1/lineage", sync_to_thread=True)
def get_lineage(  # noqa: PLR0913 - each is a parameter of the query
    state: State,
    *,
    dataset: FromQuery[str],
    dataset_namespace: FromQuery[str | None] = None,
    depth: _Depth = 5,
    direction: _Direction = "both",
    at: _At = None,
) -> Lineage | PastLineage:
    """What it is made of and what is made of it, and its last run; with `at`, as it was then."""
    with question(state.settings, state.clock) as asked:
        named = dataset_named(asked.reader, dataset, dataset_namespace)
        if at is not None:
            then = past_instant(at, asked.now)
            return past_lineage(asked.reader, named, then, depth=depth, direction=direction)
        return lineage(asked.reader, named, asked.evaluated, depth=depth, direction=direction)

"""Lineage of one dataset."""

from typing import Annotated, Literal

from litestar import get
from litestar.datastructures import State
from litestar.params import FromQuery, QueryParameter

from service.answers.lineage import MOST_DEPTH, lineage
from service.answers.named import dataset_named
from service.answers.shapes import Lineage
from service.asking import question

_Direction = FromQuery[Literal["upstream", "downstream", "both"]]
_Depth = Annotated[int, QueryParameter(ge=1, le=MOST_DEPTH, description="Steps to follow.")]


@get("/api/v1/lineage", query="lineage", sync_to_thread=True)
def get_lineage(
    state: State,
    dataset: FromQuery[str],
    dataset_namespace: FromQuery[str | None] = None,
    depth: _Depth = 5,
    direction: _Direction = "both",
) -> Lineage:
    """What it is made of and what is made of it, and its last run."""
    with question(state.settings, state.clock) as asked:
        named = dataset_named(asked.reader, dataset, dataset_namespace)
        return lineage(asked.reader, named, asked.evaluated, depth=depth, direction=direction)

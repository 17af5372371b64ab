"""Datasets that events name: read, written or declared."""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from lineage.names.keys import NAME_BYTES, hash_parts, shorten
from lineage.states import READ, WRITE
from slis.stream.reading.event import ReadEvent
from slis.stream.reading.lenient import text_of
from slis.stream.reading.openlineage import AssertionList, Dataset, InputFacets, OutputFacets
from slis.stream.reading.problems import is_wide

_Direction = Literal["read", "write", "declared"]
DECLARED: Final = "declared"
_NO_INPUT_FACETS, _NO_ASSERTIONS = InputFacets(), AssertionList()
_NO_OUTPUT_FACETS = OutputFacets()


class Mention(NamedTuple):
    """Dataset that an event names.

    Attributes:
        spelling_key: of namespace and name, as they were sent.
        facets_key: of the facets, and of tags that the job gives them.
        facets: raw JSON.
        model_tags: as `ReadEvent` has them, of what was written.
        assertions: raw JSON of those that the run tested.
        rows: that were written, and their ...
        size: ... bytes; None where the event has none.
    """

    direction: _Direction
    spelling_key: int
    namespace: str
    name: str
    facets_key: int
    facets: bytes
    model_tags: str | None
    assertions: str | None
    rows: int | None
    size: int | None
    has_statistics: bool


def mentions_of(event: ReadEvent) -> Iterator[Mention]:
    """Yield the datasets of an event, in its order."""
    makes_no_edges = event.kind == "job" and is_wide(event.inputs, event.outputs)
    for place, dataset in enumerate(event.datasets):
        if dataset is None or dataset.namespace is None or dataset.name is None:
            continue
        direction: _Direction = DECLARED
        if not makes_no_edges and place < event.inputs:
            direction = READ
        elif not makes_no_edges and place < event.inputs + event.outputs:
            direction = WRITE
        # A dbt model is the dataset that its run writes, not those that it reads.
        yield _mention(dataset, direction, event.model_tags if direction == WRITE else None)


def _mention(dataset: Dataset, direction: _Direction, tags: str | None) -> Mention:
    namespace = shorten(dataset.namespace or "", NAME_BYTES)
    name = shorten(dataset.name or "", NAME_BYTES)
    facets = bytes(dataset.facets)
    tested = (dataset.input_facets or _NO_INPUT_FACETS).assertions or _NO_ASSERTIONS
    statistics = (dataset.output_facets or _NO_OUTPUT_FACETS).statistics
    return Mention(
        direction=direction,
        spelling_key=hash_parts((namespace, name)),
        namespace=namespace,
        name=name,
        # With the tags: else another job's run that writes without tags would claim these.
        facets_key=hash_parts((facets, tags)),
        facets=facets,
        model_tags=tags,
        assertions=text_of(tested.assertions),
        rows=statistics.row_count if statistics else None,
        size=statistics.size if statistics else None,
        has_statistics=statistics is not None,
    )

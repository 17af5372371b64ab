"""Shape of lineage in Marquez's API, with its names.

As its OpenAPI 0.51 has it. What Lineward does not know is null or empty, as it is there.
`dataset_namespace` and `dataset` stand beside the names of a dataset as everywhere in this API.
Of a large graph there are tens of thousands of these, and none leads back to another: with
`gc=False` the collector of garbage need not look at them.
"""

from typing import Final, Literal

import msgspec

from lineage.states import run_state
from service.queries.run_shapes import IsoTime

RunState = Literal["NEW", "RUNNING", "COMPLETED", "FAILED"]
_STATES: Final[dict[str, RunState]] = {
    "FAIL": "FAILED",
    "COMPLETE": "COMPLETED",
    "RUNNING": "RUNNING",
    "OTHER": "NEW",
}


def marquez_run_state(
    started_at: int | None, completed_at: int | None, failed_at: int | None
) -> RunState:
    """Return the state of a run in Marquez's words."""
    state = run_state(started_at=started_at, completed_at=completed_at, failed_at=failed_at)
    return _STATES[state]


class NodeName(msgspec.Struct, frozen=True, gc=False):
    """Name of a dataset or a job."""

    namespace: str
    name: str


class FieldData(msgspec.Struct, frozen=True, gc=False):
    """Column."""

    name: str
    type: str | None
    tags: list[str] = []
    description: str | None = None


class DatasetData(
    msgspec.Struct,
    frozen=True,
    rename="camel",
    tag_field="type",
    tag="DB_TABLE",
    kw_only=True,
    gc=False,
):
    """`data` of a dataset's node."""

    id: NodeName
    name: str
    physical_name: str
    namespace: str
    source_name: str
    created_at: IsoTime
    updated_at: IsoTime
    last_modified_at: IsoTime | None
    fields: list[FieldData]
    dataset_namespace: str = msgspec.field(name="dataset_namespace")
    dataset: str
    tags: list[str] = []
    description: str | None = None


class RunData(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """Newest run of a job: all children of its root run together."""

    id: str
    state: RunState
    created_at: IsoTime
    updated_at: IsoTime
    started_at: IsoTime | None
    ended_at: IsoTime | None
    duration_ms: int | None
    nominal_start_time: IsoTime | None
    nominal_end_time: IsoTime | None = None
    args: dict[str, str] = {}
    facets: dict[str, str] = {}


class JobData(
    msgspec.Struct,
    frozen=True,
    rename="camel",
    tag_field="type",
    tag="BATCH",
    kw_only=True,
    gc=False,
):
    """`data` of a job's node."""

    id: NodeName
    name: str
    simple_name: str
    namespace: str
    created_at: IsoTime | None
    updated_at: IsoTime | None
    inputs: list[NodeName]
    outputs: list[NodeName]
    latest_run: RunData | None
    location: str | None = None
    description: str | None = None
    parent_job_name: str | None = None
    parent_job_uuid: str | None = None


class MarquezEdge(msgspec.Struct, frozen=True, gc=False):
    """Edge from node to node."""

    origin: str
    destination: str


class MarquezNode(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """Dataset or job."""

    id: str
    type: Literal["DATASET", "JOB"]
    data: DatasetData | JobData
    in_edges: list[MarquezEdge]
    out_edges: list[MarquezEdge]


class MarquezLineage(msgspec.Struct, frozen=True):
    """Upstream and downstream nodes, by id; `partial`, which is ours: the graph is cut."""

    graph: list[MarquezNode]
    partial: bool
    partial_reason: str | None

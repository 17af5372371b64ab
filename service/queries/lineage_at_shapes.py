"""Documented shapes of past lineage: the graph, and the run of each edge."""

import msgspec

from service.queries.run_shapes import Instant


class Touched(msgspec.Struct, frozen=True):
    """Values that a run reported of a dataset that it read or wrote; null where it did not."""

    version: str | None
    checksum: str | None
    partition: str | None
    rows: int | None


class EdgeRun(msgspec.Struct, frozen=True):
    """Root run of an edge: all its runs together."""

    root_run_id: str
    job_namespace: str
    job_name: str | None  # null: the run touched what the token may not see
    status: str
    started_at: Instant | None
    written_at: Instant
    written_again_at: Instant | None  # the end's newest write by then, of a run without this edge
    code_version: str | None
    job_version: str | None
    engine_version: str | None
    spark_conf: dict[str, str]
    parameters: dict[str, str]
    read: Touched | None  # of the upstream end
    wrote: Touched | None  # of the downstream end


class PastNode(msgspec.Struct, frozen=True):
    """Dataset of a past tree; `repeated`: its own branch is shown elsewhere."""

    dataset_namespace: str
    dataset: str
    job_names: list[str]
    run: EdgeRun | None  # the newest that had made the edge to the node above by then
    repeated: bool
    children: "list[PastNode]"


class PastLineage(msgspec.Struct, frozen=True):
    """Upstream and downstream lineage of a dataset at a past time."""

    dataset_namespace: str
    dataset: str
    at: Instant
    upstream: list[PastNode]
    downstream: list[PastNode]
    depth: int
    partial: bool
    partial_reason: str | None

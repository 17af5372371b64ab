"""The documented shapes of the past: the graph as it was, and the run behind each edge."""

import msgspec

from service.queries.run_shapes import Instant


class Touched(msgspec.Struct, frozen=True):
    """What a run named of a dataset that it read or wrote; null where it did not say."""

    version: str | None
    checksum: str | None
    partition: str | None
    rows: int | None


class EdgeRun(msgspec.Struct, frozen=True):
    """The root run that made an edge what it was: all its runs together."""

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
    """A dataset of the tree as it was; `repeated`: its own branch is shown elsewhere."""

    dataset_namespace: str
    dataset: str
    job_names: list[str]
    run: EdgeRun | None  # the newest that had made the edge to the node above by then
    repeated: bool
    children: "list[PastNode]"


class PastLineage(msgspec.Struct, frozen=True):
    """What a dataset was made of, and what had been made of it, at an instant."""

    dataset_namespace: str
    dataset: str
    at: Instant
    upstream: list[PastNode]
    downstream: list[PastNode]
    depth: int
    partial: bool
    partial_reason: str | None

"""Documented shapes of every answer: CLI `--json` and the HTTP API give no others.

Instants are ISO 8601 in UTC. Nothing known is `null`, never a number that looks healthy.
"""

import msgspec

from service.queries.run_shapes import IsoTime, RunSummary, RunTag


class DatasetRow(msgspec.Struct, frozen=True):
    """Dataset and the worst of its states: bad > unknown > learning > good.

    `failing` stands for learning or good while the last run failed; `since` is when it failed.
    """

    dataset_namespace: str
    dataset: str
    tier: str
    owner: str | None
    state: str
    sli: str | None  # the one whose state this is; null when all are good, or none is known
    reason: str | None
    since: IsoTime | None


class DatasetPage(msgspec.Struct, frozen=True):
    """Page of a list of datasets, most severe first, then by name."""

    datasets: list[DatasetRow]
    total: int
    partial: bool
    partial_reason: str | None
    next_cursor: str | None


class SliRow(msgspec.Struct, frozen=True):
    """SLI of one tier at the last evaluation; `ratio` is null when there is no sample."""

    id: str
    name: str
    tier: str
    good: float | None
    total: float | None
    ratio: float | None
    objective: float | None


class SliAnswer(msgspec.Struct, frozen=True):
    """SLIs, and whether the evaluation is stale."""

    slis: list[SliRow]
    evaluated_at: IsoTime | None
    stale: bool
    partial: bool
    partial_reason: str | None


class SliState(msgspec.Struct, frozen=True):
    """State of a dataset by one SLI, with its evidence in words."""

    sli: str
    name: str
    state: str
    reason: str | None
    evidence: str | None
    since: IsoTime
    age_seconds: float | None
    limit_seconds: float | None
    limit_origin: str | None


class ResolvedAlias(msgspec.Struct, frozen=True):
    """Alias of a dataset, and the rule that resolves it."""

    dataset_namespace: str
    dataset: str
    rule: str


class DatasetDetail(msgspec.Struct, frozen=True):
    """Details of a dataset."""

    dataset_namespace: str
    dataset: str
    tier: str | None
    tier_origin: str | None
    tier_reason: str | None
    owner: str | None
    owner_origin: str | None
    is_source: bool
    state: str
    first_seen_at: IsoTime
    last_seen_at: IsoTime
    last_written_at: IsoTime | None
    last_read_at: IsoTime | None
    retired_at: IsoTime | None
    limit_explanation: str | None
    states: list[SliState]
    aliases: list[ResolvedAlias]
    last_run: RunSummary | None
    evaluated_at: IsoTime | None
    stale: bool
    partial: bool
    partial_reason: str | None
    description: str | None = None  # by its producers; for a token that sees every namespace
    tags: list[RunTag] = []


class Why(msgspec.Struct, frozen=True):
    """Reasons for the state of a dataset: one sentence for each SLI, with its evidence."""

    dataset_namespace: str
    dataset: str
    state: str
    sentences: list[str]
    states: list[SliState]


class Node(msgspec.Struct, frozen=True, gc=False):  # a tree: nothing leads back
    """Dataset of a lineage tree; `repeated`: its own branch is shown elsewhere in the tree."""

    dataset_namespace: str
    dataset: str
    state: str
    job_names: list[str]  # of the jobs that make the edge to the node above
    repeated: bool
    children: "list[Node]"
    hidden: int = 0  # datasets next to it on this side that the one who asks may not see
    # How that edge is known, where no run names it by its inputs: column_lineage, lineage_facet,
    # sql, foreach_batch.
    origin: str | None = None


class Lineage(msgspec.Struct, frozen=True):
    """Upstream and downstream lineage of a dataset, to a depth."""

    dataset_namespace: str
    dataset: str
    state: str
    upstream: list[Node]
    downstream: list[Node]
    last_run: RunSummary | None
    depth: int
    partial: bool
    partial_reason: str | None
    hidden_upstream: int = 0  # datasets next to it that the one who asks may not see
    hidden_downstream: int = 0

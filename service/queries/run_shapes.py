"""Documented shapes of runs: versions, settings, inputs and outputs."""

import msgspec

from service.queries.deleted_runs import OlderRuns

IsoTime = str  # ISO 8601, UTC, "Z"


class RunSummary(msgspec.Struct, frozen=True):
    """Run in short: job, status, times and duration."""

    run_id: str
    job_namespace: str
    job_name: str | None  # null: the run touched what the token may not see
    status: str
    started_at: IsoTime | None
    finished_at: IsoTime | None
    duration_seconds: float | None


class RunIo(msgspec.Struct, frozen=True):
    """Dataset that a run read or wrote, as the run reported it."""

    dataset_namespace: str
    dataset: str
    direction: str  # read | write
    rows: int | None
    bytes: int | None
    version: str | None
    checksum: str | None  # algorithm:value
    partition: str | None
    # How it is known, where the run names no inputs: column_lineage, lineage_facet, sql,
    # foreach_batch.
    origin: str | None = None


class RunTag(msgspec.Struct, frozen=True):
    """Tag, as a producer reports it.

    Attributes:
        value: null for a token that may not see every namespace.
        source: that set it, as DBT.
    """

    key: str
    value: str | None = ""
    source: str | None = None


class RunDetail(RunSummary, frozen=True):
    """Run by its id; a run id that two jobs use is two runs."""

    root_run_id: str
    root_job_namespace: str
    root_job_name: str | None
    # The job that people know below its root (a dbt model, a task); null: the root job itself.
    leaf_job_namespace: str | None
    leaf_job_name: str | None
    parent_run_id: str | None
    processing_type: str | None
    integration: str | None
    producer: str | None
    application_id: str | None
    error_message: str | None
    engine: str | None
    engine_version: str | None
    adapter_version: str | None
    job_version: str | None
    code_version: str | None
    code_url: str | None
    code_path: str | None
    code_tag: str | None
    code_branch: str | None
    nominal_start_at: IsoTime | None
    spark_conf: dict[str, str]  # by key; those that are known to hold no secret
    parameters: dict[str, str]  # likewise
    datasets: list[RunIo]
    hidden_datasets: int = 0  # that it touched, and that the one who asks may not see
    tags: list[RunTag] = []  # of the run; none for a token that may not see every namespace
    retries_left: int | None = None  # that its scheduler announced, as Airflow does


class RunAnswer(msgspec.Struct, frozen=True):
    """Runs of one id."""

    runs: list[RunDetail]
    partial: bool
    partial_reason: str | None


class RecentRun(msgspec.Struct, frozen=True):
    """Run of a dataset: times of its events, and the lineage that they report.

    Attributes:
        direction: what it did with the dataset: read, write, or both.
        first_event_at: by the producer's clock, as `last_event_at`.
        landed_at: when what is known of it was committed, by ours.
        inputs: how many datasets it named as such; likewise `outputs`.
        evidence: what an event log adds: `failed`, `completed`, `alone` (no event came); null: all
            is from its own events.
    """

    run_id: str
    job_namespace: str
    job_name: str | None  # null: the run touched what the token may not see
    status: str
    direction: str
    started_at: IsoTime | None
    finished_at: IsoTime | None
    duration_seconds: float | None
    first_event_at: IsoTime
    last_event_at: IsoTime
    landed_at: IsoTime
    inputs: int
    outputs: int
    evidence: str | None
    producer: str | None
    adapter_version: str | None


class RecentRuns(msgspec.Struct, frozen=True):
    """Newest runs of a dataset, null where none was chosen; `next_cursor` leads on.

    `older`: where those are that were deleted; null while none was.
    """

    dataset_namespace: str | None
    dataset: str | None
    runs: list[RecentRun]
    partial: bool
    partial_reason: str | None
    next_cursor: str | None
    older: OlderRuns | None = None

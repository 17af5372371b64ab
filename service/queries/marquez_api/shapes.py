"""Shapes of Marquez 0.51's read API, with its names.

Unknown values are null or empty, as in Marquez. `partial`, `partial_reason` and
`dataset_namespace` are ours: the audit log reads the last from every answer that names a dataset.
"""

from typing import Any, Literal

import msgspec

from service.queries.marquez_api.lineage_shapes import DatasetData, FieldData, RunState
from service.queries.run_shapes import IsoTime

MarquezJobType = Literal["BATCH", "STREAM"]


class MarquezList(msgspec.Struct, frozen=True, kw_only=True):
    """Length of a list: `partial` if it is cut for another reason than its page.

    A subclass adds the list.
    """

    partial: bool = False
    partial_reason: str | None = None


class Namespace(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Namespace of datasets, of jobs, or of both."""

    name: str
    created_at: IsoTime
    updated_at: IsoTime
    owner_name: str = "anonymous"  # Marquez's word for no owner
    description: str | None = None
    is_hidden: bool = False
    dataset_namespace: str | None = msgspec.field(name="dataset_namespace")


class Namespaces(MarquezList, frozen=True, kw_only=True):
    """`GET /namespaces`."""

    namespaces: list[Namespace]


class Source(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Namespace of datasets: where they lie."""

    type: str
    name: str
    created_at: IsoTime
    updated_at: IsoTime
    connection_url: str
    description: str | None = None
    dataset_namespace: str = msgspec.field(name="dataset_namespace")


class Sources(MarquezList, frozen=True, kw_only=True):
    """`GET /sources`."""

    sources: list[Source]


class MarquezTag(msgspec.Struct, frozen=True):
    """Tag of datasets."""

    name: str
    description: str | None = None


class Tags(MarquezList, frozen=True, kw_only=True):
    """`GET /tags`."""

    tags: list[MarquezTag]


class DatasetId(msgspec.Struct, frozen=True):
    """Dataset by its names."""

    namespace: str
    name: str
    dataset_namespace: str


class VersionId(msgspec.Struct, frozen=True):
    """Version of a dataset; null: no write of the dataset is known."""

    namespace: str
    name: str
    version: str | None
    dataset_namespace: str


class RunDataset(msgspec.Struct, frozen=True, rename="camel"):
    """Dataset that a run read or wrote."""

    dataset_version_id: VersionId
    facets: dict[str, Any] = {}


class MarquezRun(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Run."""

    id: str
    created_at: IsoTime
    updated_at: IsoTime
    nominal_start_time: IsoTime | None
    nominal_end_time: IsoTime | None = None
    state: RunState
    started_at: IsoTime | None
    ended_at: IsoTime | None
    duration_ms: int | None
    args: dict[str, str]
    job_version: None = None
    input_dataset_versions: list[RunDataset]
    output_dataset_versions: list[RunDataset]
    facets: dict[str, Any] = {}


class Runs(MarquezList, frozen=True, kw_only=True):
    """`GET /namespaces/N/jobs/J/runs`."""

    runs: list[MarquezRun]
    total_count: int = msgspec.field(name="totalCount")


class MarquezRunFacets(msgspec.Struct, frozen=True, rename="camel"):
    """`GET /jobs/runs/ID/facets`."""

    run_id: str
    facets: dict[str, dict[str, Any]]


class JobId(msgspec.Struct, frozen=True):
    """Job by its names."""

    namespace: str
    name: str


class MarquezJob(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Job, with what its newest run read and wrote."""

    id: JobId
    type: MarquezJobType
    name: str
    simple_name: str
    parent_job_name: str | None
    parent_job_uuid: str | None
    created_at: IsoTime
    updated_at: IsoTime
    namespace: str
    inputs: list[DatasetId]
    outputs: list[DatasetId]
    location: str | None
    description: str | None = None
    latest_run: MarquezRun | None
    latest_runs: list[MarquezRun]
    facets: dict[str, Any] = {}
    current_version: str | None = None
    labels: list[str] = []
    tags: list[str] = []


class Jobs(MarquezList, frozen=True, kw_only=True):
    """`GET /jobs` and `GET /namespaces/N/jobs`."""

    jobs: list[MarquezJob]
    total_count: int = msgspec.field(name="totalCount")


class MarquezDataset(
    DatasetData, frozen=True, kw_only=True, rename="camel", tag_field="type", tag="DB_TABLE"
):
    """Dataset as it is now."""

    current_version: str | None
    last_lifecycle_state: str | None = None
    column_lineage: None = None
    facets: dict[str, Any] = msgspec.field(default_factory=dict)
    deleted: bool = False


class Datasets(MarquezList, frozen=True, kw_only=True):
    """`GET /namespaces/N/datasets`."""

    datasets: list[MarquezDataset]
    total_count: int = msgspec.field(name="totalCount")


class DatasetVersion(
    msgspec.Struct, frozen=True, rename="camel", tag_field="type", tag="DB_TABLE", kw_only=True
):
    """Dataset as a run wrote it."""

    id: VersionId
    name: str
    physical_name: str
    created_at: IsoTime
    version: str
    namespace: str
    source_name: str
    fields: list[FieldData]
    tags: list[str]
    lifecycle_state: str | None = None
    description: str | None = None
    current_schema_version: str | None
    created_by_run: MarquezRun | None
    facets: dict[str, Any] = {}


class DatasetVersions(MarquezList, frozen=True, kw_only=True):
    """`GET /namespaces/N/datasets/D/versions`."""

    versions: list[DatasetVersion]
    total_count: int = msgspec.field(name="totalCount")


class SearchResult(msgspec.Struct, frozen=True, rename="camel"):
    """Dataset or a job that a search found."""

    type: Literal["DATASET", "JOB"]
    name: str
    updated_at: IsoTime
    namespace: str
    node_id: str
    dataset_namespace: str | None = msgspec.field(name="dataset_namespace")


class SearchResults(MarquezList, frozen=True, kw_only=True):
    """`GET /search`."""

    total_count: int = msgspec.field(name="totalCount")
    results: list[SearchResult]


class Hit(msgspec.Struct, frozen=True, omit_defaults=True):
    """Dataset or a job that the search of `v2beta` found; a hit of a job has a `type`."""

    run_id: str | None
    name: str
    namespace: str
    eventType: str | None  # noqa: N815 - Marquez's own
    facets: dict[str, Any]
    type: MarquezJobType | None = None
    dataset_namespace: str | None = None


class Hits(MarquezList, frozen=True, kw_only=True):
    """`GET /api/v2beta/search/jobs` and `/datasets`."""

    hits: list[Hit]
    highlights: list[dict[str, list[str]]]


class Events(MarquezList, frozen=True, kw_only=True):
    """`GET /events/lineage`: events as producers sent them."""

    events: list[dict[str, Any]]
    total_count: int = msgspec.field(name="totalCount")


class EventCounts(msgspec.Struct, frozen=True, rename="camel"):
    """Number of events of an hour or a day, by type."""

    start_interval: IsoTime
    end_interval: IsoTime
    fail: int
    start: int
    complete: int
    abort: int = 0  # the catalog counts an ABORT as FAIL

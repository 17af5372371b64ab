"""Parts of an OpenLineage event that the pipeline reads, as structs.

Everything may be missing or null. What is kept as raw JSON is read later, each distinct text once.
"""

from typing import Annotated

import msgspec
from msgspec import Meta, Raw, field

# What a catalog can hold.
Long = Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
JSON_NULL = Raw(b"null")


class EventPart(msgspec.Struct, gc=False, omit_defaults=True):
    """Object of an event."""


class RunId(EventPart):
    """Reference to a run."""

    run_id: str | None = field(name="runId", default=None)


class Job(EventPart):
    """Reference to a job."""

    namespace: str | None = None
    name: str | None = None


class RootRun(EventPart):
    """Root run, with its job."""

    run: RunId | None = None
    job: Job | None = None


class ParentRun(RootRun):
    """Parent run, with its job and its own root."""

    root: RootRun | None = None


class NominalTime(EventPart, rename="camel"):
    """Time that a run was scheduled for."""

    nominal_start_time: str | None = None
    nominal_end_time: str | None = None


class Engine(EventPart):
    """Engine that ran the run."""

    name: str | None = None
    version: str | None = None
    adapter_version: str | None = field(name="openlineageAdapterVersion", default=None)


class SparkApplicationDetails(EventPart):
    """Application of Spark."""

    application_id: str | None = field(name="applicationId", default=None)


class SparkJob(EventPart):
    """Job of a Spark application."""

    job_id: Long | None = field(name="jobId", default=None)


class SparkProperties(EventPart):
    """Settings of a Spark application."""

    properties: Raw = JSON_NULL


class Environment(EventPart):
    """Properties of Databricks."""

    properties: Raw = field(name="environment-properties", default=JSON_NULL)


class Parameters(EventPart):
    """Parameters of a run."""

    parameters: Raw = JSON_NULL


class TagList(EventPart):
    """Tags of a run or a job."""

    tags: Raw = JSON_NULL


class ErrorMessage(EventPart):
    """Error of a run."""

    message: str | None = None


class RunFacets(EventPart):
    """Facets of a run."""

    parent: ParentRun | None = None
    nominal_time: NominalTime | None = field(name="nominalTime", default=None)
    processing_engine: Engine | None = None
    application: SparkApplicationDetails | None = field(
        name="spark_applicationDetails", default=None
    )
    spark_job: SparkJob | None = field(name="spark_jobDetails", default=None)
    spark_properties: SparkProperties | None = None
    environment: Environment | None = field(name="environment-properties", default=None)
    execution_parameters: Parameters | None = field(name="executionParameters", default=None)
    airflow: Raw = JSON_NULL
    tags: TagList | None = None
    error_message: ErrorMessage | None = field(name="errorMessage", default=None)
    exception: ErrorMessage | None = field(name="spark.exception", default=None)
    checkpoints: Raw = JSON_NULL


class Run(RunId):
    """Run of an event."""

    facets: RunFacets | None = None


class JobType(EventPart, rename="camel"):
    """Type of a job."""

    processing_type: str | None = None
    integration: str | None = None
    job_type: str | None = None


class SourceCode(EventPart):
    """Place of a job's code."""

    version: str | None = None
    url: str | None = None
    repo_url: str | None = field(name="repoUrl", default=None)
    path: str | None = None
    tag: str | None = None
    branch: str | None = None


class Documentation(EventPart):
    """Description of a job or a dataset."""

    description: str | None = None


class JobFacets(EventPart):
    """Facets of a job."""

    job_type: JobType | None = field(name="jobType", default=None)
    source_code: SourceCode | None = field(name="sourceCodeLocation", default=None)
    tags: TagList | None = None
    documentation: Documentation | None = None
    ownership: Raw = JSON_NULL
    lineage: Raw = JSON_NULL
    sql: Raw = JSON_NULL


class FullJob(Job):
    """Job of an event."""

    facets: JobFacets | None = None


class AssertionList(EventPart):
    """Results of tests."""

    assertions: Raw = JSON_NULL


class InputFacets(EventPart):
    """Facets of a dataset as an input."""

    assertions: AssertionList | None = field(name="dataQualityAssertions", default=None)


class Statistics(EventPart):
    """Size of what a run wrote."""

    row_count: Long | None = field(name="rowCount", default=None)
    size: Long | None = None


class OutputFacets(EventPart):
    """Facets of a dataset as an output."""

    statistics: Statistics | None = field(name="outputStatistics", default=None)


class Dataset(EventPart):
    """Dataset of an event. Its facets repeat from event to event, so each text is read once."""

    namespace: str | None = None
    name: str | None = None
    facets: Raw = JSON_NULL
    input_facets: InputFacets | None = field(name="inputFacets", default=None)
    output_facets: OutputFacets | None = field(name="outputFacets", default=None)


class Event(EventPart):
    """RunEvent, JobEvent or DatasetEvent."""

    event_time: str | None = field(name="eventTime", default=None)
    event_type: str | None = field(name="eventType", default=None)
    producer: str | None = None
    run: Run | None = None
    job: FullJob | None = None
    inputs: list[Dataset | None] | None = None
    outputs: list[Dataset | None] | None = None
    dataset: Dataset | None = None

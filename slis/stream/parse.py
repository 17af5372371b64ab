"""OpenLineage events from raw JSON to columns.

The core by a declared schema, the raw JSON kept beside it.
"""

from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineage import origins
from lineage.redaction import READ_CHARACTERS
from slis.stream.event_times import instant
from slis.stream.jobs_of_runs import job_columns, own_name
from slis.stream.shortened import shortened
from slis.stream.unreadable import NOMINAL_START, detail, problem

SKEW_TOLERANCE = "5 minutes"
_SOURCE_OF_MODEL_TAGS = '"DBT'  # DBT: tags of the model; DBT_META: its meta entries

_RUN_REFERENCE = "run: struct<runId: string>, job: struct<namespace: string, name: string>"
# Facets of datasets stay text (`from_json` gives the raw JSON of an object for a string): they
# repeat from event to event, so
# that `facts.described` parses each distinct one once.
_DATASET = (
    "struct<namespace: string, name: string, facets: string, "
    "inputFacets: struct<dataQualityAssertions: struct<assertions: string>>, "
    "outputFacets: struct<outputStatistics: struct<rowCount: bigint, size: bigint>>>"
)
_EVENT = f"""
    eventTime string, eventType string, producer string,
    run struct<runId: string, facets: struct<
        parent: struct<{_RUN_REFERENCE}, root: struct<{_RUN_REFERENCE}>>,
        nominalTime: struct<nominalStartTime: string, nominalEndTime: string>,
        processing_engine: struct<name: string, version: string, openlineageAdapterVersion: string>,
        spark_applicationDetails: struct<applicationId: string>,
        spark_jobDetails: struct<jobId: bigint>,
        spark_properties: struct<properties: string>,
        `environment-properties`: struct<`environment-properties`: string>,
        executionParameters: struct<parameters: string>,
        airflow: string,
        tags: struct<tags: string>,
        errorMessage: struct<message: string>,
        `spark.exception`: struct<message: string>,
        checkpoints: string>>,
    job struct<namespace: string, name: string, facets: struct<
        jobType: struct<processingType: string, integration: string, jobType: string>,
        sourceCodeLocation: struct<version: string, url: string, repoUrl: string, path: string,
            tag: string, branch: string>,
        tags: struct<tags: string>,
        documentation: struct<description: string>,
        ownership: string,
        lineage: string,
        sql: string>>,
    inputs array<{_DATASET}>, outputs array<{_DATASET}>, dataset {_DATASET},
    _corrupt_record string
"""


def parse(spooled: DataFrame) -> DataFrame:
    """One row per event of the spool.

    Args:
        spooled: `source.SPOOL_EVENT`.

    Returns:
        `schemas.PARSED`. An event whose core Spark cannot read has a `problem` and nulls; one
        whose facets have unexpected types
        has a `problem` too, and all that could be read.
    """
    opening, core = _plan()
    return spooled.select("*", opening[0]).select("*", *opening[1:]).select(*core)


@cache
def _plan() -> tuple[list[Column], list[Column]]:
    # Columns belong to no frame: built once a process, they save 0.2 s of calls to the JVM a batch.
    event = F.from_json(
        F.col("body").cast("string"), _EVENT, {"columnNameOfCorruptRecord": "_corrupt_record"}
    )
    opening = [
        event.alias("event"),
        instant(F.col("event.eventTime")).alias("reported_time"),
        instant(F.col(f"event.{NOMINAL_START}")).alias("nominal_start_at"),
        F.timestamp_micros("received_at").alias("received"),
        _integration().alias("integration"),
    ]
    columns = [*_spool_columns(), *_time_columns(), *_run_columns(), *job_columns()]
    return opening, [*columns, *_dataset_columns()]


def _spool_columns() -> list[Column]:
    received = F.col("received").alias("received_at")
    return [
        *(F.col("seq"), received, F.col("origin"), F.col("kind"), F.col("body")),
        *(F.col("after_seq"), F.col("last_seq")),
        *(problem().alias("problem"), detail().alias("detail")),
    ]


def _time_columns() -> list[Column]:
    latest = F.col("received") + F.expr(f"INTERVAL {SKEW_TOLERANCE}")
    is_skewed = F.col("reported_time") > latest
    return [
        # A clock ahead of ours must never make a dataset fresh, nor a lag negative.
        F.when(is_skewed, F.col("received")).otherwise(F.col("reported_time")).alias("event_time"),
        F.coalesce(is_skewed, F.lit(False)).alias("is_skewed"),
        F.upper("event.eventType").alias("event_type"),
        _event_key().alias("event_key"),
    ]


def _event_key() -> Column:
    """The event's identity after the ack: who re-serialises an event keeps these."""

    def named(dataset: Column) -> Column:
        return F.struct(dataset["namespace"], dataset["name"])

    datasets = [
        F.array_sort(F.transform(F.col(f"event.{side}"), named)) for side in ("inputs", "outputs")
    ]
    return F.xxhash64(
        "event.run.runId",
        F.upper("event.eventType"),
        "reported_time",
        "event.job.namespace",
        "event.job.name",
        "event.dataset.namespace",
        "event.dataset.name",
        *datasets,
    )


def _integration() -> Column:
    facet = F.upper("event.job.facets.jobType.integration")
    engine = F.upper("event.run.facets.processing_engine.name")
    # Listeners older than the jobType facet say it in the producer's URL alone.
    named = F.nullif(
        F.upper(F.regexp_extract("event.producer", r"/integration/([a-z]+)", 1)), F.lit("")
    )
    return F.coalesce(facet, engine, named)


def _run_columns() -> list[Column]:
    run, job, facets = "event.run", "event.job", "event.run.facets"
    # A run id that two jobs use gives two runs: they are never merged.
    run_key = F.xxhash64(f"{run}.runId", f"{job}.namespace", own_name())
    error = F.coalesce(f"{facets}.errorMessage.message", f"{facets}.`spark.exception`.message")
    processing_type = F.upper(f"{job}.facets.jobType.processingType")
    false = F.lit(False)
    return [
        F.when(F.col("kind") == "run", run_key).alias("run_key"),
        shortened(f"{run}.runId").alias("run_id"),
        F.col(f"{job}.namespace").alias("job_namespace"),
        F.col(f"{job}.name").alias("job_name"),
        F.col("nominal_start_at"),
        F.upper(f"{job}.facets.jobType.jobType").alias("job_type"),
        processing_type.alias("processing_type"),
        F.col("integration"),
        F.col(f"{facets}.processing_engine.name").alias("engine"),
        F.col(f"{facets}.processing_engine.version").alias("engine_version"),
        shortened(f"{facets}.processing_engine.openlineageAdapterVersion").alias("adapter_version"),
        shortened("event.producer").alias("producer"),
        shortened(f"{facets}.spark_applicationDetails.applicationId").alias("application_id"),
        F.col(f"{facets}.spark_jobDetails.jobId").alias("spark_job_id"),
        F.substring(error, 1, READ_CHARACTERS).alias("error_message"),
        F.col(f"{facets}.checkpoints").isNotNull().alias("has_checkpoint"),
        F.coalesce(~F.col("integration").isin("SPARK", "FLINK"), F.lit(True)).alias("is_connector"),
        *_detail_columns(),
        _retries_left().alias("retries_left"),
        F.coalesce(processing_type == "STREAMING", false).alias("is_streaming"),
        F.col("origin").isin(*origins.OF_HISTORY).alias("is_history"),
        F.col(f"{job}.facets.ownership").alias("job_ownership"),
        F.col(f"{job}.facets.lineage").alias("job_lineage"),
        F.col(f"{job}.facets.sql").alias("job_sql"),
        F.substring(f"{job}.facets.documentation.description", 1, READ_CHARACTERS).alias(
            "job_description"
        ),
        _model_tags().alias("model_tags"),
    ]


def _model_tags() -> Column:
    """Return the lists of tags that dbt gives to a model's run or job; most events have none."""
    lists = (F.col(f"event.{of}.facets.tags.tags") for of in ("run", "job"))
    of_dbt = [F.when(tags.contains(_SOURCE_OF_MODEL_TAGS), tags) for tags in lists]
    joined = F.concat(F.lit("["), F.concat_ws(",", *of_dbt), F.lit("]"))
    return F.when(F.coalesce(*of_dbt).isNotNull(), joined)


def _retries_left() -> Column:
    """Return how many more tries Airflow announces: it numbers tries from 1."""
    task = "event.run.facets.airflow"
    retries, number = (
        F.get_json_object(task, path).try_cast("int")
        for path in ("$.task.retries", "$.taskInstance.try_number")
    )
    left = retries.cast("bigint") + 1 - number.cast("bigint")
    return F.when(left.isNotNull(), F.greatest(F.lit(0), left))


def _detail_columns() -> list[Column]:
    """What ran, in which version, with what settings; `run_details` reads the raw JSON of it."""
    run, job = "event.run.facets", "event.job.facets"
    code = f"{job}.sourceCodeLocation"
    properties = "`environment-properties`"
    return [
        F.col(f"{code}.version").alias("code_version"),
        F.coalesce(f"{code}.url", f"{code}.repoUrl").alias("code_url"),
        *(F.col(f"{code}.{name}").alias(f"code_{name}") for name in ("path", "tag", "branch")),
        F.col(f"{job}.tags.tags").alias("job_tags"),
        F.col(f"{run}.tags.tags").alias("run_tags"),
        F.col(f"{run}.spark_properties.properties").alias("spark_properties"),
        F.col(f"{run}.{properties}.{properties}").alias("environment_properties"),
        F.col(f"{run}.executionParameters.parameters").alias("execution_parameters"),
    ]


def _dataset_columns() -> list[Column]:
    def given(side: str) -> Column:
        return F.coalesce(f"event.{side}", F.array())

    single = F.when(F.col("event.dataset").isNotNull(), F.array("event.dataset")).otherwise(
        F.array()
    )
    return [
        F.size(given("inputs")).alias("inputs"),
        F.size(given("outputs")).alias("outputs"),
        F.concat(given("inputs"), given("outputs"), single).alias("datasets"),
    ]

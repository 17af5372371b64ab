"""Applications, SQL executions and what they touched, out of the events of Spark's logs.

Each function takes `schemas.LOGGED`.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineage.names.keys import CUT, HASH_DIGITS, KEY_BYTES, MARK_BYTES, REPLACEMENT
from lineage.process.clock import LAST_EVENT_MICROS
from lineage.redaction import READ_CHARACTERS
from lineage.states import READ, WRITE
from slis.evidence import lines
from slis.evidence.plans import (
    FILE,
    TOPIC,
    reads_unnamed,
    streamed_folder,
    streamed_topics,
    touched_tables,
)

_STREAM_RUN = r"\nrunId = ([0-9a-f-]{36})"
_STREAM_BATCH = r"\nbatch = ([0-9]+)"
_LISTENER = "OpenLineageSparkListener"
_FIRST_ATTEMPT = "1"  # as YARN counts them; other cluster managers give none
_WRITTEN = "internal.metrics.output."


def applications(logged: DataFrame) -> DataFrame:
    """Return `schemas.APPLICATIONS`: one row a file."""
    conf = F.col("`Spark Properties`")
    at = event_instant("Timestamp")
    has_listener = F.coalesce(conf["spark.extraListeners"], F.lit("")).contains(_LISTENER)
    found = {
        "spark_id": F.coalesce("`App ID`", conf["spark.app.id"]),
        "attempt": F.nullif("`App Attempt ID`", F.lit(_FIRST_ATTEMPT)),
        "app_name": shorten_column("`App Name`"),
        "started_at": F.when(_is(lines.APPLICATION_START), at),
        "ended_at": F.when(_is(lines.APPLICATION_END), at),
        "spark_version": F.col("`Spark Version`"),
        "has_listener": F.when(conf.isNotNull(), has_listener),
        "namespace": conf["spark.openlineage.namespace"],
        "cut_after": conf["spark.sql.maxMetadataStringLength"].try_cast("bigint"),
    }
    applications = logged.groupBy("path").agg(
        *(F.max(value).alias(name) for name, value in found.items())
    )
    spark_id = F.col("spark_id")
    # The first attempt has the id alone, as applications have that are never tried again.
    own_id = F.when(F.col("attempt").isNull(), spark_id).otherwise(
        F.concat_ws("/", spark_id, "attempt")
    )
    return applications.select(
        "path",
        shorten_column(own_id).alias("application_id"),
        shorten_column(F.when(F.col("attempt").isNotNull(), spark_id)).alias("attempt_of"),
        *(name for name in found if name not in {"spark_id", "attempt"}),
    )


def executions(logged: DataFrame) -> DataFrame:
    """Return `schemas.EXECUTIONS`."""
    is_start = _is(lines.EXECUTION_START)
    at = event_instant("time")
    found = {
        "root_execution_id": F.col("rootExecutionId"),
        "stream_run_id": F.nullif(F.regexp_extract("description", _STREAM_RUN, 1), F.lit("")),
        "stream_batch": F.regexp_extract("description", _STREAM_BATCH, 1).try_cast("bigint"),
        "started_at": F.when(is_start, at),
        "ended_at": F.when(~is_start, at),
        "error_message": F.substring(
            F.nullif(F.col("errorMessage"), F.lit("")), 1, READ_CHARACTERS
        ),
        "reads_unnamed": reads_unnamed("physicalPlanDescription"),
    }
    ends = logged.where(is_start | _is(lines.EXECUTION_END))
    return ends.groupBy("path", F.col("executionId").alias("execution_id")).agg(
        *(F.max(value).alias(name) for name, value in found.items())
    )


def touched_by_plans(logged: DataFrame) -> DataFrame:
    """Return `schemas.TOUCHED` of the plans."""
    named = F.explode(touched_tables("physicalPlanDescription")).alias("of")
    return (
        logged.where(_is(lines.EXECUTION_START))
        .select("path", F.col("executionId").alias("execution_id"), named)
        .select(
            *("path", "execution_id"),
            F.lit(None).cast("string").alias("stream_run_id"),
            F.lit(None).cast("bigint").alias("stream_batch"),
            "of.*",
        )
    )


def touched_by_streams(logged: DataFrame) -> DataFrame:
    """Return `schemas.TOUCHED` of the micro-batches: folders of file sinks, and topics read.

    No plan names these.
    """
    progress = logged.where(_is(lines.PROGRESS))
    folder, topic = F.col("folder"), F.explode("topics")
    sources = progress.select(
        "path",
        F.lit(None).cast("bigint").alias("execution_id"),
        F.col("progress.runId").alias("stream_run_id"),
        F.col("progress.batchId").alias("stream_batch"),
        streamed_folder("progress.sink.description").alias("folder"),
        streamed_topics("progress.sources").alias("topics"),
    )
    written = _named_by(sources, WRITE, FILE, folder, is_whole=True).where("location IS NOT NULL")
    return written.union(_named_by(sources, READ, TOPIC, topic, is_whole=False))


def _named_by(
    progress: DataFrame, direction: str, kind: str, location: Column, *, is_whole: bool
) -> DataFrame:
    return progress.select(
        *("path", "execution_id", "stream_run_id", "stream_batch"),
        F.lit(direction).alias("direction"),
        F.lit(kind).alias("kind"),
        location.alias("location"),
        F.lit(is_whole).alias("is_whole"),
    )


def jobs(logged: DataFrame) -> DataFrame:
    """Return `schemas.JOBS`, without the jobs of no execution."""
    execution = F.col("Properties")["spark.sql.execution.id"].try_cast("bigint")
    return (
        logged.where(_is(lines.JOB_START))
        .select("path", execution.alias("execution_id"), F.col("`Job ID`").alias("spark_job_id"))
        .where("execution_id IS NOT NULL")
    )


def stages(logged: DataFrame) -> DataFrame:
    """Return `schemas.STAGES`: what was written out, by which execution.

    A task counts what it wrote once that is committed, so that what was tried again counts once.
    A count of zero Spark leaves out: a stage of no rows is none of these.
    """
    info = F.col("`Stage Info`")
    submitted = logged.where(_is(lines.STAGE_SUBMITTED) | _is(lines.STAGE_COMPLETED))
    execution = F.col("Properties")["spark.sql.execution.id"].try_cast("bigint")
    keys = {"stage_id": info["Stage ID"], "attempt": info["Stage Attempt ID"]}
    found = {
        "execution_id": execution,
        "at": event_instant(F.coalesce(info["Completion Time"], info["Submission Time"])),
        "rows": _figure("recordsWritten"),
        "bytes": _figure("bytesWritten"),
        "is_ended": _is(lines.STAGE_COMPLETED),
    }
    stage = submitted.groupBy("path", *(key.alias(name) for name, key in keys.items())).agg(
        *(F.max(value).alias(name) for name, value in found.items())
    )
    is_open = F.col("execution_id").isNotNull() & ~F.col("is_ended")
    return stage.where(is_open | F.col("rows").isNotNull()).drop("is_ended")


def _figure(name: str) -> Column:
    named = F.filter("`Stage Info`.Accumulables", lambda one: one["Name"] == _WRITTEN + name)
    return F.get(named, F.lit(0))["Value"].try_cast("bigint")


def half_lines(logged: DataFrame) -> DataFrame:
    """Return `path string, lines bigint`: the files that end, or break, in the middle of a line."""
    return logged.where("is_half").groupBy("path").agg(F.count("*").alias("lines"))


def event_instant(millis: Column | str) -> Column:
    """Return the time; null where it is outside the years that an event may give."""
    given = F.col(millis) if isinstance(millis, str) else millis
    return F.timestamp_millis(F.when(given.between(0, LAST_EVENT_MICROS // 1000), given))


def _is(event: str) -> Column:
    return F.col("Event") == event


def shorten_column(text: Column | str, most_bytes: int = KEY_BYTES) -> Column:
    """Return the text; one of more bytes is cut, and ends with its hash."""
    given = F.col(text) if isinstance(text, str) else text
    kept = F.substring(given.cast("binary"), 1, most_bytes - MARK_BYTES).cast("string")
    # A character that was parted becomes a replacement character; Python drops it likewise.
    whole = F.rtrim(F.make_valid_utf8(kept), F.lit(REPLACEMENT))
    digits = F.lpad(F.lower(F.hex(F.xxhash64(given))), HASH_DIGITS, "0")
    cut = F.concat(whole, F.lit(CUT), digits)
    return F.when(F.octet_length(given) > most_bytes, cut).otherwise(given)

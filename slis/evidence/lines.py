"""Lines of Spark's logs about applications, SQL executions, stages and micro-batches.

Most of a log is tasks: a line is known by its first characters, and what is not wanted is
never parsed.
"""

from collections.abc import Sequence
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

_SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution"
LOG_START = "SparkListenerLogStart"
APPLICATION_START = "SparkListenerApplicationStart"
APPLICATION_END = "SparkListenerApplicationEnd"
ENVIRONMENT = "SparkListenerEnvironmentUpdate"
EXECUTION_START = f"{_SQL}Start"
EXECUTION_END = f"{_SQL}End"
PROGRESS = "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent"
JOB_START = "SparkListenerJobStart"
STAGE_SUBMITTED = "SparkListenerStageSubmitted"
STAGE_COMPLETED = "SparkListenerStageCompleted"
_WANTED = (
    *(LOG_START, APPLICATION_START, APPLICATION_END, ENVIRONMENT),
    *(EXECUTION_START, EXECUTION_END, PROGRESS, JOB_START),
    *(STAGE_SUBMITTED, STAGE_COMPLETED),
)


def read(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Return `schemas.LINES` of plain files, wherever Hadoop's file systems find them."""
    text = spark.read.text(list(paths))
    return text.select(F.col("_metadata.file_path").alias("path"), "value")


def read_lines(text: DataFrame, event_schema: str) -> DataFrame:
    """Return `schemas.LOGGED`: the wanted ones of `schemas.LINES`, parsed, and half lines.

    Args:
        text: `schemas.LINES`.
        event_schema: `schemas.EVENT`.
    """
    is_half = _is_half(F.col("value"))
    event = F.when(~is_half, F.from_json("value", event_schema))
    wanted = text.where(_is_any(*_WANTED) | (is_half & (F.col("value") != "")))
    return wanted.select("path", is_half.alias("is_half"), event.alias("event")).select(
        "path", "is_half", "event.*"
    )


def _is_half(line: Column) -> Column:
    """Return whether it ends in the middle: most of those do not end with a brace.

    One that does, an inner one, has opened more than it closed. Only where the counts differ is
    the line parsed to know: text in it, a plan's say, may have braces of its own.
    """
    count = [F.length(line) - F.length(F.replace(line, F.lit(brace))) for brace in "{}"]
    return ~line.endswith("}") | ((count[0] != count[1]) & F.json_object_keys(line).isNull())


def _is_any(*events: str) -> Column:
    """Return whether a line is of one of the events; the name is what Spark writes first."""
    return reduce(or_, [F.col("value").startswith(f'{{"Event":"{name}"') for name in events])

"""The events of Spark's logs that tell of applications, SQL executions, stages and micro-batches.

Most of a log is tasks: a line is told by its first characters, and what is not wanted is
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
    """`schemas.LINES` of plain files, wherever Hadoop's file systems find them."""
    text = spark.read.text(list(paths))
    return text.select(F.col("_metadata.file_path").alias("path"), "value")


def logged(text: DataFrame, event_schema: str) -> DataFrame:
    """`schemas.LOGGED`: the wanted ones of `schemas.LINES`, parsed, and those that are half a line.

    Args:
        text: `schemas.LINES`.
        event_schema: `schemas.EVENT`.
    """
    is_half = ~F.col("value").endswith("}")
    event = F.when(~is_half, F.from_json("value", event_schema))
    wanted = text.where(_is_any(*_WANTED) | (is_half & (F.col("value") != "")))
    return wanted.select("path", is_half.alias("is_half"), event.alias("event")).select(
        "path", "is_half", "event.*"
    )


def _is_any(*events: str) -> Column:
    """Whether a line is of one of the events; the name is what Spark writes first."""
    return reduce(or_, [F.col("value").startswith(f'{{"Event":"{name}"') for name in events])

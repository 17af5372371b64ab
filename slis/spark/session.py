"""Spark session of the pipeline: one, and long-lived."""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from slis.spark import planning
from slis.spark.session_settings import (
    SHUFFLE_PARTITIONS,
    SessionOptions,
    choose_settings,
    submitted_settings,
)

POOL = "spark.scheduler.pool"  # name of the local property
STREAM_POOL = "stream"
EVALUATION_POOL = "evaluation"


def spark_session(
    *,
    master: str = "local[2]",
    driver_memory: str = "1536m",
    warehouse: Path | None = None,
    scratch: Path | None = None,
) -> SparkSession:
    """Return the session of this process, opened on first call.

    Args:
        master: where Spark runs; `local[2]` embedded. Under spark-submit its own counts.
        driver_memory: of the JVM, as Spark writes sizes; takes effect in the first call of a
        process only, and not under spark-submit, whose JVM runs already.
        warehouse: folder for what Spark might put into its working folder otherwise.
        scratch: folder for temporary files of Spark and Java; None: that of the system.
    """
    # Spark starts `python3` from PATH otherwise, which lacks what this interpreter has installed.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    options = SessionOptions(
        master=master, driver_memory=driver_memory, warehouse=warehouse, scratch=scratch
    )
    submitted = submitted_settings()
    if submitted is None:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    session = _open(choose_settings(options, submitted))
    if SHUFFLE_PARTITIONS not in (submitted or {}):
        # A batch folds to a few thousand rows: more partitions than cores cost more than they
        # spread.
        session.conf.set(SHUFFLE_PARTITIONS, str(session.sparkContext.defaultParallelism))
    session.sparkContext.setLogLevel("ERROR")
    planning.remember(session._jvm)  # noqa: SLF001 - PySpark has no other name for it
    return session


def _open(settings: dict[str, str]) -> SparkSession:
    builder = SparkSession.Builder()
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def describe_session(spark: SparkSession) -> dict[str, str | int | None]:
    """Return where the session runs, and with how much: for the log."""
    context = spark.sparkContext
    jvm: Any = context._jvm  # noqa: SLF001 - as above
    return {
        "master": context.master,
        "cores": context.defaultParallelism,
        "heap_bytes": jvm.java.lang.Runtime.getRuntime().maxMemory(),
        "shuffle_partitions": spark.conf.get(SHUFFLE_PARTITIONS),
    }


def in_stream_pool(spark: SparkSession) -> None:
    """Let what this thread has Spark do come before evaluations."""
    spark.sparkContext.setLocalProperty(POOL, STREAM_POOL)


def in_evaluation_pool(spark: SparkSession) -> None:
    """Let this thread's Spark jobs yield to the stream, and allow to cancel them."""
    spark.sparkContext.setLocalProperty(POOL, EVALUATION_POOL)
    spark.sparkContext.setJobGroup(EVALUATION_POOL, "evaluation")


def empty_scratch(folder: Path) -> Path:
    """Empty the folder, and have Python's own temporary files be made in it.

    Args:
        folder: of this role alone; made where it is not there.

    Returns:
        The folder, as an absolute path.
    """
    shutil.rmtree(folder, ignore_errors=True)  # what cannot be deleted costs room only
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.tempdir = str(folder.absolute())
    return folder.absolute()

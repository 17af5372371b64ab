"""Landing of the log alone: no evaluation, no compaction, no other periodic work.

Main file for spark-submit, with executors, and for Python itself, without Spark. It has the
settings of the pipeline and ends by a signal.
"""

import time
from functools import partial

from pyspark.sql import SparkSession

from lineage.catalog.engine import open_catalog
from lineage.input_log.settings import read_log
from lineage.process.clock import system_clock
from lineage.process.role import begin_role
from slis import settings
from slis.spark import garbage_collection
from slis.spark.session import spark_session
from slis.spark.session_settings import is_submitted
from slis.stream.kafka.log import TopicLog
from slis.stream.landing import BatchLanding
from slis.stream.log.input_log import InputLog
from slis.stream.log.spool_log import SpoolLog
from slis.stream.log.spool_reader import BatchLimits


def main() -> None:
    """Land batch after batch, without an end."""
    begin_role()
    place, chosen = settings.read_place(), settings.read_pipeline_settings()
    spark = spark_session(warehouse=place.data_dir / "warehouse") if is_submitted() else None
    landing = BatchLanding(
        open_catalog(place.catalog),
        place,
        limits=BatchLimits(chosen.max_rows, chosen.max_bytes),
        clock=system_clock,
        source=_source(place, chosen),
        spark=partial(_given, spark),
    )
    garbage_collection.freeze_objects()
    while True:
        if not landing.step():
            time.sleep(chosen.poll_seconds)


def _source(place: settings.SharedPaths, chosen: settings.PipelineSettings) -> InputLog:
    topic = read_log()
    if topic is None:
        return SpoolLog(place)
    return TopicLog(topic, system_clock, most_bytes=chosen.max_bytes)


def _given(spark: SparkSession | None) -> SparkSession | None:
    return spark


if __name__ == "__main__":
    main()

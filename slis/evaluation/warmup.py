"""Evaluation of made-up events, before the first real ones come.

Half of what a young pipeline does is compiling: its first evaluation would take 15 s beside a Spark
job that has just started.
"""

import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from pyspark.sql import SparkSession
from sqlalchemy import Engine

from lineage.catalog.engine import migrate, open_catalog
from lineage.policy import DEFAULT
from lineage.process.clock import Clock
from slis.evaluation.evaluation import evaluate
from slis.made_up_events import fill_spool, make_events
from slis.settings import PipelineSettings, SharedPaths
from slis.stream.landing import BatchLanding
from slis.stream.log.spool_reader import BatchLimits

_EVENTS = 12


def warm_up(spark: SparkSession, clock: Clock, is_over: Callable[[], bool] = lambda: False) -> None:
    """Evaluate once, in a folder that is deleted afterwards: nothing of it is ever seen.

    Args:
        spark: the session.
        clock: when the made-up events come.
        is_over: whether the real ones have come, which compile the same on both cores alone.
    """
    with tempfile.TemporaryDirectory(prefix="lineward-rehearsal-") as folder:
        place = SharedPaths(data_dir=Path(folder))
        engine = open_catalog(place.catalog)
        migrate(engine)
        made_up = make_events(_EVENTS, seed=1, start=clock(), apart=timedelta(milliseconds=1))
        fill_spool(place.spool, made_up)
        try:
            _land(engine, place, clock, is_over)
            if not is_over():
                evaluate(spark, engine, DEFAULT, clock())
        finally:
            engine.dispose()


def _land(engine: Engine, place: SharedPaths, clock: Clock, is_over: Callable[[], bool]) -> None:
    limits = BatchLimits(_EVENTS, PipelineSettings().max_bytes)
    BatchLanding(engine, place, limits=limits, clock=clock).work_off(is_over)

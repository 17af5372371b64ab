"""Brings `name_pattern` up to an instant."""

from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import SparkSession
from sqlalchemy import Engine, delete, select

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.queries import LISTED
from lineage.names.keys import shorten
from lineage.process.clock import to_micros
from slis.evaluation import catalog_frames
from slis.indicators.explosion.growth import NEW_NAMES, growth

# A name that was folded into another, or that somebody retired, is no dataset of its own.
_NEW = f"""
    SELECT namespace, name, first_seen_at FROM dataset
    WHERE first_seen_at > {{since}} AND {LISTED}
"""  # noqa: S608 - a constant


def renew(spark: SparkSession, engine: Engine, as_of: datetime) -> None:
    """Replace what was found before; most of the time nothing is new, and Spark is not asked."""
    since = to_micros(as_of - timedelta(hours=1))
    names = catalog_frames.read(engine, _NEW.format(since=since), NEW_NAMES)
    rows = []
    if names.num_rows > 1:
        instants = spark.createDataFrame([(as_of,)], "as_of timestamp")
        frame = spark.createDataFrame(names, NEW_NAMES)
        rows = catalog_frames.rows(growth(frame, instants))
    if not rows and not _has_patterns(engine):
        return
    with exclusive_transaction(engine) as connection:
        connection.execute(delete(tables.name_pattern))
        if rows:
            connection.execute(tables.name_pattern.insert(), [_bounded(row) for row in rows])


def _bounded(row: dict[str, Any]) -> dict[str, Any]:
    # A pattern may be three times as long as its names: `{n}` stands for a digit.
    return row | {part: shorten(row[part]) for part in ("namespace", "name")}


def _has_patterns(engine: Engine) -> bool:
    with engine.connect() as connection:
        return connection.scalar(select(tables.name_pattern).limit(1)) is not None

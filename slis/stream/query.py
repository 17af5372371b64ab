"""The streaming query: the spool's events, batch by batch, into the catalog and the lake."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from sqlalchemy import Engine

from lineage.clock import Clock
from lineage.policy import DEFAULT, Policy
from slis.session import POOL, STREAM_POOL
from slis.settings import Place
from slis.stream.batch import Batches
from slis.stream.merge import Landed, cursor
from slis.stream.restore import catch_up
from slis.stream.source import SpoolSource

log = structlog.get_logger(__name__)


def start(  # noqa: PLR0913 - what one query needs, by name
    spark: SparkSession,
    engine: Engine,
    place: Place,
    *,
    max_rows: int,
    clock: Clock,
    poll_seconds: float | None = None,
    landed: Callable[[Landed], None] = lambda _: None,
    name: str = "lineward",
    policy: Callable[[], Policy] = lambda: DEFAULT,
) -> StreamingQuery:
    """Start the query, after what the catalog lacks was landed from the lake.

    Args:
        spark: the session.
        engine: of the catalog, migrated.
        place: folders of spool, checkpoint and lake.
        max_rows: events a batch, at most.
        clock: gives `landed_at`.
        poll_seconds: how often the spool is asked for news; None: work off what is there, then
        stop.
        landed: called after each batch.
        name: of the query, one of its kind in the session.
        policy: gives the one in force, asked once a batch.
    """
    with _in_stream_pool(spark):
        catch_up(spark, engine, place, Batches(engine, None, clock, policy), max_rows)
    batches = Batches(engine, place.lake, clock, policy)

    def each(frame: DataFrame, batch_id: int) -> None:
        result = batches.land(frame, _query_id(frame), batch_id)
        if result is not None:
            log.debug(
                "batch_landed", batch_id=batch_id, events=result.events, repeat=result.is_repeat
            )
            landed(result)

    writer = _spooled(spark, engine, place, max_rows).writeStream.queryName(name)
    writer = writer.foreachBatch(each).option("checkpointLocation", str(place.checkpoint))
    with _in_stream_pool(spark):
        return writer.trigger(**_trigger(poll_seconds)).start()


def _spooled(spark: SparkSession, engine: Engine, place: Place, max_rows: int) -> DataFrame:
    spark.dataSource.register(SpoolSource)
    with engine.connect() as connection:
        after_seq = cursor(connection)
    source = spark.readStream.format("spool").option("path", str(place.spool))
    return source.option("after_seq", after_seq).option("max_rows", max_rows).load()


def _trigger(poll_seconds: float | None) -> dict[str, Any]:
    if poll_seconds is None:
        return {"availableNow": True}
    return {"processingTime": f"{int(poll_seconds * 1000)} milliseconds"}


@contextmanager
def _in_stream_pool(spark: SparkSession) -> Iterator[None]:
    """A query's jobs run in the pool of the thread that starts it, which has its own again then."""
    context = spark.sparkContext
    before = context.getLocalProperty(POOL)
    context.setLocalProperty(POOL, STREAM_POOL)
    try:
        yield
    finally:
        context.setLocalProperty(POOL, before)  # type: ignore[arg-type]  # None takes it away


def _query_id(frame: DataFrame) -> str:
    """Of the checkpoint: a lost one begins a query of another id."""
    found = frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
    return found or "unknown"

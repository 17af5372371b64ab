"""Metrics of events: their lag, the failed ones, and the stages of the newest batch.

Stages are read from the local spool and the catalog; without a spool, or once its rows are gone,
there are none. Of a log in Kafka: how long its oldest event has waited, as of the last evaluation.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from datetime import datetime

import msgspec
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from lineage.catalog.queries import CURSOR
from lineage.catalog.reader import CatalogReader
from lineage.catalog.rows import convert_row
from lineage.process.clock import SECOND_MICROS, to_micros
from service.exporter import metric_rows
from service.ingest.collector_spool import first_figure, open_read_only
from service.queries.set_aside import count_set_aside
from service.queries.status import oldest_since
from service.runtime.settings import Settings

MOST_SAMPLES = 100  # of a batch's events: bodies lie between the instants
_OLDEST = "SELECT received_at FROM event WHERE seq > {seq} ORDER BY seq LIMIT 1"
_BATCH = """
SELECT after_seq, last_seq, events, history, landed_at FROM batch
ORDER BY landed_at DESC, last_seq DESC LIMIT 1
"""
_SENT = "SELECT AVG(event_time) FROM event WHERE last_seq = :last_seq"
_EVALUATED = """
SELECT b.landed_at, e.as_of, e.seconds FROM evaluation e JOIN (
  SELECT MAX(landed_at) AS landed_at FROM batch
  WHERE landed_at <= (SELECT MAX(as_of) FROM evaluation)) b ON e.as_of >= b.landed_at
ORDER BY e.as_of LIMIT 1
"""


def lag_families(reader: CatalogReader) -> Iterator[Metric]:
    """Yield how long events took to become facts, and which events are in no lag."""
    lag = HistogramMetricFamily(
        "lineage_ingestion_lag_seconds",
        "Time from event time to commit, without history loads.",
        labels=("processing",),
    )
    asides = {
        "history": CounterMetricFamily(
            "lineage_events_history",
            "Events of history loads, not counted in SLIs.",
            labels=("processing",),
        ),
        "skewed": CounterMetricFamily(
            "lineage_events_skewed",
            "Events with a clock more than 5 minutes ahead; the arrival time is used.",
            labels=("processing",),
        ),
    }
    for processing, found in metric_rows.lag_figures(reader).items():
        lag.add_metric((processing,), found.buckets, found.sum_seconds)
        for name, family in asides.items():
            family.add_metric((processing,), found.asides[name])
    yield from (lag, *asides.values())


def set_aside_family(reader: CatalogReader) -> GaugeMetricFamily:
    """Return how many events are set aside and were not posted again."""
    text = "Set-aside events that were not requeued."
    return GaugeMetricFamily("lineage_events_set_aside", text, count_set_aside(reader))


def error_families(reader: CatalogReader) -> Iterator[Metric]:
    """Yield counters of errors; they do not fall when rows are pruned."""
    text = "Events rejected by the collector or failed in the pipeline"
    live = CounterMetricFamily("lineage_errors", f"{text}.", labels=("stage", "cause"))
    loaded = CounterMetricFamily(
        "lineage_errors_history",
        f"{text}, of history loads, not counted in SLIs.",
        labels=("stage", "cause"),
    )
    pipeline: Counter[str] = Counter()
    for stage, cause, origin, count in metric_rows.errors(reader):
        (live if origin == "live" else loaded).add_metric((stage, cause), count)
        if stage == "pipeline":
            pipeline[cause] += count
    family = CounterMetricFamily(
        "lineage_pipeline_errors", "Events that the pipeline could not process.", labels=("reason",)
    )
    for cause, count in pipeline.items():
        family.add_metric((cause,), count)
    yield from (live, loaded, family)


class _Batch(msgspec.Struct, frozen=True):
    after_seq: int
    last_seq: int
    events: int
    history: int
    landed_at: int


def stage_figures(reader: CatalogReader, settings: Settings, now: datetime) -> Iterator[Metric]:
    """Yield each known stage of the newest batch, and how long the oldest event has waited."""
    if settings.is_shipped:
        yield _oldest_age(oldest_since(reader), to_micros(now))
        return
    with open_read_only(settings.spool) as opened:
        if opened is None:
            return
        yield _waiting(reader, opened, to_micros(now))
        batches = reader.rows(_BATCH)
        if batches:
            yield from _of_batch(reader, opened, convert_row(_Batch, batches[0]))


def _waiting(reader: CatalogReader, spool: sqlite3.Connection, now: int) -> Metric:
    cursors = reader.rows(CURSOR, {"reader": "pipeline"})
    return _oldest_age(
        first_figure(spool, _OLDEST.format(seq=int(cursors[0][0]) if cursors else 0)), now
    )


def _oldest_age(oldest: int | None, now: int) -> Metric:
    text = "Age of the oldest event that is not in the catalog; 0 if none waits."
    seconds = 0.0 if oldest is None else max(0, now - oldest) / SECOND_MICROS
    return GaugeMetricFamily("lineage_pipeline_backlog_oldest_seconds", text, value=seconds)


def _of_batch(reader: CatalogReader, spool: sqlite3.Connection, batch: _Batch) -> Iterator[Metric]:
    text = "Events in the newest batch."
    yield GaugeMetricFamily("lineage_batch_events", text, value=float(batch.events))
    received = _received(spool, batch)
    if not received:
        return
    text = "Time from the arrival of the newest batch's last event to its commit."
    took = _seconds(received[-1], batch.landed_at)
    yield GaugeMetricFamily("lineage_batch_seconds", text, value=took)
    mean = sum(received) / len(received)
    stages = GaugeMetricFamily(
        "lineage_stage_seconds",
        "Mean time from the previous stage to this stage.",
        labels=("stage",),
    )
    sent = None if batch.history else reader.rows(_SENT, {"last_seq": batch.last_seq})[0][0]
    if sent is not None:
        stages.add_metric(("received",), _seconds(float(sent), mean))
    stages.add_metric(("landed",), _seconds(mean, batch.landed_at))
    # Where batches come faster than evaluations, the newest is never evaluated yet.
    for landed_at, as_of, seconds in reader.rows(_EVALUATED):
        published_at = as_of + seconds * SECOND_MICROS
        stages.add_metric(("evaluated",), _seconds(landed_at, published_at))
    yield stages


def _received(spool: sqlite3.Connection, batch: _Batch) -> list[int]:
    """Return when some of its events arrived, spread over it, the last one among them."""
    count = batch.last_seq - batch.after_seq
    step = max(1, -(-count // MOST_SAMPLES))
    wanted = ", ".join(str(seq) for seq in range(batch.last_seq, batch.after_seq, -step))
    sql = f"SELECT received_at FROM event WHERE seq IN ({wanted}) ORDER BY seq"  # noqa: S608 - numbers
    return [received_at for (received_at,) in spool.execute(sql)]


def _seconds(begin: float, end: float) -> float:
    """Return a duration of at least 0, because a producer's clock may be ahead."""
    return max(0.0, end - begin) / SECOND_MICROS

"""M5 of datasets that are read though no write is known, in a catalog of rows."""

from datetime import timedelta

from sqlalchemy import insert, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.process.clock import to_micros
from slis.evaluation.input import range_of_evaluation
from slis.indicators.unsourced_reads import load_unsourced
from tests.slis.catalog_rows import CatalogRows
from tests.slis.sli_frames import day, instants

_NOW = day(2, 12)
_FLAGS = dict.fromkeys(("is_reported", "is_streaming", "is_history"), False)


def _read(key, run, hours_ago, outcome="bad"):
    at = to_micros(_NOW - timedelta(hours=hours_ago))
    names = {"job_namespace": "jobs", "job_name": run, "root_run_id": run, "bucket": 0}
    times = dict.fromkeys(("read_at", "landed_at", "counted_at"), at)
    return {"dataset_key": key, "outcome": outcome, **names, **times, **_FLAGS}


def _policy(key, tier, *, is_source=False):
    flags = dict.fromkeys(("is_generated", "is_streaming", "is_declared"), False)
    row = {"dataset_key": key, "tier": tier, "tier_origin": "declared", "is_source": is_source}
    return row | flags


def test_important_datasets_without_a_write_are_bad(spark, embedded):
    """Count readers of the last day; leave out optional, written and declared sources."""
    catalog = CatalogRows(embedded, day(1))
    topic, feed, mart, bus = (catalog.dataset(name) for name in ("topic", "feed", "mart", "bus"))
    table = catalog.dataset("table", writes=1)
    keys = (topic, feed, mart, bus, table)
    reads = [_read(key, f"job{n}", n) for key in keys for n in (1, 2)]
    reads += [_read(topic, "late", 25), _read(topic, "fine", 3, "good")]
    policies = [
        _policy(topic, "critical"),
        _policy(feed, "important"),
        _policy(mart, "optional"),
        _policy(bus, "critical", is_source=True),
        _policy(table, "critical"),
    ]
    with write_transaction(embedded) as connection:
        connection.execute(insert(tables.dataset_read), reads)
        connection.execute(insert(tables.dataset_policy), policies)

    with embedded.connect() as connection:
        at = range_of_evaluation(connection, _NOW)
    (states,) = load_unsourced(spark, embedded, at, instants(spark, _NOW))

    evidence = "read by 2 jobs in 24 hours, last 2026-11-03 11:00:00 UTC; no write of it is known"
    found = states.select(["dataset_key", "sli", "state", "reason", "evidence"]).to_pylist()
    assert sorted(tuple(row.values()) for row in found) == sorted(
        (key, "M5", "bad", "never_reported", evidence) for key in (topic, feed)
    )
    with write_transaction(embedded) as connection:
        connection.execute(update(tables.dataset_read).values(outcome="good"))
    assert load_unsourced(spark, embedded, at, instants(spark, _NOW)) == ()

"""Slabs of two datasets, as a replay would have stored them."""

import pyarrow as pa

from lab.gameday.driver.saved_run import SavedSlab, SlabFigures
from lab.replay.arrivals import ACTIVITY_ARROW
from lineage.catalog import tables
from lineage.catalog.queries import NO_TIER, NOT_JUDGED
from lineage.process.clock import from_micros
from tests.lineage.policies import policy_row

SECOND = 1_000_000
HOUR = 3_600 * SECOND
START = 1_774_000_800 * SECOND  # on the hour
ORDERS, REVENUE, JOB = 11, 12, 7
CHANGES = pa.schema(
    [
        ("as_of", pa.timestamp("us", tz="UTC")),
        ("dataset_key", pa.int64()),
        *((name, pa.string()) for name in ("sli", "state", "reason", "evidence")),
        ("limit_seconds", pa.float64()),
        ("limit_origin", pa.string()),
    ]
)


def row(table, **values: object):
    """Return a row of the catalog; fields left out are null."""
    return {column.name: None for column in table.columns} | values


def _dataset(key, name):
    seen = {"first_seen_at": START - 100 * HOUR, "last_seen_at": START}
    named = {"namespace": "s3://lake", "name": name, "canonical_key": key}
    ranks = {"state_rank": NOT_JUDGED, "tier_rank": NO_TIER}
    return row(tables.dataset, dataset_key=key, is_declared=False, **named, **seen, **ranks)


def _limit(key):
    fields = {"cadence_class": "hourly", "gaps": 9, "explanation": "", "learned_at": START}
    return row(
        tables.dataset_limit,
        dataset_key=key,
        limit_seconds=3_900.0,
        cadence_seconds=3_600.0,
        **fields,
    )


def _edge():
    job = {"job_key": JOB, "job_namespace": "shop", "job_name": "build_revenue", "runs": 9}
    seen = {"first_seen_at": START - 90 * HOUR, "last_seen_at": START, "last_reported_at": START}
    return row(tables.edge, upstream_key=ORDERS, downstream_key=REVENUE, **job, **seen)


def _table(rows):
    return pa.Table.from_pylist(rows)


STANDING = {
    "dataset": _table([_dataset(ORDERS, "core/orders"), _dataset(REVENUE, "mart/revenue")]),
    "dataset_policy": _table([policy_row(ORDERS, owner="shop"), policy_row(REVENUE, owner="shop")]),
    "dataset_limit": _table([_limit(ORDERS), _limit(REVENUE)]),
    "edge": _table([_edge()]),
    "ingestion_gap": _table([]),
    "run": _table([]),
    "run_io": _table([]),
}


def activity(key, at, job, **facts: object):
    """Return the known facts of a dataset from `at` on, seconds after the beginning."""
    written = {
        "written_at": START + at * SECOND,
        "root_run_id": f"run-{key}-{at}",
        "job_namespace": "shop",
        "job_name": job,
        "names_input": True,
        "is_reported": True,
        "is_streaming": False,
    }
    fields = {"dataset_key": key, "visible_at": START + at * SECOND, "write": written}
    return dict.fromkeys(ACTIVITY_ARROW.names) | fields | facts


def change(at, key, state, reason=None, sli="M2"):
    """Return a change of state, seconds after the beginning."""
    return {
        "as_of": from_micros(START + at * SECOND),
        "dataset_key": key,
        "sli": sli,
        "state": state,
        "reason": reason,
        "limit_seconds": 3_900.0,
        "limit_origin": "learned",
    }


def slab(hours, changes, known, **standing: pa.Table):
    """Return a slab of so many hours from the beginning on."""
    return SavedSlab(
        SlabFigures(START, START + hours * HOUR, 0, 0, is_deaf=False, seconds={}),
        pa.Table.from_pylist(changes, CHANGES),
        pa.Table.from_pylist(known, ACTIVITY_ARROW),
        STANDING | standing,
    )

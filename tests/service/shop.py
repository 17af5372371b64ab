"""Catalog with a small shop: one dataset in each state, one failed run, one diamond."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Engine, insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from lineage.process.clock import to_micros
from slis.evaluation.dataset_policies import rank_tiers
from slis.evaluation.dataset_states import mark_worst
from tests.lineage.policies import policy_row

NAMESPACE = "s3://shop"
DAY = datetime(2026, 11, 20, tzinfo=UTC)
RUN_ID = "0195f1c2-7f8e-7000-8000-000000000001"

LAGS = {"0.5": 10.0, "30.0": 90.0, "+Inf": 100.0, "sum": 812.5, "history": 40.0, "skewed": 2.0}

RAW, CORE, MART, REF = "raw/orders", "core/orders", "mart/daily", "ref/countries"
NAMES = (RAW, CORE, MART, REF)
_INHERITED = {"tier_origin": "inherited", "tier_reason": "made into core/orders"}
_Rows = dict[str, list[dict[str, Any]]]  # by table


def at(hours: float) -> int:
    """Return the microseconds of that many hours into the shop's day."""
    return to_micros(DAY + timedelta(hours=hours))


def dataset_key(name: str) -> int:
    """Return the key of a dataset of the shop."""
    return key(NAMESPACE, name)


def fill(engine: Engine, *, evaluated_at: datetime | None = None) -> None:
    """Insert the shop, with a current evaluation by default."""
    as_of = to_micros(evaluated_at or datetime.now(UTC))
    with write_transaction(engine) as connection:
        for table, rows in _rows(as_of).items():
            connection.execute(insert(tables.metadata.tables[table]), rows)
        mark_worst(connection)
        rank_tiers(connection)


def add_dataset(engine: Engine, namespace: str, name: str, state: str = "bad") -> None:
    """Insert one more dataset, critical, judged by M2."""
    dataset = key(namespace, name)
    with write_transaction(engine) as connection:
        connection.execute(insert(tables.dataset), [dataset_row(name, namespace)])
        connection.execute(insert(tables.dataset_policy), [policy_row(dataset)])
        connection.execute(insert(tables.dataset_state), [state_row(dataset, "M2", state, "late")])
        mark_worst(connection)
        rank_tiers(connection)


def _rows(as_of: int) -> _Rows:
    return _event_rows() | _policy_rows() | _evaluation_rows(as_of)


def _event_rows() -> _Rows:
    """Return rows from events, in an order that foreign keys allow."""
    raw, core, mart, ref = (dataset_key(name) for name in NAMES)
    return {
        "dataset": [dataset_row(name) for name in NAMES],
        "dataset_alias": [
            {
                "alias_key": 1,
                "dataset_key": core,
                "rule": "symlink",
                "namespace": "hive://shop",
                "name": "core.orders",
                "first_seen_at": at(0),
                "last_seen_at": at(1),
            }
        ],
        "dataset_activity": [_activity(raw), _activity(core)],
        "edge": [_edge(raw, core), _edge(ref, core), _edge(core, mart), _edge(raw, mart)],
        "run": [run_row()],
        "run_io": [io_row(1, raw, "read"), io_row(1, core, "write")],
        "batch": [
            {
                "query_id": "q",
                "batch_id": 0,
                "after_seq": 0,
                "last_seq": 10,
                "events": 10,
                "duplicates": 0,
                "landed_at": at(3),
            }
        ],
        "reader_cursor": [{"reader": "pipeline", "seq": 10}],
    }


def _policy_rows() -> _Rows:
    """Return policy and states of each dataset."""
    raw, core, mart, ref = (dataset_key(name) for name in NAMES)
    return {
        "dataset_policy": [
            policy_row(raw, **_INHERITED),
            policy_row(core, owner="sales", owner_origin="policy"),
            policy_row(mart, "important"),
            policy_row(ref, **_INHERITED),
        ],
        "dataset_state": [
            state_row(raw, "M1", "good", None),
            state_row(raw, "M2", "good", None) | {"since": at(2)},
            state_row(core, "M1", "good", None),
            state_row(core, "M2", "bad", "job_failed")
            | {
                "evidence": "run failed: division by zero",
                "age_seconds": 7_500.0,
                "limit_seconds": 3_600.0,
                "limit_origin": "declared",
            },
            state_row(mart, "M2", "learning", None),
            state_row(ref, "M1", "unknown", "ingestion_gap"),
        ],
    }


def _evaluation_rows(as_of: int) -> _Rows:
    """Return the results of an evaluation."""
    return {
        "evaluation": [
            {
                "as_of": as_of,
                "previous_as_of": None,
                "last_seq": 10,
                "policy_hash": "0" * 16,
                "datasets": 4,
                "seconds": 1.5,
            }
        ],
        "sli_now": [
            _now("M1", "critical", "declared", 1, 1),
            _now("M1", "critical", "inherited", 1, 2),
            _now("M2", "critical", "declared", 1, 2),
            _now("M6", "all", "default", 99, 100),
        ],
        "sli_counter": [
            _counter("M1", "critical", 120.0, 240.0),
            _counter("M6", "all", 99.0, 100.0),
        ],
        "lag_bucket": [
            {"processing": "batch", "le": le, "value": value} for le, value in LAGS.items()
        ],
    }


def dataset_row(name: str, namespace: str = NAMESPACE) -> dict[str, Any]:
    """Return a row of `dataset`."""
    dataset = key(namespace, name)
    return {
        "dataset_key": dataset,
        "namespace": namespace,
        "name": name,
        "canonical_key": dataset,
        "first_seen_at": at(0),
        "last_seen_at": at(3),
        "retired_at": None,
    }


def state_row(dataset: int, sli: str, state: str, reason: str | None) -> dict[str, Any]:
    """Return a row of `dataset_state`."""
    return {
        "dataset_key": dataset,
        "sli": sli,
        "state": state,
        "reason": reason,
        "evidence": None,
        "since": at(1),
        "age_seconds": None,
        "limit_seconds": None,
        "limit_origin": None,
        "is_worst": None,
    }


def _activity(dataset: int) -> dict[str, Any]:
    instants = {"last_written_at": at(1), "last_read_at": at(2)}
    return {"dataset_key": dataset, "writes": 3, "learned_writes": 0, **instants}


def _edge(upstream: int, downstream: int) -> dict[str, Any]:
    return {
        "upstream_key": upstream,
        "downstream_key": downstream,
        "job_key": key("jobs", "etl"),
        "job_namespace": "jobs",
        "job_name": "etl",
        "first_seen_at": at(0),
        "last_seen_at": at(3),
        "runs": 3,
    }


def run_row() -> dict[str, Any]:
    """Return a row of `run`, which failed."""
    return {
        "run_key": 1,
        "run_id": RUN_ID,
        "job_namespace": "jobs",
        "job_name": "etl.insert",
        "root_run_id": "0195f1c2-7f8e-7000-8000-000000000000",
        "root_job_namespace": "jobs",
        "root_job_name": "etl",
        "first_event_at": at(2),
        "last_event_at": at(2.5),
        "started_at": at(2),
        "completed_at": None,
        "failed_at": at(2.5),
        "error_message": "division by zero",
        "code_version": "4f1c0de",
        "parameters": '{"run_date":"2026-11-20"}',
        "is_history": False,
        "landed_at": at(2.5),
    }


def io_row(run_key: int, dataset: int, direction: str) -> dict[str, Any]:
    """Return a row of `run_io`."""
    return {
        "run_key": run_key,
        "dataset_key": dataset,
        "direction": direction,
        "first_event_at": at(2),
        "last_event_at": at(2.5),
        "has_statistics": False,
        "is_reported": True,
        "rows": 7,
        "bytes": None,
        "landed_at": at(2.5),
    }


def _now(sli: str, tier: str, origin: str, good: float, total: float) -> dict[str, Any]:
    counts = {"good": good, "total": total, "unknown": 0, "learning": 0, "excepted": 0}
    return {"sli": sli, "tier": tier, "tier_origin": origin, **counts}


def _counter(sli: str, tier: str, good: float, total: float) -> dict[str, Any]:
    counts = {"good": good, "total": total, "unknown": 15.0}
    return {"sli": sli, "tier": tier, "tier_origin": "declared", "epoch": "e1", **counts}

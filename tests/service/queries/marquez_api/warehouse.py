"""Small catalog for Marquez's clients: a DAG, a stream, a job that writes a hidden dataset."""

from typing import Any

from sqlalchemy import Engine, insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from tests.service import shop
from tests.service.api.access.estate import HIDDEN

NAMESPACE = shop.NAMESPACE
RAW, ORDERS, ODD = "landing/orders", "warehouse/db/orders", "odd%2Fname: 50% off"
SALARIES = "zebra/salaries"
AIRFLOW, SPARK = "airflow", "spark://prod:7077"
LOAD, STREAM, PAY = "shop_daily.load", "clicks", "pay.zebra"
RUNS = [f"0195f1c2-7f8e-7000-8000-000000000{number:03}" for number in range(90)]
FIELDS = '[{"name":"id","type":"long"},{"name":"sum"}]'


def dataset_key(name: str) -> int:
    """Return the key of a dataset of the shop's namespace."""
    return key(NAMESPACE, name)


def fill(engine: Engine) -> None:
    """Insert the datasets, runs and writes."""
    with write_transaction(engine) as connection:
        for table, rows in _rows().items():
            connection.execute(insert(tables.metadata.tables[table]), rows)


def _rows() -> dict[str, list[dict[str, Any]]]:
    raw, orders, odd = (dataset_key(name) for name in (RAW, ORDERS, ODD))
    salaries = key(HIDDEN, SALARIES)
    named = [(NAMESPACE, RAW), (NAMESPACE, ORDERS), (NAMESPACE, ODD), (HIDDEN, SALARIES)]
    return {
        "dataset": [shop.dataset_row(name, namespace) for namespace, name in named],
        "schema_version": [
            {"dataset_key": orders, "schema_key": 7, "fields": FIELDS, **_SEEN},
        ],
        "tag": [
            {"dataset_key": orders, "tag": "pii", "value": "", "last_seen_at": shop.at(1)},
            {"dataset_key": salaries, "tag": "zebra", "value": "", "last_seen_at": shop.at(1)},
        ],
        "field_tag": [
            {**_FIELD_TAG, "dataset_key": orders, "tag_key": 1, "tag": "iban"},
            {**_FIELD_TAG, "dataset_key": orders, "tag_key": 2, "tag": "pii"},
            {**_FIELD_TAG, "dataset_key": salaries, "tag_key": 3, "tag": "zebra2"},
        ],
        "run": [
            # The DAG's own run touches nothing.
            run_row(10, 4, AIRFLOW, "shop_daily", completed_at=shop.at(4.5)),
            run_row(11, 4, AIRFLOW, LOAD, root=10, completed_at=shop.at(4.25)),
            run_row(12, 5, AIRFLOW, LOAD, root=15, completed_at=shop.at(5.25)),
            run_row(13, 6, AIRFLOW, LOAD, root=16),
            run_row(14, 7, SPARK, STREAM, failed_at=shop.at(8), **_FAILED),
            run_row(17, 9, AIRFLOW, PAY, completed_at=shop.at(9.5)),
        ],
        "run_io": [
            *(shop.io_row(number, raw, "read") for number in (11, 12)),
            *(shop.io_row(number, orders, "write") for number in (11, 12)),
            shop.io_row(14, odd, "write"),
            shop.io_row(17, orders, "read"),
            shop.io_row(17, salaries, "write"),
        ],
        "dataset_write": [write_row(orders, 10, 4.25), write_row(orders, 15, 5.25)],
    }


_FAILED = {"processing_type": "STREAMING", "error_message": "no column zebra"}
_FIELD_TAG = {"field": "id", "value": "", "source": None, "last_seen_at": shop.at(1)}
_SEEN = {"first_seen_at": shop.at(0), "last_seen_at": shop.at(3)}


def run_row(
    number: int,
    hour: float,
    namespace: str,
    name: str,
    root: int | None = None,
    **more: str | int | None,
) -> dict[str, Any]:
    """Return a row of `run` that began at this hour; `root`: the number of the DAG's run."""
    ended = more.get("completed_at") or more.get("failed_at") or shop.at(hour)
    return {
        **shop.run_row(),
        "run_key": number,
        "run_id": RUNS[number],
        "job_namespace": namespace,
        "job_name": name,
        "root_run_id": RUNS[number if root is None else root],
        "root_job_namespace": namespace,
        "root_job_name": name if root is None else name.partition(".")[0],
        "parent_run_id": None if root is None else RUNS[root],
        "first_event_at": shop.at(hour),
        "started_at": shop.at(hour),
        "last_event_at": ended,
        "nominal_start_at": shop.at(3),
        "completed_at": None,
        "failed_at": None,
        "error_message": None,
        "code_version": None,
        "code_url": None,
        "engine": "spark",
        "engine_version": "3.5.9",
        "producer": "https://example.com/producer",
        "processing_type": None,
        **more,
    }


def write_row(dataset: int, root: int, hour: float) -> dict[str, Any]:
    """Return a row of `dataset_write`."""
    flags = {"names_input": True, "is_reported": True, "is_streaming": False, "is_history": False}
    return {
        "dataset_key": dataset,
        "root_run_id": RUNS[root],
        "bucket": 0,
        "job_key": 1,
        "job_namespace": AIRFLOW,
        "job_name": "shop_daily",
        "written_at": shop.at(hour),
        "landed_at": shop.at(hour),
        "schema_key": 7,
        **flags,
    }

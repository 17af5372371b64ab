"""Runs as shown to a token that may not see all their datasets."""

import pytest
from sqlalchemy import delete, insert, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from tests.service import shop
from tests.service.api.access.estate import HIDDEN, PAYROLL

pytestmark = pytest.mark.postgres_nightly

_THEN = "/api/v1/lineage?at=2026-11-21T00:00:00Z&dataset=core/orders"


@pytest.fixture
def run_with_settings(estate):
    """Add a run from `raw/orders` to `core/orders`, with settings that name the hidden dataset."""
    root, core = shop.run_row()["root_run_id"], shop.dataset_key(shop.CORE)
    settings = {"spark_conf": f'{{"spark.in":"{HIDDEN}"}}', "parameters": f'{{"of":"{PAYROLL}"}}'}
    job = {"job_key": key("jobs", "etl"), "root_run_id": root, "is_reported": True}
    flags = {"names_input": True, "is_streaming": False, "is_history": False}
    names = {"job_namespace": "jobs", "job_name": "etl", "bucket": 0, "dataset_key": core}
    at = shop.at(2.5)
    ends = {"upstream_key": shop.dataset_key(shop.RAW), "downstream_key": core, "seen_at": at}
    with write_transaction(estate.catalog) as connection:
        connection.execute(update(tables.run).values(settings))
        connection.execute(insert(tables.edge_run), {**job, **ends})
        written = {"written_at": at, "landed_at": at}
        connection.execute(insert(tables.dataset_write), {**job, **flags, **names, **written})
    return estate


def _raw_then(estate, who):
    """Return the past edge from `raw/orders`."""
    tree = estate.get(_THEN, who).json()["upstream"]
    return next(node["run"] for node in tree if node["dataset"] == shop.RAW)


def test_past_settings_need_access_to_all_datasets(run_with_settings):
    """Show the run to both, and its settings, which may name anything, to an admin only."""
    whole, cut = (_raw_then(run_with_settings, who) for who in ("boss", "shop"))

    assert (whole["spark_conf"], whole["parameters"]) == ({"spark.in": HIDDEN}, {"of": PAYROLL})
    assert cut == whole | {"spark_conf": {}, "parameters": {}, "job_name": None}


def test_the_past_ends_at_hidden_datasets(run_with_settings):
    """Show the hidden datasets to an admin, and report missing parts to the other token."""
    whole, cut = (run_with_settings.get(_THEN, who).json() for who in ("boss", "shop"))

    ends = [
        [node["dataset"] for node in tree]
        for answer in (whole, cut)
        for tree in (answer["upstream"], answer["downstream"])
    ]
    up, down = [shop.RAW, shop.REF], [shop.MART]
    assert ends == [[*up, PAYROLL], [*down, PAYROLL], up, down]
    assert "parts are hidden from this token" in cut["partial_reason"]


@pytest.mark.postgres_always
@pytest.mark.parametrize(
    ("path", "run_in"),
    [
        ("/api/v1/runs?dataset=core/orders", lambda answer: answer["runs"][0]),
        ("/api/v1/lineage?dataset=core/orders", lambda answer: answer["last_run"]),
        ("/api/v1/dataset?dataset=core/orders", lambda answer: answer["last_run"]),
    ],
)
def test_a_run_with_hidden_datasets_is_named_by_its_application(estate, path, run_in):
    """Hide the job's name, which Spark derives from the written dataset."""
    whole, cut = (run_in(estate.get(path, who).json()) for who in ("boss", "shop"))
    assert (whole["job_name"], cut) == ("etl.insert", whole | {"job_name": None})

    with write_transaction(estate.catalog) as connection:
        of_hidden = tables.run_io.c.dataset_key == key(HIDDEN, PAYROLL)
        connection.execute(delete(tables.run_io).where(of_hidden))

    assert run_in(estate.get(path, "shop").json())["job_name"] == "etl"

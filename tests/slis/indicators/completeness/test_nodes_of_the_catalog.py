"""M3a of a catalog: the fields read there, and the published result."""

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.policy import Policy
from lineage.policy.model import DatasetRule
from lineage.policy.objectives import Requirements
from lineage.process.clock import to_micros
from slis.evaluation import dataset_policies
from slis.evaluation.evaluation import evaluate
from slis.indicators.completeness.node_catalog import required_nodes
from tests.slis.catalog_rows import CatalogRows
from tests.slis.sli_frames import day

_ALL = (
    *("owner", "schema", "version", "checksum", "job_id", "job_version", "code_version"),
    *("engine_version", "parameters", "nominal_time"),
)
_RULE = DatasetRule("shop/core.orders", tier="critical", regulated=True, owner="sales")
POLICY = Policy(datasets=(_RULE,), requirements=Requirements(regulated=_ALL))


def _run(when):
    at = to_micros(when)
    named = dict.fromkeys(("job_namespace", "job_name", "root_job_namespace", "root_job_name"), "j")
    fields = {"job_version": "1", "code_version": "c", "engine_version": "4", "application_id": "a"}
    return {
        **named,
        **fields,
        "run_key": 1,
        "run_id": "r",
        "root_run_id": f"run-{when:%dT%H%M%S}",
        "first_event_at": at,
        "last_event_at": at,
        "nominal_start_at": at,
        "is_history": False,
        "landed_at": at,
    }


def _fill(catalog):
    """Store two datasets, of which one is regulated and lacks parameters and version only."""
    rows = CatalogRows(catalog, day(0))
    core, other = rows.dataset("core.orders"), rows.dataset("other")
    for dataset in (core, other):
        rows.written(dataset, day(1, 11))
    seen = {"dataset_key": core, "first_seen_at": 1, "last_seen_at": 1}
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.schema_version), {**seen, "schema_key": 1, "fields": "[]"})
        connection.execute(insert(tables.dataset_checksum), {**seen, "checksum": "md5:1"})
        connection.execute(insert(tables.run), _run(day(1, 11)))
    return rows


def test_every_field_is_looked_up(spark, catalog):
    """Read the regulated dataset alone, on either database."""
    _fill(catalog)
    dataset_policies.renew_policies(catalog, POLICY)

    (row,) = required_nodes(spark, catalog, POLICY).collect()

    found = {name: row[name] for name in _ALL}
    assert found == {**dict.fromkeys(_ALL, True), "parameters": False, "version": False}
    assert (row.is_regulated, row.is_written, row.is_reported) == (True, True, True)


@pytest.mark.postgres_nightly
def test_nothing_is_read_where_nothing_is_required(spark, catalog):
    """Read one row per evaluation for a policy without regulated datasets."""
    _fill(catalog)
    policy = Policy(datasets=(DatasetRule("shop/core.orders", tier="critical"),))
    dataset_policies.renew_policies(catalog, policy)

    assert required_nodes(spark, catalog, policy) is None


@pytest.mark.postgres_nightly
def test_an_evaluation_counts_dataset_seconds_of_fields_and_names_what_is_missing(spark, catalog):
    """Count eight of ten fields for a minute under the tier `regulated`; the dataset is bad."""
    rows = _fill(catalog)

    evaluate(spark, catalog, POLICY, day(1, 12))
    evaluate(spark, catalog, POLICY, day(1, 12, 1))

    counters = [
        (row["tier"], row["good"], row["total"], row["unknown"])
        for row in rows.rows(tables.sli_counter)
        if row["sli"] == "M3a"
    ]
    assert counters == [("regulated", 8 * 60, 10 * 60, 0)]
    (state,) = [row for row in rows.rows(tables.dataset_state) if row["sli"] == "M3a"]
    assert (state["state"], state["reason"]) == ("bad", "metadata_missing")
    assert state["evidence"].startswith("not known: version, parameters;")

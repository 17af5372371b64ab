import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Engine, insert, text

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction, write_transaction
from lineage.names.keys import key
from service.exporter.metrics import CatalogCollector
from service.runtime.settings import Settings
from slis.evaluation.dataset_policies import rank_tiers
from slis.evaluation.dataset_states import mark_worst
from tests.lineage.policies import policy_row
from tests.service import shop

pytestmark = pytest.mark.postgres_nightly

HOSTILE = ['"} or vector(1) #', "line\nbreak", "back\\slash", 'quote"d', "tab\t\u202eend"]


def _scrape(catalog: Engine, *, now: datetime | None = None) -> str:
    url = catalog.url.render_as_string(hide_password=False)
    registry = CollectorRegistry()
    clock = (lambda: now) if now else (lambda: datetime.now(UTC))
    registry.register(CatalogCollector(Settings(catalog_url=url), clock))
    return generate_latest(registry).decode()


def _samples(text: str) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def _labels(**labels: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(labels.items()))


def test_counters_match_the_catalog(catalog):
    """Show good, total and unknown of each SLI, tier, origin and epoch."""
    shop.fill(catalog)

    found = _samples(_scrape(catalog))

    coverage = _labels(sli="coverage", tier="critical", tier_origin="declared", epoch="e1")
    lag = _labels(sli="ingestion_lag", tier="all", tier_origin="declared", epoch="e1")
    assert found["lineage_sli_good_total"] == {coverage: 120.0, lag: 99.0}
    assert found["lineage_sli_total"] == {coverage: 240.0, lag: 100.0}
    assert found["lineage_sli_unknown_seconds_total"] == {coverage: 15.0}
    assert found["lineage_sli_unknown_events_total"] == {lag: 15.0}


def test_ratios_are_current_and_an_empty_total_has_none(catalog):
    """Show 2/3 for coverage of the critical tier, and no ratio without reads."""
    shop.fill(catalog)

    found = _samples(_scrape(catalog))

    assert found["lineage_coverage_ratio"] == {_labels(tier="critical"): 2 / 3}
    objectives = [dict(row) for row in found["lineage_sli_objective_ratio"]]
    assert [row["tier"] for row in objectives if row["sli"] == "ingestion_lag"] == ["all"]
    assert "lineage_missing_provenance_ratio" not in found


def test_the_lag_histogram_is_cumulative(catalog):
    """Show buckets, count and sum as Prometheus expects them."""
    shop.fill(catalog)

    found = _samples(_scrape(catalog))

    buckets = found["lineage_ingestion_lag_seconds_bucket"]
    assert buckets[_labels(processing="batch", le="30.0")] == 90.0
    assert found["lineage_ingestion_lag_seconds_count"] == {_labels(processing="batch"): 100.0}
    assert found["lineage_ingestion_lag_seconds_sum"] == {_labels(processing="batch"): 812.5}


def test_history_and_skewed_events_are_counted_apart(catalog):
    """Count backfilled events, and events of a clock ahead, beside the histogram."""
    shop.fill(catalog)

    found = _samples(_scrape(catalog))

    assert found["lineage_events_history_total"] == {_labels(processing="batch"): 40.0}
    assert found["lineage_events_skewed_total"] == {_labels(processing="batch"): 2.0}


def test_errors_are_counted_by_stage_cause_and_origin(catalog):
    """Keep the counts of rejected and failed events when their rows are pruned."""
    columns = ("stage", "cause", "origin", "events")
    rows = [
        ("collector", "depth", "live", 3),
        ("pipeline", "core_unreadable", "live", 2),
        ("pipeline", "core_unreadable", "history", 40),
    ]
    with write_transaction(catalog) as connection:
        values = [dict(zip(columns, row, strict=True)) for row in rows]
        connection.execute(insert(tables.error_count), values)

    found = _samples(_scrape(catalog))

    failed = _labels(stage="pipeline", cause="core_unreadable")
    rejected = _labels(stage="collector", cause="depth")
    assert found["lineage_errors_total"] == {rejected: 3.0, failed: 2.0}
    assert found["lineage_errors_history_total"] == {failed: 40.0}
    assert found["lineage_pipeline_errors_total"] == {_labels(reason="core_unreadable"): 42.0}


def test_a_bad_dataset_is_named_with_its_reason_and_owner(catalog):
    """Show critical and bad datasets by name, and not a learning one of a lower tier."""
    shop.fill(catalog)

    found = _samples(_scrape(catalog))["lineage_dataset_state"]

    core = {"dataset_namespace": shop.NAMESPACE, "dataset": shop.CORE, "tier": "critical"}
    why = {"sli": "freshness", "state": "bad", "reason": "job_failed", "owner": "sales"}
    assert found[_labels(**core, **why)] == 1.0
    assert {dict(labels)["dataset"] for labels in found} == {shop.RAW, shop.CORE, shop.REF}


def test_datasets_without_a_checksum_are_counted_by_tier(catalog):
    """Count two of three critical datasets, and no retired one."""
    shop.fill(catalog)
    raw = {"dataset_key": shop.dataset_key(shop.RAW), "checksum": "md5:1"}
    with write_transaction(catalog) as connection:
        seen = {"first_seen_at": 1, "last_seen_at": 1}
        connection.execute(insert(tables.dataset_checksum), {**raw, **seen})

    found = _samples(_scrape(catalog))["lineage_datasets_without_checksum"]

    assert found == {_labels(tier="critical"): 2.0, _labels(tier="important"): 1.0}


@pytest.mark.parametrize("way", [1, -1], ids=["old", "ahead"])
def test_a_stale_evaluation_drops_every_gauge_that_rests_on_it(catalog, way):
    """Drop ratios and datasets 61 s after or before the clock, and keep counters."""
    then = datetime.now(UTC)
    shop.fill(catalog, evaluated_at=then)

    fresh = _samples(_scrape(catalog, now=then + way * timedelta(seconds=59)))
    stale = _samples(_scrape(catalog, now=then + way * timedelta(seconds=61)))

    gone = fresh.keys() - stale.keys()
    assert {"lineage_coverage_ratio", "lineage_dataset_state", "lineage_datasets"} <= gone
    assert stale["lineage_sli_good_total"] == fresh["lineage_sli_good_total"]
    assert "lineage_sli_evaluated_timestamp_seconds" in stale


def test_without_a_catalog_there_is_still_a_scrape(tmp_path):
    """Show the release, and that there is no catalog."""
    registry = CollectorRegistry()
    registry.register(CatalogCollector(Settings(data_dir=tmp_path)))

    found = _samples(generate_latest(registry).decode())

    assert found["lineage_catalog_readable"] == {(): 0.0}
    assert "lineage_sli_total" not in found


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_cannot_leave_its_label(catalog, name):
    """Escape quotes, line breaks and PromQL in a name."""
    shop.fill(catalog)
    shop.add_dataset(catalog, name, name)

    found = _samples(_scrape(catalog))["lineage_dataset_state"]

    names = {(dict(row)["dataset_namespace"], dict(row)["dataset"]) for row in found}
    assert (name, name) in names


def test_promtool_accepts_the_metrics(catalog):
    """Check names, help and types."""
    shop.fill(catalog)

    checked = subprocess.run(
        ["promtool", "check", "metrics"],
        input=_scrape(catalog),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_no_label_belongs_to_prometheus(catalog):
    """Use neither `job` nor `namespace`, which Prometheus would rename."""
    shop.fill(catalog)

    found = _samples(_scrape(catalog))

    names = {name for rows in found.values() for labels in rows for name, _ in labels}
    assert not names & {"job", "namespace", "instance"}


@pytest.mark.postgres_always
@pytest.mark.parametrize(
    "count",
    [
        20_000,
        pytest.param(
            100_000,
            marks=pytest.mark.nightly(
                short="tests/service/exporter/test_metrics.py"
                "::test_many_datasets_are_at_most_ten_thousand_series[sqlite-20000]"
            ),
        ),
    ],
)
def test_many_datasets_are_at_most_ten_thousand_series(catalog, count):
    """Name 500 of the critical bad datasets, and count all others."""
    then = datetime.now(UTC)
    shop.fill(catalog, evaluated_at=then)
    _crowd(catalog, count)  # takes longer, perhaps, than an evaluation is of now

    found = _samples(_scrape(catalog, now=then))

    assert sum(len(rows) for rows in found.values()) <= 10_000
    named = {dict(labels)["dataset"] for labels in found["lineage_dataset_state"]}
    others = found["lineage_dataset_other"]
    assert len(named) == 500
    # Those and the shop's three critical ones, of which one is bad.
    assert sum(others.values()) == count + 3 - 500
    assert others[_labels(tier="critical", state="bad")] == count + 1 - 500


def _autovacuum(catalog: Engine) -> None:
    """Look at the tables from outside, as PostgreSQL does by itself: no new row counts yet."""
    if catalog.dialect.name == "postgresql":
        with catalog.connect() as connection:
            for name in ("dataset", "dataset_policy", "dataset_state"):
                connection.execute(text(f"ANALYZE {name}"))
            connection.commit()


def _crowd(catalog: Engine, count: int) -> None:
    names = [f"crowd/{n}" for n in range(count)]
    keys = [key(shop.NAMESPACE, name) for name in names]
    with exclusive_transaction(catalog) as connection:
        connection.execute(insert(tables.dataset), [shop.dataset_row(name) for name in names])
        connection.execute(insert(tables.dataset_policy), [policy_row(k) for k in keys])
        for sli in ("M1", "M2"):
            rows = [shop.state_row(k, sli, "bad", "late") for k in keys]
            connection.execute(insert(tables.dataset_state), rows)
        _autovacuum(catalog)
        mark_worst(connection)
        rank_tiers(connection)

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from sqlalchemy import Engine, insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import CHANGES_MISSED
from service.exporter.metrics import CatalogCollector
from service.runtime.settings import Settings
from tests.service import shop

pytestmark = pytest.mark.postgres_nightly


def _pattern(name: str, new: int) -> dict[str, Any]:
    example = {"example_namespace": "s3://b", "example_name": name.replace("{n}", "7")}
    grown = {"new_datasets": new, "is_explosion": new >= 20}
    return {"namespace": "s3://b", "name": name, **grown, **example}


def _scrape(catalog: Engine, *, age: timedelta = timedelta()) -> CollectorRegistry:
    url = catalog.url.render_as_string(hide_password=False)
    registry = CollectorRegistry()
    registry.register(CatalogCollector(Settings(catalog_url=url), lambda: datetime.now(UTC) + age))
    return registry


def test_growth_is_shown_by_pattern_and_an_explosion_is_counted(catalog):
    """Count an explosion while it lasts, and name its pattern."""
    shop.fill(catalog)
    with write_transaction(catalog) as connection:
        rows = [_pattern("tmp/run_{n}", 500), _pattern("lake/x_{n}", 2)]
        connection.execute(insert(tables.name_pattern), rows)
    value = _scrape(catalog).get_sample_value

    by_pattern = {
        pattern: value("lineage_new_datasets_per_hour", {"pattern": pattern})
        for pattern in ("s3://b/tmp/run_{n}", "s3://b/lake/x_{n}")
    }
    assert by_pattern == {"s3://b/tmp/run_{n}": 500, "s3://b/lake/x_{n}": 2}
    assert value("lineage_name_explosion") == 1


def test_no_growth_is_no_explosion_and_no_series(catalog):
    """Show a count of 0, so that an alert on absence is another one."""
    shop.fill(catalog)
    value = _scrape(catalog).get_sample_value

    assert value("lineage_name_explosion") == 0


def test_a_stale_evaluation_has_no_growth_series(catalog):
    """Show no 0 without a pipeline."""
    shop.fill(catalog)
    value = _scrape(catalog, age=timedelta(minutes=5)).get_sample_value

    assert value("lineage_name_explosion") is None


def test_patterns_longer_than_a_label_are_one_series(catalog):
    """Cut alike, they would be the same series twice, and Prometheus would drop the scrape."""
    shop.fill(catalog)
    with write_transaction(catalog) as connection:
        rows = [_pattern("x" * 300 + f"{end}_{{n}}", 3) for end in "ab"]
        connection.execute(insert(tables.name_pattern), rows)
    value = _scrape(catalog).get_sample_value

    assert value("lineage_new_datasets_per_hour", {"pattern": f"s3://b/{'x' * 193}"}) == 6


@pytest.mark.postgres_nightly
def test_changes_that_evaluations_missed_are_counted(catalog):
    shop.fill(catalog)
    name = "lineage_evaluation_missed_changes_total"
    assert _scrape(catalog).get_sample_value(name) == 0

    with write_transaction(catalog) as connection:
        row = {"name": CHANGES_MISSED, "value": "3"}
        connection.execute(insert(tables.meta), row)

    assert _scrape(catalog).get_sample_value(name) == 3


@pytest.mark.postgres_nightly
def test_datasets_whose_limit_could_not_be_learned_are_counted(catalog):
    shop.fill(catalog)
    assert _scrape(catalog).get_sample_value("lineage_limit_failures") == 0

    row = {
        "dataset_key": shop.dataset_key(shop.REF),
        "cadence_class": "failed",
        "gaps": 0,
        "learned_at": 1,
    }
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.dataset_limit), {**row, "explanation": "an error"})

    assert _scrape(catalog).get_sample_value("lineage_limit_failures") == 1

"""Metric of datasets whose limit could not be learned."""

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from tests.service import shop
from tests.service.exporter.test_name_growth import _scrape


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

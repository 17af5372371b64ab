"""What limits are learned from, read from a catalog."""

import pytest

from lineage.catalog import tables
from lineage.policy import Policy
from slis.evaluation import evaluate
from tests.slis.catalog_rows import CatalogRows
from tests.slis.sli_frames import day


@pytest.mark.postgres_nightly(but="False")
@pytest.mark.parametrize("is_told", [True, False])
def test_failed_runs_of_its_own_keep_a_flapping_job_from_a_slower_cadence(spark, catalog, is_told):
    """Two runs of three failed for a day: it is hourly as before, by its failures alone."""
    rows = CatalogRows(catalog, day(0))
    at, other = rows.dataset("mart.hourly"), rows.dataset("mart.other")
    for hour in range(96):
        when = day(0, hour + hour % 7 / 100)
        if hour < 72 or hour % 3 == 2:
            rows.written(at, when)
        else:
            rows.failed(at if is_told else other, when)

    evaluate(spark, catalog, Policy(), day(4))

    [limit] = rows.rows(tables.dataset_limit)
    assert (limit["cadence_seconds"] < 2 * 3_600) is is_told

"""First sentence of `why` when states are old or missing."""

from datetime import timedelta

import pytest
from sqlalchemy import delete, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from service.queries.catalog_session import open_session
from service.queries.dataset import why
from service.queries.dataset_lookup import resolve_dataset
from service.runtime.settings import Settings
from tests.service import shop

pytestmark = pytest.mark.postgres_nightly

NOW = shop.DAY + timedelta(hours=3)
_COVERED = "Coverage (M1) is good since 2026-11-20 01:00:00 UTC."
_FRESH = "Freshness (M2) is good since 2026-11-20 02:00:00 UTC."


def _sentences(catalog, **since: timedelta):
    """Return all sentences about `raw/orders` but those on its owner."""
    settings = Settings(catalog_url=catalog.url.render_as_string(hide_password=False))
    with open_session(settings, lambda: NOW + timedelta(**since)) as asked:
        named = resolve_dataset(asked.reader, shop.RAW)
        return why(asked.reader, named, asked.evaluated).sentences[:-2]


def test_a_current_state_has_no_doubt(catalog):
    """Print the states and no sentence before them."""
    shop.fill(catalog, evaluated_at=NOW)

    assert _sentences(catalog) == [_COVERED, _FRESH]


def test_a_stale_evaluation_is_named_with_its_time(catalog):
    """Print the time before the states."""
    shop.fill(catalog, evaluated_at=NOW)

    doubt = (
        "The last evaluation was at 2026-11-20 03:00:00 UTC; the states below are of"
        " that time, and unknown now."
    )
    assert _sentences(catalog, hours=1) == [doubt, _COVERED, _FRESH]


_NEVER = "No evaluation has run yet: the state is unknown."
_RETIRED = "The dataset was retired at 2026-11-20 02:00:00 UTC: no SLI counts it."
_UNJUDGED = "No SLI covers the dataset: it is a source without a limit, or it is new."


@pytest.mark.parametrize(
    ("change", "doubt"),
    [
        (delete(tables.evaluation), _NEVER),
        (update(tables.dataset).values(retired_at=shop.at(2)), _RETIRED),
        (delete(tables.dataset_state), _UNJUDGED),
    ],
)
def test_a_missing_state_has_a_reason(catalog, change, doubt):
    """Name it for a dataset that is new, retired, or judged by no SLI."""
    shop.fill(catalog, evaluated_at=NOW)
    with write_transaction(catalog) as connection:
        connection.execute(delete(tables.dataset_state))
        connection.execute(change)

    assert _sentences(catalog) == [doubt]

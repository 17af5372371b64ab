"""What `why` says first where the verdicts on a dataset are not of now, or there are none."""

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


def _said(catalog, **since: timedelta):
    """All sentences about `raw/orders` but those on whose it is."""
    settings = Settings(catalog_url=catalog.url.render_as_string(hide_password=False))
    with open_session(settings, lambda: NOW + timedelta(**since)) as asked:
        named = resolve_dataset(asked.reader, shop.RAW)
        return why(asked.reader, named, asked.evaluated).sentences[:-2]


def test_nothing_is_doubted_that_was_judged_just_now(catalog):
    """Its verdicts, and no word before them."""
    shop.fill(catalog, evaluated_at=NOW)

    assert _said(catalog) == [_COVERED, _FRESH]


def test_of_a_stale_evaluation_it_says_when_that_was(catalog):
    """Before the verdicts, which were so then."""
    shop.fill(catalog, evaluated_at=NOW)

    doubt = (
        "The last evaluation was at 2026-11-20 03:00:00 UTC; the states below are of"
        " that time, and unknown now."
    )
    assert _said(catalog, hours=1) == [doubt, _COVERED, _FRESH]


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
def test_where_there_is_no_verdict_it_says_why(catalog, change, doubt):
    """Never evaluated, retired, or judged by no SLI."""
    shop.fill(catalog, evaluated_at=NOW)
    with write_transaction(catalog) as connection:
        connection.execute(delete(tables.dataset_state))
        connection.execute(change)

    assert _said(catalog) == [doubt]

"""First sentence of `why` when states are old or missing."""

from datetime import timedelta

import pytest
from sqlalchemy import delete, insert, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from service.queries.catalog_session import open_session
from service.queries.dataset import explain_states
from service.queries.dataset_lookup import resolve_dataset
from service.runtime.settings import Settings
from tests.service import shop

pytestmark = pytest.mark.postgres_nightly

NOW = shop.DAY + timedelta(hours=3)
_COVERED = "Coverage (M1) is good since 2026-11-20 01:00:00 UTC."
_FAILED = "run r1 failed 2026-11-20 02:30:00 UTC: no table"
_FRESH = "Freshness (M2) is good since 2026-11-20 02:00:00 UTC."


def _sentences(catalog, **since: timedelta):
    """Return all sentences about `raw/orders` but those on its owner."""
    settings = Settings(catalog_url=catalog.url.render_as_string(hide_password=False))
    with open_session(settings, lambda: NOW + timedelta(**since)) as asked:
        named = resolve_dataset(asked.reader, shop.RAW)
        return explain_states(asked.reader, named, asked.evaluated).sentences[:-2]


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


@pytest.mark.parametrize(
    ("origin", "before"),
    [
        ("learned", ""),
        ("declared", "Learned, but not used because the declared limit applies: "),
    ],
)
def test_a_learned_limit_beside_a_declared_one_is_not_used(catalog, origin, before):
    """Show both, and which one applies."""
    shop.fill(catalog, evaluated_at=NOW)
    schedule = "Updated daily at about 01:00 (± 1 min); late after 04:00"
    figures = {"limit_seconds": 93_600.0, "limit_origin": origin, "age_seconds": 60.0}
    _change_state(catalog, "M2", figures)
    limit = {"cadence_class": "periodic", "gaps": 10, "learned_at": 0, "explanation": schedule}
    with write_transaction(catalog) as connection:
        row = {"dataset_key": shop.dataset_key(shop.RAW), **limit}
        connection.execute(insert(tables.dataset_limit).values(**row))

    assert _sentences(catalog) == [
        _COVERED,
        f"{_FRESH} The newest write is 1 min old; the {origin} limit is 1 d 2 h.",
        f"{before}{schedule}.",
    ]


@pytest.mark.parametrize(("state", "joint"), [("good", ", although "), ("bad", ": ")])
def test_a_failed_run_is_no_reason_for_a_good_state(catalog, state, joint):
    """Join the run to a good state by `although`."""
    shop.fill(catalog, evaluated_at=NOW)
    evidence = _FAILED
    _change_state(catalog, "M1", {"state": state, "evidence": evidence})

    [sentence] = [each for each in _sentences(catalog) if each.startswith("Coverage")]
    assert sentence.endswith(f"2026-11-20 01:00:00 UTC{joint}{evidence}.")


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        (f"{_FAILED}; last written 01:00", f" (job_failed): {_FAILED}; last written 01:00."),
        (None, ": job_failed."),
    ],
)
def test_a_reason_may_be_newer_than_the_detection(catalog, evidence, words):
    """Name the reason in a sentence of its own, after the time of detection."""
    shop.fill(catalog, evaluated_at=NOW)
    reason = {"state": "bad", "reason": "job_failed", "evidence": evidence}
    _change_state(catalog, "M1", reason)

    [sentence] = [each for each in _sentences(catalog) if each.startswith("Coverage")]
    detected = "Coverage (M1) is bad, detected at 2026-11-20 01:00:00 UTC."
    assert sentence == f"{detected} Latest reason{words}"


def _change_state(catalog, sli, values):
    """Change one SLI's state of `raw/orders`."""
    state = tables.dataset_state
    of_it = (state.c.dataset_key == shop.dataset_key(shop.RAW)) & (state.c.sli == sli)
    with write_transaction(catalog) as connection:
        connection.execute(update(state).where(of_it).values(values))


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

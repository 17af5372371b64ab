"""Assertions that failed, as bad facts of their datasets."""

from typing import Any

import pytest

from slis.indicators.quality import assertions as module
from slis.indicators.quality.assertions import failed_assertions
from slis.indicators.quality.evaluate import defect_states
from slis.indicators.quality.schemas import ASSERTIONS, DEFECTS
from tests.slis.sli_frames import day, frame, instants

_TEST = {"dataset_key": 1, "assertion": "unique", "column_name": "id", "name": ""}
_TEST |= {"severity": "error", "expected": "0", "actual": "3", "last_failed_at": day(1, 9)}


def _failures(spark, *rows: dict[str, Any], at=None):
    tested = frame(spark, ASSERTIONS, [{**_TEST, **row} for row in rows])
    found = failed_assertions(tested, instants(spark, *(at or [day(1, 12)])))
    return [row.evidence for row in found.collect()]


def test_a_failed_assertion_is_shown_by_name_column_and_figures(spark):
    """Let the on-call engineer look the test up."""
    assert _failures(spark, {"name": "ids are unique"}) == [
        "unique of id (ids are unique) failed 2026-11-02 09:00:00 UTC: expected 0, got 3"
    ]


def test_a_later_success_clears_it_and_an_earlier_one_does_not(spark):
    """Clear by a later success of the same assertion only."""
    assert _failures(spark, {"last_passed_at": day(1, 10)}) == []
    assert len(_failures(spark, {"last_passed_at": day(1, 8)})) == 1


def test_a_warning_and_a_failure_of_last_week_make_nothing_bad(spark):
    """Ignore a test that no longer runs, and one whose failure is later than now."""
    assert _failures(spark, {"severity": "warn"}) == []
    assert _failures(spark, {}, at=(day(1, 8), day(8, 8), day(8, 10))) == _failures(spark, {})


def test_a_dataset_without_tests_has_no_row(spark):
    """Return no row: a dataset without tests is not good."""
    assert _failures(spark) == []
    assert defect_states(frame(spark, DEFECTS, [])).collect() == []


def test_only_the_newest_failures_are_named(spark):
    """Bound the list: a suite may have hundreds of tests."""
    many = [{"column_name": f"c{n}", "last_failed_at": day(1, 9, n)} for n in range(7)]
    (evidence,) = _failures(spark, *many)

    assert evidence.startswith("unique of c6 failed")
    assert evidence.endswith("; and 2 more")


def test_the_first_reason_is_the_state_with_the_others_listed(spark):
    """Return one reason per dataset, in the order of the definition, with all evidence."""
    rows = [
        {"as_of": day(1), "dataset_key": 1, "reason": "assertion_failed", "evidence": "b"},
        {"as_of": day(1), "dataset_key": 1, "reason": "schema_mismatch", "evidence": "a"},
    ]

    (state,) = defect_states(frame(spark, DEFECTS, rows)).collect()

    assert (state.sli, state.state, state.reason) == ("facts", "bad", "schema_mismatch")
    assert state.evidence == "a; also b"


@pytest.mark.parametrize("days", [0])
def test_without_its_days_a_failure_would_be_missed(spark, monkeypatch, days):
    """Remove the guarantee."""
    monkeypatch.setattr(module, "STANDS_DAYS", days)

    assert _failures(spark, {}) == []

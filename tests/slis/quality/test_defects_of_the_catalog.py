"""Failed tests and changed schemas, from events to the state of a dataset."""

import sys
from pathlib import Path

import pytest

from lineage.policy import DEFAULT, Policy
from lineage.policy.model import DatasetRule
from slis.evaluation import evaluate

sys.path.insert(0, str(Path(__file__).parent.parent / "stream"))

from spools import Lander, later, rows, run_event

_STATES = "SELECT state, reason, evidence FROM dataset_state WHERE sli = 'facts'"


def _written(at, run, code, fields):
    schema = {"schema": {"fields": [{"name": name, "type": "int"} for name in fields]}}
    event = run_event("COMPLETE", at, run=run, inputs=["in"], outputs=[("t", schema)])
    event["job"]["facets"]["sourceCodeLocation"] = {"type": "git", "url": "x", "version": code}
    return event


def _tested(at, run, *, success):
    event = run_event("COMPLETE", at, run=run, job="tests", inputs=["t"])
    result = {"assertion": "not_null", "column": "a", "success": success}
    event["inputs"][0]["inputFacets"] = {"dataQualityAssertions": {"assertions": [result]}}
    return event


@pytest.mark.postgres_nightly
def test_a_dataset_is_bad_by_its_facts_until_they_are_put_right(spark, catalog, tmp_path, at):
    """Schema and test at once; then a release, and a test that passes."""
    lander = Lander(spark, catalog, tmp_path, at(12))
    lander.land(_written(at(7), "r1", "v1", "ab"), _written(at(8), "r2", "v1", "abc"))
    lander.land(_tested(at(9), "r3", success=False))
    evaluate(spark, catalog, DEFAULT, at(12))

    ((state, reason, evidence),) = rows(catalog, _STATES)
    assert (state, reason) == ("bad", "schema_mismatch")
    assert "whose code version stayed v1: added c (int)" in evidence
    assert evidence.endswith("also not_null of a failed 2026-11-21 09:00:00 UTC")

    lander.land(_written(at(10), "r4", "v2", "abc"), _tested(at(11), "r5", success=True))
    evaluate(spark, catalog, DEFAULT, later(at(12), 60))

    assert rows(catalog, _STATES) == []


def test_a_regulated_dataset_made_of_something_new_is_bad_until_that_is_declared(
    spark, catalog, tmp_path, at
):
    """Nine runs of one input, and then another; a policy that expects it puts it right."""
    lander = Lander(spark, catalog, tmp_path, at(12))

    def made_of(hour, *inputs: str):
        return run_event("COMPLETE", at(hour), run=f"r{hour}", inputs=inputs, outputs=["t"])

    lander.land(*(made_of(hour, "in") for hour in range(-240, -159, 10)))
    lander.land(made_of(11, "in", "cards"))
    regulated = DatasetRule("n/t", regulated=True)
    evaluate(spark, catalog, Policy(datasets=(regulated,)), at(12))

    ((state, reason, evidence),) = rows(catalog, _STATES)
    assert (state, reason) == ("bad", "unexpected_source")
    assert evidence.startswith("made of n cards by job app, first seen 2026-11-21 11:00:00 UTC")

    declared = DatasetRule("n/t", regulated=True, expect_inputs=("n/cards",))
    evaluate(spark, catalog, Policy(datasets=(declared,)), later(at(12), 60))

    assert rows(catalog, _STATES) == []

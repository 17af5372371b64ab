"""Failed tests and changed schemas, from events to the state of a dataset."""

import pytest

from lineage.policy import DEFAULT, Policy
from lineage.policy.model import DatasetRule
from slis.evaluation.evaluation import evaluate
from tests.slis.stream.spools import Lander, later, rows, run_event

_NAMED_STATES = """
    SELECT d.name, s.state, s.reason, s.evidence FROM dataset_state s
    JOIN dataset d ON d.dataset_key = s.dataset_key WHERE s.sli = 'facts' ORDER BY 1
"""
_STATES = "SELECT state, reason, evidence FROM dataset_state WHERE sli = 'facts'"


def _write_event(at, run, code, fields):
    schema = {"schema": {"fields": [{"name": name, "type": "int"} for name in fields]}}
    event = run_event("COMPLETE", at, run=run, inputs=["in"], outputs=[("t", schema)])
    event["job"]["facets"]["sourceCodeLocation"] = {"type": "git", "url": "x", "version": code}
    return event


def _test_event(at, run, *, success):
    event = run_event("COMPLETE", at, run=run, job="tests", inputs=["t"])
    result = {"assertion": "not_null", "column": "a", "success": success}
    event["inputs"][0]["inputFacets"] = {"dataQualityAssertions": {"assertions": [result]}}
    return event


@pytest.mark.postgres_nightly
def test_a_dataset_is_bad_by_its_facts_until_they_are_fixed(spark, catalog, tmp_path, at):
    """Report schema and test at once; clear them by a release and a passed test."""
    lander = Lander(catalog, tmp_path, at(12))
    lander.land(_write_event(at(7), "r1", "v1", "ab"), _write_event(at(8), "r2", "v1", "abc"))
    lander.land(_test_event(at(9), "r3", success=False))
    evaluate(spark, catalog, DEFAULT, at(12))

    ((state, reason, evidence),) = rows(catalog, _STATES)
    assert (state, reason) == ("bad", "schema_mismatch")
    assert "whose code version stayed v1: added c (int)" in evidence
    assert evidence.endswith("also not_null of a failed 2026-11-21 09:00:00 UTC")

    lander.land(_write_event(at(10), "r4", "v2", "abc"), _test_event(at(11), "r5", success=True))
    evaluate(spark, catalog, DEFAULT, later(at(12), 60))

    assert rows(catalog, _STATES) == []


def test_a_regulated_or_critical_dataset_of_a_new_source_is_bad_until_it_is_declared(
    spark, catalog, tmp_path, at
):
    """Land nine runs of one input, and one of another; an important dataset is left alone."""
    lander = Lander(catalog, tmp_path, at(12))

    def made_of(hour, *inputs: str):
        outputs = ["critical", "important", "t"]
        return run_event("COMPLETE", at(hour), run=f"r{hour}", inputs=inputs, outputs=outputs)

    lander.land(*(made_of(hour, "in") for hour in range(-240, -159, 10)))
    lander.land(made_of(11, "in", "cards"))
    tiers = [DatasetRule(f"n/{tier}", tier=tier) for tier in ("critical", "important")]
    regulated = DatasetRule("n/t", regulated=True)
    evaluate(spark, catalog, Policy(datasets=(*tiers, regulated)), at(12))

    found = rows(catalog, _NAMED_STATES)
    assert [row[:3] for row in found] == [
        ("critical", "bad", "unexpected_source"),
        ("t", "bad", "unexpected_source"),
    ]
    assert found[1][3].startswith("made of n cards by job app, first seen 2026-11-21 11:00:00 UTC")

    declared = [
        DatasetRule("n/critical", tier="critical", expect_inputs=("n/cards",)),
        DatasetRule("n/t", regulated=True, expect_inputs=("n/cards",)),
    ]
    evaluate(spark, catalog, Policy(datasets=tuple(declared)), later(at(12), 60))

    assert rows(catalog, _STATES) == []

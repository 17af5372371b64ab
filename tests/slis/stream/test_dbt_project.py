"""Incidents of one `dbt run`: each failed model is a fault of its own."""

import pytest

from alerts.detection.fault_detection import detect_faults
from lineage.policy import parse_policy
from lineage.process.clock import to_micros
from slis.evaluation.evaluation import evaluate
from tests.slis.stream.spools import run_event

pytestmark = pytest.mark.postgres_nightly

_RUN = ("d1", "dbt-run-shop")
_POLICY = """
owners:
  - name: bi
datasets:
  - match: n/gold
    tier: critical
    owner: bi
  - match: n/silver
    tier: important
"""


def _model(kind, at, name, inputs, owner=None):
    run = f"run-of-{name}"
    event = run_event(
        kind, at, run=run, job=name, inputs=inputs, outputs=[name], root=_RUN, **_MODEL
    )
    if owner:
        event["job"]["facets"]["ownership"] = {"owners": [{"name": owner}]}
    return event


_MODEL = {"integration": "DBT", "job_type": "MODEL"}


def _project(lander, at):
    """Report two models of two teams that fail in one run, and another model that succeeds."""
    root = {"run": _RUN[0], "job": _RUN[1], "integration": "DBT"}
    lander.land(
        run_event("START", at(8), **root),
        _model("COMPLETE", at(8, 1), "bronze", ["seed"]),
        _model("FAIL", at(8, 2), "gold", ["revenue"]),
        _model("FAIL", at(8, 3), "silver", ["bronze"], owner="sales"),
        run_event("FAIL", at(8, 4), **root),
    )


def test_two_failed_models_are_two_incidents_of_two_owners(spark, lander, catalog, at):
    """Take the owner of `silver` from its model's facet; `bronze` belongs to neither incident."""
    _project(lander, at)
    policy = parse_policy(_POLICY)
    evaluate(spark, catalog, policy, at(9))

    with catalog.connect() as connection:
        findings = detect_faults(connection, to_micros(at(9)), policy, ())

    failed = {
        each.name: (each.owner, len(each.bad_keys), each.severity.level)
        for root, each in findings.by_root.items()
        if root.kind == "failed"
    }
    assert failed == {"gold": ("bi", 1, "page"), "silver": ("sales", 1, "ticket")}

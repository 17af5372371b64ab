"""Reason of a resolved incident: the fact that recovered."""

import pytest
from sqlalchemy import insert, update

from alerts.detection.recoveries import explain_recoveries
from alerts.detection.self_monitoring import EvaluationStatus
from alerts.incidents.detected_fault import service_fault
from alerts.incidents.incident import Incident
from alerts.incidents.steps import IncidentEvent, StepResult
from alerts.root_cause.faults import FaultRoot
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from tests.alerts.detection.catalog_builder import DAY, CatalogBuilder, dataset, job, micros
from tests.alerts.detection.conftest import NOON

RUN = "a run at 2026-11-21 12:03:20 UTC wrote it"
FAILED = "its last run failed at 2026-11-21 12:01:00 UTC"
HOUR = 3600.0


@pytest.fixture
def estate(embedded):
    """Make one dataset, whose job failed a minute after noon and wrote at midnight."""
    estate = CatalogBuilder(embedded)
    estate.add("churn")
    estate.fail("churn", NOON + 60)
    estate.evaluate(NOON + 90)
    return estate


def _set(estate, table, **values):  # noqa: ANN003
    with write_transaction(estate.engine) as connection:
        own = table.c.dataset_key == dataset("churn")
        connection.execute(update(table).where(own).values(**values))


def _reason(estate, kind="failed", what="resolved", **given):  # noqa: ANN003
    root = given.pop("root", FaultRoot("job", job("churn"), kind))
    times = {"onset": micros(NOON + 60), "seen_at": micros(NOON + 90)}
    keys = frozenset({dataset("churn")}) if root.entity != "service" else frozenset()
    own = Incident("ab", root, "resolved", **times, root_keys=keys, opened_at=micros(NOON + 120))
    event = IncidentEvent(
        "ab", 2, micros(NOON + 900), what, "the fault has been gone for 45 s", **given
    )
    status = EvaluationStatus(micros(NOON + 900), 0, micros(NOON + 890))
    with estate.engine.connect() as connection:
        step = explain_recoveries(connection, StepResult((own,), (own,), (event,)), status)
    return step.events[0].reason


def _write(estate, seconds=200, landed=210):
    times = {
        "last_written_at": micros(NOON + seconds),
        "last_write_landed_at": micros(NOON + landed),
    }
    _set(estate, tables.dataset_activity, **times)


def test_a_run_that_wrote_it_is_named_by_its_time(estate):
    """Name also an older write whose events came late."""
    _write(estate)
    assert _reason(estate) == RUN
    assert _reason(estate, what="root_recovered") == f"{RUN}; downstream datasets are still late"

    _set(estate, tables.dataset_activity, last_failed_at=None)
    _write(estate, seconds=30)
    assert _reason(estate, "slow") == "a run at 2026-11-21 12:00:30 UTC wrote it"


@pytest.mark.parametrize(
    ("origin", "whose"), [("declared", "the policy's limit"), ("learned", "the learned limit")]
)
def test_a_limit_that_was_raised_does_not_make_a_failed_job_good(estate, origin, whose):
    """Name the origin of the limit, and the failure of the last run."""
    estate.say("churn", "good", limit_seconds=26 * HOUR, limit_origin=origin)

    assert _reason(estate) == f"{whose} of 1 d 2 h has not passed; {FAILED}"


def test_a_write_before_the_last_failure_is_no_recovery(estate):
    """Look at the last run: it wrote after the incident began, and failed again."""
    estate.say("churn", "good", limit_seconds=26 * HOUR, limit_origin="declared")
    _write(estate)
    failed_at = micros(NOON + 260)
    _set(estate, tables.dataset_activity, last_failed_at=failed_at)

    assert _reason(estate).startswith("the policy's limit of 1 d 2 h has not passed; its last run")


@pytest.mark.parametrize(
    ("table", "values", "reason"),
    [
        (tables.dataset, {"retired_at": micros(NOON + 300)}, "the dataset was retired"),
        (tables.dataset, {"canonical_key": 7}, "the dataset is now an alias"),
        (
            tables.dataset_policy,
            {"is_source": True},
            f"the policy declares it a source, which no job has to write; {FAILED}",
        ),
        (
            tables.dataset_policy,
            {"tier": "optional"},
            f"the policy declares it optional; {FAILED}",
        ),
        (
            tables.dataset_activity,
            {"last_failed_at": None},
            "the failed run is no longer reported as failed",
        ),
        (
            tables.dataset_policy,
            {"is_expected": False},
            f"no job is expected to write it; {FAILED}",
        ),
        (
            tables.dataset_state,
            {"state": "learning"},
            f"it has no limit now: its schedule is being learned; {FAILED}",
        ),
        (
            tables.dataset_state,
            {"state": "unknown"},
            f"no evaluation finds it late any more; {FAILED}",
        ),
    ],
)
def test_a_decision_about_the_dataset_is_the_reason(estate, table, values, reason):
    """Name what a person, the policy or a new name changed."""
    _set(estate, table, **values)

    assert _reason(estate) == reason


def test_a_content_fault_ends_by_a_run_or_by_the_policy(estate):
    """Name the policy where the evaluations before and after have different ones."""
    gone = "it lacks no metadata that the policy requires"
    assert _reason(estate, "metadata") == f"{gone}; {FAILED}"
    with write_transaction(estate.engine) as connection:
        row = {"as_of": micros(NOON + 890), "last_seq": 0, "datasets": 0, "seconds": 0.0}
        connection.execute(insert(tables.evaluation).values(**row, policy_hash="another"))
    assert _reason(estate, "metadata") == f"the policy changed, and {gone}; {FAILED}"
    _write(estate)
    assert _reason(estate, "metadata") == f"{RUN}, and {gone}"


@pytest.mark.parametrize(
    ("kind", "gone"),
    [
        ("provenance", "no undeclared source was found in the last seven days"),
        ("unexpected_source", "no undeclared source was found in the last seven days"),
        ("schema_changed", "no change of its schema in the last seven days is unexplained"),
        ("quality", "no test of its data has failed in the last seven days without passing since"),
    ],
)
def test_a_fault_that_ends_after_seven_days_names_them(estate, kind, gone):
    """Name the seven days: perhaps nobody declared the source, or repaired the data.

    Mutant: "no test of its data fails", which is false of a test that failed and never ran again.
    """
    assert gone in _reason(estate, kind)


def test_a_part_of_lineward_works_again(estate):
    """Name the evaluation that has all events again."""
    root = service_fault("ingestion", "pipeline", 0).root

    assert _reason(estate, root=root) == (
        "the pipeline works again, and all datasets were evaluated at 2026-11-21 12:14:50 UTC"
    )


def test_the_reason_of_a_person_is_kept(estate):
    """Keep the reason that a person gave."""
    assert _reason(estate, by="ada") == "the fault has been gone for 45 s"


@pytest.mark.postgres_nightly
def test_the_resolved_event_has_the_reason(failed):
    """Write the reason into the event of the incident.

    The datasets are optional: in other tiers a failed run is a fault until a later run writes.
    """
    with write_transaction(failed.estate.engine) as connection:
        connection.execute(update(tables.dataset_policy).values(tier="optional"))
    failed.at(NOON + 120)
    failed.until(NOON + 180)
    for name in ("raw", "core"):
        failed.estate.say(name, "good", limit_seconds=DAY + HOUR, limit_origin="learned")
    failed.until(NOON + 300)

    reasons = {row.what: row.reason for row in failed.rows(tables.incident_event)}
    assert reasons["resolved"] == f"the learned limit of 1 d 1 h has not passed; {FAILED}"

"""Reasons: each dataset that is not good has the first one that applies, in words."""

from typing import Any, NamedTuple

import pytest
from pyspark.sql import functions as F

from slis.cadence.wide_limits import FEW
from slis.evaluation.facts_as_of import facts_as_of
from slis.evaluation.ingestion_gaps import excuse_states
from slis.evaluation.reasons import add_reasons
from slis.evaluation.wording import BY_EVENT_LOG
from slis.indicators.coverage import coverage_judgement
from slis.indicators.freshness import freshness_judgement, with_inputs, with_pauses
from tests.slis.sli_frames import activity, datasets, day, edges, gaps, instants

HOUR = 3_600.0
_LIMIT = {"declared_limit_seconds": 25 * HOUR}
_OLD = {"written_at": day(8), "root_run_id": "run-8"}
_TRACEBACK = "worker: Traceback (most recent call last):\n  File\nKeyError: no rates\n\tat x"


class Scene(NamedTuple):
    """Datasets of one test, with keys that no other test has."""

    datasets: list[dict[str, Any]]
    facts: list[dict[str, Any]]
    upstreams: tuple[tuple[int, int], ...] = ()


def _states(spark, *scenes, silent=()):  # noqa: ANN002
    """Return the rows of all scenes: planning costs seconds, and a row nothing."""
    described = datasets(spark, *(row for scene in scenes for row in scene.datasets))
    facts = activity(spark, *(row for scene in scenes for row in scene.facts))
    upstreams = [pair for scene in scenes for pair in scene.upstreams]
    at = facts_as_of(facts, described, instants(spark, day(10)))
    both = F.explode(F.array(coverage_judgement(), freshness_judgement())).alias("judgement")
    judged = (
        with_pauses(with_inputs(at, edges(spark)), None)
        .select("*", both)
        .where("judgement is not null")
    )
    explained = add_reasons(excuse_states(judged, gaps(spark, *silent)), edges(spark, *upstreams))
    return {(row.dataset_key, row.sli): row for row in explained.collect()}


def _states_of(states, scene):
    keys = {row["dataset_key"] for row in scene.datasets}
    return {key: row for key, row in states.items() if key[0] in keys}


@pytest.fixture(scope="module")
def without_gaps(spark):
    """Return the states of all scenes without an ingestion gap."""
    return _states(spark, *_SCENES)


@pytest.fixture(scope="module")
def with_lag(spark):
    """Return the states of two scenes whose last events may not have landed."""
    return _states(spark, _FAILED_IN_A_GAP, _READ_ONLY, silent=[("pipeline", day(8, 23), None)])


_EACH_REASON = Scene(
    [
        *({"dataset_key": key, "duration_seconds": 600.0, **_LIMIT} for key in range(1, 10)),
        {"dataset_key": 10, "created_at": day(9)},
    ],
    [
        {"dataset_key": 1, "write": _OLD, "failed": (day(9), "run-9", _TRACEBACK)},
        {"dataset_key": 9, "write": _OLD, "failed": (day(9), "run-9", None)},
        {"dataset_key": 2, "write": _OLD, "started_at": day(9)},
        {"dataset_key": 3, "write": _OLD},
        {"dataset_key": 4, "write": _OLD},
        {"dataset_key": 5, "write": {**_OLD, "is_reported": False}},
        {"dataset_key": 6, "read_at": day(9)},
        {"dataset_key": 7, "write": {**_OLD, "names_input": False}},
        {"dataset_key": 8, "write": _OLD, "started_at": day(9, 23, 45)},
    ],
    ((4, 3),),
)


def test_each_reason_is_shown_with_its_evidence(without_gaps):
    """Give the first reason that holds: one dataset a reason, all overdue."""
    states = _states_of(without_gaps, _EACH_REASON)

    written = "last written 2026-11-09 00:00:00 UTC by run run-8 of job"
    limits = "; limit 1 d (declared)"
    assert {key: (row.reason, row.evidence) for key, row in states.items() if row.reason} == {
        (1, "M2"): (
            "job_failed",
            f"run run-9 failed 2026-11-10 00:00:00 UTC: KeyError: no rates; {written}{limits}",
        ),
        (9, "M2"): ("job_failed", f"run run-9 failed 2026-11-10 00:00:00 UTC; {written}{limits}"),
        (2, "M2"): (
            "lost_run",
            "a run started 2026-11-10 00:00:00 UTC and never ended; it usually takes 10 min"
            + limits,
        ),
        (3, "M2"): (
            "upstream_late",
            f"upstream shop d.t4 has been late since 2026-11-10 01:00:00 UTC; {written}",
        ),
        (4, "M2"): ("silent", f"{written}; no events of its job since{limits}"),
        (5, "M1"): (
            "lineage_missing",
            f"{written}, known from evidence only: no events reported it",
        ),
        (5, "M2"): ("silent", f"{written}; no events of its job since{limits}"),
        (6, "M1"): (
            "never_reported",
            "no write was ever reported, last read 2026-11-10 00:00:00 UTC",
        ),
        (6, "M2"): (
            "never_reported",
            "no write was ever reported, last read 2026-11-10 00:00:00 UTC" + limits,
        ),
        (10, "M1"): (
            "never_reported",
            "no write was ever reported, created 2026-11-10 00:00:00 UTC",
        ),
        (7, "M1"): ("no_inputs", f"{written}, which has no inputs, or too many to store as edges"),
        (7, "M2"): ("silent", f"{written}; no events of its job since{limits}"),
        (8, "M2"): (
            "late",
            f"a run started 2026-11-10 23:45:00 UTC and has not ended; {written}{limits}",
        ),
    }


_UPSTREAMS = Scene(
    [
        *({"dataset_key": key, **_LIMIT} for key in (11, 12, 13)),
        *({"dataset_key": key, "declared_limit_seconds": HOUR} for key in (14, 15)),
    ],
    [
        *({"dataset_key": key, "write": {"written_at": day(8)}} for key in (11, 12, 13)),
        {"dataset_key": 14, "write": {"written_at": day(9, 0.5)}},
        {"dataset_key": 15, "write": {"written_at": day(9, 22)}},
    ],
    ((14, 11), (15, 12), (14, 13), (15, 13)),
)


def test_an_upstream_that_was_written_after_a_dataset_was_late_did_not_make_it_late(without_gaps):
    """Take daily datasets, late since 01:00, and hourly upstreams that are late as well."""
    reasons = {key: without_gaps[key, "M2"].reason for key in (11, 12, 13)}

    assert reasons == {11: "upstream_late", 12: "silent", 13: "upstream_late"}
    assert "upstream shop d.t14 " in without_gaps[13, "M2"].evidence


_NEAR_NAMES = Scene(
    [
        {"dataset_key": 21, "name": "warehouse/core.db/Orders"},
        {"dataset_key": 22, "name": "core.orders"},
        {"dataset_key": 23, "name": "dev/mart/daily"},
        {"dataset_key": 24, "name": "prod/mart/daily"},
    ],
    [
        {"dataset_key": 21, "read_at": day(9)},
        {"dataset_key": 22, "write": {"written_at": day(9)}},
        {"dataset_key": 23, "read_at": day(9)},
        {"dataset_key": 24, "write": {"written_at": day(9)}, "read_at": day(9)},
    ],
)


def test_a_near_name_that_has_what_this_one_lacks_is_a_naming_mismatch(without_gaps):
    """Report a spelling that is only read beside one that is only written."""
    states = _states_of(without_gaps, _NEAR_NAMES)

    assert {key: (row.reason, row.evidence) for key, row in states.items() if row.reason} == {
        (21, "M1"): (
            "naming_mismatch",
            "never written; shop core.orders was written 2026-11-10 00:00:00 UTC",
        ),
        (23, "M1"): (
            "never_reported",
            "no write was ever reported, last read 2026-11-10 00:00:00 UTC",
        ),
    }


_PLACES = [
    ("postgres://one:5432", "postgres://two:5432", False),  # two tenants
    ("s3://raw", "s3://mart", False),
    ("s3://lake", "postgres://one:5432", False),
    ("bigquery", "snowflake://org-account", False),
    ("hive://one:9083", "hive://two:9083", False),
    ("arn:aws:glue:eu-west-1:1", "arn:aws:glue:eu-west-1:2", False),
    ("hive://one:9083", "s3://lake", True),
    ("file", "hive://one:9083", True),
    ("trino://host:8080", "postgres://one:5432", True),
    ("arn:aws:glue:eu-west-1:1", "S3://lake", True),
]


_ELSEWHERE = Scene(
    [
        {"dataset_key": sign * key, "namespace": namespace, "name": f"sales.core.t{key}"}
        for key, places in enumerate(_PLACES, start=31)
        for sign, namespace in zip((1, -1), places, strict=False)
    ],
    [
        row
        for key in range(31, 31 + len(_PLACES))
        for row in (
            {"dataset_key": key, "read_at": day(9)},
            {"dataset_key": -key, "write": {"written_at": day(9)}},
        )
    ],
)


def test_a_like_name_on_another_server_is_no_mismatch(without_gaps):
    """Join a metastore's name with a store's, but never the names of two stores."""
    assert [
        (*place, without_gaps[key, "M1"].reason == "naming_mismatch")
        for key, (*place, _) in enumerate(_PLACES, start=31)
    ] == _PLACES


_TAKEN_OVER = Scene(
    [
        {"dataset_key": 51, "name": "core.db/refunds", **_LIMIT},
        {"dataset_key": 52, "name": "core.refunds", "first_seen_at": day(9)},
        {"dataset_key": 53, "name": "core.db/returns", **_LIMIT},
        {"dataset_key": 54, "name": "core.returns", "first_seen_at": day(9)},
    ],
    [
        {
            "dataset_key": 51,
            "write": {"written_at": day(8)},
            "failed": (day(9), "run-9", "disk full"),
        },
        {"dataset_key": 52, "write": {"written_at": day(9)}},
        {"dataset_key": 53, "write": {"written_at": day(8)}},
        {"dataset_key": 54, "write": {"written_at": day(9)}},
    ],
)


def test_a_failed_run_explains_more_than_a_like_name_does(without_gaps):
    """Report the failure, although the other name looks like a takeover."""
    assert without_gaps[51, "M2"].reason == "job_failed"
    assert without_gaps[53, "M2"].reason == "naming_mismatch"


_FAILED = {"failed": (day(9), "run-9", None), "write": {"written_at": day(8, 12)}}
_FAILED_IN_A_GAP = Scene(
    [{"dataset_key": 61, "declared_limit_seconds": 30 * HOUR}, {"dataset_key": 62}],
    [{"dataset_key": 61, **_FAILED}, {"dataset_key": 62, **_FAILED}],
)


def test_own_gaps_come_before_any_other_reason(spark, without_gaps, with_lag):
    """Prefer pipeline lag and ingestion gaps, which make the state unknown."""
    silence = "ingestion", day(9, 17), day(9, 19)
    with_silence = _states(spark, _FAILED_IN_A_GAP, silent=[silence])

    def shown(states):
        found = _states_of(states, _FAILED_IN_A_GAP)
        return {key: (row.state, row.reason) for key, row in found.items()}

    well = {(61, "M1"): ("good", None), (62, "M1"): ("good", None), (62, "M2"): ("learning", None)}
    assert shown(without_gaps) == {(61, "M2"): ("bad", "job_failed"), **well}
    assert shown(with_lag) == {(61, "M2"): ("unknown", "pipeline_lag"), **well}
    assert shown(with_silence) == {(61, "M2"): ("unknown", "ingestion_gap"), **well}


_READ_ONLY = Scene(
    [{"dataset_key": 71, "first_seen_at": day(9)}], [{"dataset_key": 71, "read_at": day(9, 1)}]
)


def test_coverage_is_unknown_while_we_may_have_lost_the_write(without_gaps, with_lag):
    """Include events that have not landed: the only write of the window may be among them."""
    lagging = with_lag[71, "M1"]

    assert without_gaps[71, "M1"].state == "bad"
    assert (lagging.state, lagging.reason) == ("unknown", "pipeline_lag")
    assert lagging.evidence == "events have landed late since before 2026-11-10 00:00:00 UTC"


_AS_THE_LOG_SAYS = (day(9), "run-9", f"{BY_EVENT_LOG}[DUPLICATE_KEY] no\nat Driver.java")
_LOGS = Scene(
    [
        {"dataset_key": 81, **_LIMIT},
        {"dataset_key": 82, "job_seen_at": day(8), "logs_read_at": day(10), **_LIMIT},
        {"dataset_key": 83, "job_seen_at": day(9), **_LIMIT},
        {"dataset_key": 84, "declared_limit_seconds": 72 * HOUR},
    ],
    [
        {"dataset_key": 81, "write": _OLD, "failed": _AS_THE_LOG_SAYS},
        {"dataset_key": 82, "write": _OLD},
        {"dataset_key": 83, "write": _OLD},
        {"dataset_key": 84, "write": _OLD, "failed": _AS_THE_LOG_SAYS},
    ],
)


def test_evidence_names_what_events_leave_out(without_gaps):
    """Report a failure that events call a success, and a job that did not run by its event logs."""
    states = _states_of(without_gaps, _LOGS)

    written = "last written 2026-11-09 00:00:00 UTC by run run-8 of job"
    limits = "; limit 1 d (declared)"
    failure = (
        "run run-9 failed 2026-11-10 00:00:00 UTC, "
        "as the Spark event log says and its events do not: [DUPLICATE_KEY] no"
    )
    assert {
        key: (row.reason, row.evidence) for (key, sli), row in states.items() if sli == "M2"
    } == {
        81: ("job_failed", f"{failure}; {written}{limits}"),
        82: (
            "job_missing",
            f"{written}; event logs read after the deadline contain no run since{limits}",
        ),
        83: (
            "silent",
            f"{written}; its job ran 2026-11-10 00:00:00 UTC and did not write it{limits}",
        ),
        84: (None, f"{failure}; not late yet"),
    }
    coverage = {key: row.evidence for (key, sli), row in states.items() if sli == "M1"}
    assert (coverage[81], coverage[84]) == (failure, failure)


_READ_AT = {91: None, 92: day(8, 12), 93: day(9, 1), 94: day(9, 1, 1)}  # due at 01:00
_LOGS_READ_ONCE = Scene(
    [
        {"dataset_key": key, "logs_read_at": at, "job_seen_at": day(8), **_LIMIT}
        for key, at in _READ_AT.items()
    ],
    [{"dataset_key": key, "write": _OLD} for key in _READ_AT],
)


def test_logs_that_were_last_read_before_the_deadline_do_not_show_that_a_job_is_missing(
    without_gaps,
):
    """Report unknown: the folder's key expired, or reading was switched off."""
    found = {key: without_gaps[key, "M2"].reason for key in _READ_AT}

    assert found == {91: "silent", 92: "silent", 93: "silent", 94: "job_missing"}


_SUMMARY = "2026-11-10 00:00:00 UTC as SparkApplication jobs/orders, which is COMPLETED"
_RAN = {"app_seen_at": day(9), "app_summary": _SUMMARY, "app_lacks_listener": False, **_LIMIT}
_BEFORE = {**_RAN, "app_seen_at": day(7, 23), "app_checked_at": day(10)}
_APPLICATIONS = Scene(
    [
        {"dataset_key": 101, **_RAN, "app_lacks_listener": True},
        {"dataset_key": 102, **_RAN},
        {"dataset_key": 103, **_BEFORE},
        {"dataset_key": 104, **_BEFORE, "app_checked_at": None},
        {"dataset_key": 105, **_BEFORE, "app_checked_at": day(9, 1)},  # due at that time
        {"dataset_key": 106, **_BEFORE, "job_seen_at": day(9)},
        {"dataset_key": 107, **_RAN, "app_lacks_listener": True},
        {"dataset_key": 108, **_BEFORE, "app_lacks_listener": True},
    ],
    [
        *({"dataset_key": key, "write": _OLD} for key in (*range(101, 107), 108)),
        {"dataset_key": 107, "read_at": day(9)},
    ],
)


def test_spark_applications_show_whether_the_job_ran_and_reports(without_gaps):
    """Distinguish a job without the listener from one that was not submitted."""
    states = _states_of(without_gaps, _APPLICATIONS)

    written = "last written 2026-11-09 00:00:00 UTC by run run-8 of job"
    limits = "; limit 1 d (declared)"
    none_since = "Kubernetes, watched since then, has no newer SparkApplication of its job"
    submitted = f"the job that should write it was submitted {_SUMMARY}"
    found = {key: (row.reason, row.evidence) for (key, sli), row in states.items() if sli == "M2"}
    assert found[101] == (
        "lineage_missing",
        f"{written}; its job was submitted {_SUMMARY}: no events were received from it{limits}",
    )
    assert found[102] == (
        "silent",
        f"{written}; its job was submitted {_SUMMARY}; no write was reported{limits}",
    )
    assert found[103] == (
        "job_missing",
        f"{written}; {none_since}{limits}",
    )
    assert found[107] == (
        "never_reported",
        f"no write was ever reported, last read 2026-11-10 00:00:00 UTC; {submitted}{limits}",
    )
    assert {key: found[key][0] for key in (104, 105, 106, 108)} == {
        104: "silent",
        105: "silent",
        106: "silent",
        108: "job_missing",
    }


_LEARNING = Scene(
    [
        {
            "dataset_key": 111,
            "gaps": 4,
            "cadence_class": FEW,
            "learned_limit_seconds": 14 * 86_400.0,
        },
        {"dataset_key": 112, "declared_limit_seconds": 12 * 86_400.0},
    ],
    [{"dataset_key": 111, "write": _OLD}, {"dataset_key": 112, "read_at": day(9)}],
)


def test_a_learning_dataset_shows_its_deadline(without_gaps):
    """Report that there is no write only where there is none."""
    states = _states_of(without_gaps, _LEARNING)

    assert {key: states[key, "M2"].evidence for key in (111, 112)} == {
        111: "learning its cadence: 4 of 8 gaps between writes; due by 2026-11-23 00:00:00 UTC",
        112: "no write yet; the first is due by 2026-11-13 00:00:00 UTC",
    }


_SCENES = (
    _LEARNING,
    *(_EACH_REASON, _UPSTREAMS, _NEAR_NAMES, _ELSEWHERE, _TAKEN_OVER, _FAILED_IN_A_GAP),
    *(_READ_ONLY, _LOGS, _LOGS_READ_ONCE, _APPLICATIONS),
)

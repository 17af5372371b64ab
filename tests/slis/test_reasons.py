"""Each dataset that is not good has the first reason that holds, in words."""

from datetime import timedelta

from pyspark.sql import functions as F

from slis.coverage import coverage_judgement
from slis.freshness import freshness_judgement, with_inputs, with_pauses
from slis.ingestion_gaps import excused
from slis.knowledge import known
from slis.reasons import reasons
from slis.wording import BY_EVENT_LOG
from tests.slis.sli_frames import activity, datasets, day, edges, gaps, instants

HOUR = 3_600.0


def _states(spark, described, facts, upstreams=(), silent=()):
    at = known(facts, described, instants(spark, day(10)))
    both = F.explode(F.array(coverage_judgement(), freshness_judgement())).alias("judgement")
    judged = (
        with_pauses(with_inputs(at, edges(spark)), None)
        .select("*", both)
        .where("judgement is not null")
    )
    explained = reasons(excused(judged, gaps(spark, *silent)), edges(spark, *upstreams))
    return {(row.dataset_key, row.sli): row for row in explained.collect()}


def test_each_reason_that_can_be_told_now_is_told_with_its_evidence(spark):
    """One dataset a reason, all overdue by their limit of 25 h: the first that holds is given."""
    limit = {"declared_limit_seconds": 25 * HOUR, "duration_seconds": 600.0}
    described = datasets(spark, *({"dataset_key": key, **limit} for key in range(1, 10)))
    old = {"written_at": day(8), "root_run_id": "run-8"}
    facts = activity(
        spark,
        {"dataset_key": 1, "write": old, "failed": (day(9), "run-9", _TRACEBACK)},
        {"dataset_key": 9, "write": old, "failed": (day(9), "run-9", None)},
        {"dataset_key": 2, "write": old, "started_at": day(9)},
        {"dataset_key": 3, "write": old},
        {"dataset_key": 4, "write": old},
        {"dataset_key": 5, "write": {**old, "is_reported": False}},
        {"dataset_key": 6, "read_at": day(9)},
        {"dataset_key": 7, "write": {**old, "names_input": False}},
        {"dataset_key": 8, "write": old, "started_at": day(9, 23, 45)},
    )

    states = _states(spark, described, facts, upstreams=[(4, 3)])

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
            f"upstream shop d.t4 is late since 2026-11-10 01:00:00 UTC; {written}",
        ),
        (4, "M2"): ("silent", f"{written}; nothing was heard of its job since{limits}"),
        (5, "M1"): (
            "lineage_missing",
            f"{written}, known from evidence alone: no event of it came",
        ),
        (5, "M2"): ("silent", f"{written}; nothing was heard of its job since{limits}"),
        (6, "M1"): (
            "never_reported",
            "no write was ever reported, last read 2026-11-10 00:00:00 UTC",
        ),
        (6, "M2"): (
            "never_reported",
            "no write was ever reported, last read 2026-11-10 00:00:00 UTC" + limits,
        ),
        (7, "M1"): ("no_inputs", f"{written}, which names no input, or too many to make edges of"),
        (7, "M2"): ("silent", f"{written}; nothing was heard of its job since{limits}"),
        (8, "M2"): (
            "late",
            f"a run started 2026-11-10 23:45:00 UTC and has not ended; {written}{limits}",
        ),
    }


def test_an_upstream_that_was_written_after_a_dataset_was_late_did_not_make_it_late(spark):
    """Take daily datasets, late since 01:00, and hourly upstreams that are late as well."""
    hourly = {"declared_limit_seconds": HOUR}
    described = datasets(
        spark,
        *({"dataset_key": key, "declared_limit_seconds": 25 * HOUR} for key in (1, 2, 3)),
        *({"dataset_key": key, **hourly} for key in (4, 5)),
    )
    facts = activity(
        spark,
        *({"dataset_key": key, "write": {"written_at": day(8)}} for key in (1, 2, 3)),
        {"dataset_key": 4, "write": {"written_at": day(9, 0.5)}},
        {"dataset_key": 5, "write": {"written_at": day(9, 22)}},
    )

    states = _states(spark, described, facts, upstreams=[(4, 1), (5, 2), (4, 3), (5, 3)])

    reasons = {key: states[key, "M2"].reason for key in (1, 2, 3)}
    assert reasons == {1: "upstream_late", 2: "silent", 3: "upstream_late"}
    assert "upstream shop d.t4 " in states[3, "M2"].evidence


def test_a_near_name_that_has_what_this_one_lacks_is_a_naming_mismatch(spark):
    """One spelling only read, the other only written; two like tables in use are no mismatch."""
    described = datasets(
        spark,
        {"dataset_key": 1, "name": "warehouse/core.db/Orders"},
        {"dataset_key": 2, "name": "core.orders"},
        {"dataset_key": 3, "name": "dev/mart/daily"},
        {"dataset_key": 4, "name": "prod/mart/daily"},
    )
    write = {"written_at": day(9)}
    facts = activity(
        spark,
        {"dataset_key": 1, "read_at": day(9)},
        {"dataset_key": 2, "write": write},
        {"dataset_key": 3, "read_at": day(9)},
        {"dataset_key": 4, "write": write, "read_at": day(9)},
    )

    states = _states(spark, described, facts)

    assert {key: (row.reason, row.evidence) for key, row in states.items() if row.reason} == {
        (1, "M1"): (
            "naming_mismatch",
            "never written; shop core.orders was written 2026-11-10 00:00:00 UTC",
        ),
        (3, "M1"): (
            "never_reported",
            "no write was ever reported, last read 2026-11-10 00:00:00 UTC",
        ),
    }


_TRACEBACK = "worker: Traceback (most recent call last):\n  File\nKeyError: no rates\n\tat x"
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


def test_a_like_name_on_another_server_is_no_mismatch(spark):
    """Join a metastore's name with a store's, but never the names of two stores."""
    described, facts = [], []
    for key, (namespace, other, _) in enumerate(_PLACES, start=1):
        name = {"name": f"sales.core.t{key}"}
        described.append({"dataset_key": key, "namespace": namespace, **name})
        described.append({"dataset_key": -key, "namespace": other, **name})
        facts.append({"dataset_key": key, "read_at": day(9)})
        facts.append({"dataset_key": -key, "write": {"written_at": day(9)}})

    states = _states(spark, datasets(spark, *described), activity(spark, *facts))

    assert [
        (*place, states[key, "M1"].reason == "naming_mismatch")
        for key, (*place, _) in enumerate(_PLACES, start=1)
    ] == _PLACES


def test_a_failed_run_explains_more_than_a_like_name_does(spark):
    """Report the failure, although the other name looks like a takeover."""
    limit = {"declared_limit_seconds": 25 * HOUR}
    frame = datasets(
        spark,
        {"dataset_key": 1, "name": "core.db/orders", **limit},
        {"dataset_key": 2, "name": "core.orders", "first_seen_at": day(9)},
    )
    failed = {"write": {"written_at": day(8)}, "failed": (day(9), "run-9", "disk full")}
    facts = activity(
        spark, {"dataset_key": 1, **failed}, {"dataset_key": 2, "write": {"written_at": day(9)}}
    )

    assert _states(spark, frame, facts)[1, "M2"].reason == "job_failed"


def test_what_our_own_gaps_explain_says_so_before_any_other_reason(spark):
    """Pipeline lag and ingestion gaps come first, and make the state unknown."""
    limit = {"declared_limit_seconds": 30 * HOUR}
    described = datasets(spark, {"dataset_key": 1, **limit}, {"dataset_key": 2})
    failed = {"failed": (day(9), "run-9", None), "write": {"written_at": day(8, 12)}}
    facts = activity(spark, {"dataset_key": 1, **failed}, {"dataset_key": 2, **failed})

    lagging = _states(spark, described, facts, silent=[("pipeline", day(9, 17), None)])
    silent = _states(spark, described, facts, silent=[("ingestion", day(9, 17), day(9, 19))])

    def told(states):
        return {key: (row.state, row.reason) for key, row in states.items()}

    well = {(1, "M1"): ("good", None), (2, "M1"): ("good", None), (2, "M2"): ("learning", None)}
    assert told(lagging) == {(1, "M2"): ("unknown", "pipeline_lag"), **well}
    assert told(silent) == {(1, "M2"): ("unknown", "ingestion_gap"), **well}


def test_coverage_is_unknown_while_we_may_have_lost_the_write(spark):
    """The only write of the window may be among the events that have not landed."""
    described = datasets(spark, {"dataset_key": 1, "first_seen_at": day(9)})
    facts = activity(spark, {"dataset_key": 1, "read_at": day(9, 1)})

    bad = _states(spark, described, facts)
    lagging = _states(spark, described, facts, silent=[("pipeline", day(8, 23), None)])

    assert bad[1, "M1"].state == "bad"
    assert (lagging[1, "M1"].state, lagging[1, "M1"].reason) == ("unknown", "pipeline_lag")
    assert (
        lagging[1, "M1"].evidence == "events have landed late since before 2026-11-10 00:00:00 UTC"
    )


def test_evidence_names_what_events_leave_out(spark):
    """A failure that the events call a success; a job that its event logs show did not run."""
    limit = {"declared_limit_seconds": 25 * HOUR}
    described = datasets(
        spark,
        {"dataset_key": 1, **limit},
        {"dataset_key": 2, "job_seen_at": day(8), "logs_read_at": day(10), **limit},
        {"dataset_key": 3, "job_seen_at": day(9), **limit},
        {"dataset_key": 4, "declared_limit_seconds": 72 * HOUR},
    )
    old = {"written_at": day(8), "root_run_id": "run-8"}
    failed = (day(9), "run-9", f"{BY_EVENT_LOG}[DUPLICATE_KEY] no\nat Driver.java")
    facts = activity(
        spark,
        {"dataset_key": 1, "write": old, "failed": failed},
        {"dataset_key": 2, "write": old},
        {"dataset_key": 3, "write": old},
        {"dataset_key": 4, "write": old, "failed": failed},
    )

    states = _states(spark, described, facts)

    written = "last written 2026-11-09 00:00:00 UTC by run run-8 of job"
    limits = "; limit 1 d (declared)"
    failure = (
        "run run-9 failed 2026-11-10 00:00:00 UTC, "
        "as the Spark event log says and its events do not: [DUPLICATE_KEY] no"
    )
    assert {
        key: (row.reason, row.evidence) for (key, sli), row in states.items() if sli == "M2"
    } == {
        1: ("job_failed", f"{failure}; {written}{limits}"),
        2: (
            "job_missing",
            f"{written}; event logs that were read after it was due hold no run since{limits}",
        ),
        3: (
            "silent",
            f"{written}; its job ran 2026-11-10 00:00:00 UTC and did not write it{limits}",
        ),
        4: (None, f"{failure}; not late yet"),
    }


def test_logs_that_were_last_read_before_the_deadline_do_not_tell_that_a_job_is_missing(spark):
    """The folder's key expired, or reading was switched off: whether the job ran is unknown."""
    due = day(9, 1)
    read_at = {1: None, 2: day(8, 12), 3: due, 4: due + timedelta(minutes=1)}
    limit = {"declared_limit_seconds": 25 * HOUR, "job_seen_at": day(8)}
    described = [{"dataset_key": key, "logs_read_at": at, **limit} for key, at in read_at.items()]
    old = {"written_at": day(8), "root_run_id": "run-8"}
    facts = activity(spark, *({"dataset_key": key, "write": old} for key in read_at))

    states = _states(spark, datasets(spark, *described), facts)

    found = {key: row.reason for (key, sli), row in states.items() if sli == "M2"}
    assert found == {1: "silent", 2: "silent", 3: "silent", 4: "job_missing"}

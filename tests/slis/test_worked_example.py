"""Worked example of the definitions: three daily jobs, and a day without a listener of one."""

from pyspark.sql import functions as F

from lineage.states import GOOD, UNKNOWN
from slis.evaluation.facts_as_of import activity, facts_as_of
from slis.evaluation.judge_datasets import count_datasets, datasets_judged
from slis.evaluation.reasons import add_reasons
from slis.indicators.completeness.edges import UNREPORTED_SINCE, edge_tally
from slis.indicators.completeness.edges import judge_edges as completeness
from slis.indicators.completeness.schemas import EXPECTED_EDGES
from slis.indicators.provenance import judge_reads
from tests.slis.sli_frames import datasets, day, edges, frame, gaps, instants, naive, reads, writes
from tests.suite.examples import is_long

ORDERS, RAW, COUNTRIES, CORE, MART = range(1, 6)
_NAMES = {
    ORDERS: ("kafka", "orders"),
    RAW: ("shop", "raw.orders"),
    COUNTRIES: ("shop", "ref.countries"),
    CORE: ("shop", "core.orders"),
    MART: ("shop", "mart.daily"),
}
_TIERS = {
    ORDERS: ("critical", "inherited"),
    RAW: ("critical", "inherited"),
    COUNTRIES: ("critical", "inherited"),
    CORE: ("critical", "declared"),
    MART: ("important", "declared"),
}
# Job, hour of the day, inputs, outputs.
_JOBS = (
    ("ingest", 1, (ORDERS,), RAW),
    ("clean", 2, (RAW, COUNTRIES), CORE),
    ("report", 3, (CORE,), MART),
)
DAYS = range(8)
NIGHT = day(7, 12)


def _datasets(spark):
    return datasets(
        spark,
        *(
            {
                "dataset_key": key,
                "namespace": namespace,
                "name": name,
                "tier": _TIERS[key][0],
                "tier_origin": _TIERS[key][1],
                "is_source": key == ORDERS,
                "gaps": 0 if key in (ORDERS, COUNTRIES) else 7,
            }
            for key, (namespace, name) in _NAMES.items()
        ),
    )


def _is_reported(number, job):
    """Return whether events report it: on the eighth day `clean` ran without its listener."""
    return (number, job) != (7, "clean")


def _facts(spark, numbers):
    written = [
        {
            "dataset_key": output,
            "written_at": day(number, hour, 10),
            "job_name": job,
            "root_run_id": f"{job}-{number + 1}",
            "is_reported": _is_reported(number, job),
        }
        for number in numbers
        for job, hour, _, output in _JOBS
    ]
    seen = [
        {
            "dataset_key": dataset,
            "read_at": day(number, hour),
            "root_run_id": f"{job}-{number + 1}",
            "is_reported": _is_reported(number, job),
        }
        for number in numbers
        for job, hour, inputs, _ in _JOBS
        for dataset in inputs
    ]
    return writes(spark, *written), reads(spark, *seen)


def test_the_worked_example_holds_for_coverage_and_freshness(spark):
    """Compare M1: critical 1/3, important 1/1; M2: no sample, seven gaps, all learning."""
    written, seen = _facts(spark, DAYS)
    facts = facts_as_of(activity(written, seen), _datasets(spark), instants(spark, NIGHT))
    judged = datasets_judged(facts, edges(spark), gaps(spark))

    found = count_datasets(judged, facts).drop("as_of").collect()
    assert {tuple(row) for row in found} == {
        ("M1", "critical", "inherited", 1, 2, 0, 0, 1),
        ("M1", "critical", "declared", 0, 1, 0, 0, 0),
        ("M1", "important", "declared", 1, 1, 0, 0, 0),
        ("M2", "critical", "inherited", 0, 0, 0, 3, 0),
        ("M2", "critical", "declared", 0, 0, 0, 1, 0),
        ("M2", "important", "declared", 0, 0, 0, 1, 0),
    }
    states = add_reasons(
        judged, edges(spark, (ORDERS, RAW), (RAW, CORE), (COUNTRIES, CORE), (CORE, MART))
    )
    assert {tuple(row) for row in states.where("sli = 'M1'").select(*_COLUMNS).collect()} == {
        (RAW, "good", None, None),
        (
            CORE,
            "bad",
            "lineage_missing",
            (
                "last written 2026-11-08 02:10:00 UTC by run clean-8 of clean, "
                "known from evidence only: no events reported it"
            ),
        ),
        (
            COUNTRIES,
            "bad",
            "never_reported",
            "no write was ever reported, last read 2026-11-08 02:00:00 UTC",
        ),
        (MART, "good", None, None),
    }


_COLUMNS = ("dataset_key", "state", "reason", "evidence")


def test_the_worked_example_holds_for_the_completeness_of_edges(spark):
    """Compare M3b on the eighth day, 2 of 4: only the event log has the reads of `clean`."""
    rows = [
        {
            "upstream_key": dataset,
            "downstream_key": output,
            "job_name": job,
            "first_seen_at": day(0, hour, 10),
            "last_seen_at": day(7, hour, 10),
            "last_reported_at": day(7 if _is_reported(7, job) else 6, hour, 10),
            "runs": 8,
            "is_declared": False,
            "is_regulated": False,
            **dict(zip(("tier", "tier_origin"), _TIERS[output], strict=True)),
            "limit_seconds": None,
            "cadence_seconds": 86_400.0,
            "writes": 8,
            "written_at": day(7, hour, 10),
        }
        for job, hour, inputs, output in _JOBS
        for dataset in inputs
    ]

    judged = completeness(frame(spark, EXPECTED_EDGES, rows), instants(spark, NIGHT), gaps(spark))

    tallies = edge_tally(judged).agg(F.sum("good"), F.sum("total"), F.sum("unknown")).collect()
    assert [tuple(row) for row in tallies] == [(2, 4, 0)]
    missed = judged.where("missed IS NOT NULL").select("upstream_key", "missed").collect()
    assert {tuple(row) for row in missed} == {
        (RAW, UNREPORTED_SINCE),
        (COUNTRIES, UNREPORTED_SINCE),
    }


def test_the_worked_example_holds_for_missing_provenance(spark):
    """Compare M5: 1 of 4 reads a day is unsourced, also on day 8, known from evidence."""
    written, seen = _facts(spark, DAYS)
    nights = instants(spark, *(day(number, 12) for number in DAYS))

    outcomes = judge_reads(seen, written, _datasets(spark), nights, horizon=day(0))

    is_good, is_known = F.col("outcome") == GOOD, F.col("outcome") != UNKNOWN
    counted = outcomes.groupBy("as_of").agg(F.count_if(is_good), F.count_if(is_known))
    per_day = counted.orderBy("as_of").collect()
    # On the first day `clean` and `report` read what had been written minutes before.
    assert [tuple(row) for row in per_day] == [(naive(day(n, 12)), 3, 4) for n in DAYS]


def test_one_time_has_the_same_rows_alone_and_in_a_grid(spark):
    """Return the same rows for a single evaluation and for that time on a grid of a day."""
    written, seen = _facts(spark, DAYS)
    grid = [day(7, 0, minute) for minute in range(0, 24 * 60, 30)]

    def judged(*times):  # noqa: ANN002
        facts = facts_as_of(activity(written, seen), _datasets(spark), instants(spark, *times))
        return add_reasons(datasets_judged(facts, edges(spark), gaps(spark)), edges(spark))

    at_once = judged(*grid).collect()
    # The second is after `clean` ran without its listener.
    for time in (day(7, 1), day(7, 2, 30))[0 if is_long() else 1 :]:
        alone = {tuple(row) for row in judged(time).collect()}
        assert alone == {tuple(row) for row in at_once if row.as_of == naive(time)}
        assert len(alone) == 9

"""M2: datasets written within their limit."""

from lineage.process.clock import to_micros
from slis.evaluation.facts_as_of import activity as facts_of
from slis.evaluation.facts_as_of import facts_as_of
from slis.evaluation.ingestion_gaps import excuse_states
from slis.evaluation.sli_schemas import PAUSES
from slis.spark.planning import local_rows
from tests.slis.single_slis import freshness
from tests.slis.sli_frames import activity, datasets, day, edges, gaps, instants, naive, writes

HOUR = 3_600.0


def test_a_declared_limit_wins_over_streaming_and_that_over_learned(spark):
    """Compare the age with the limit in force, and name the source of the limit."""
    both = {"learned_limit_seconds": 2 * HOUR, "is_streaming": True}
    described = datasets(
        spark,
        {"dataset_key": 1, "declared_limit_seconds": 4 * HOUR, **both},
        {"dataset_key": 2, **both},
        {"dataset_key": 3, "learned_limit_seconds": 2 * HOUR},
        {"dataset_key": 4},
        {"dataset_key": 5},
    )
    facts = activity(
        spark, *({"dataset_key": n, "write": {"written_at": day(1, 9)}} for n in (1, 2, 3, 4))
    )

    judged = freshness(facts_as_of(facts, described, instants(spark, day(1, 12))), edges(spark))

    fields = ("state", "age_seconds", "limit_seconds", "limit_origin")
    rows = judged.select("dataset_key", *(f"judgement.{field}" for field in fields)).collect()
    assert sorted(tuple(row) for row in rows) == [
        (1, "good", 3 * HOUR, 4 * HOUR, "declared"),
        (2, "bad", 3 * HOUR, HOUR, "streaming"),
        (3, "bad", 3 * HOUR, 2 * HOUR, "learned"),
        (4, "learning", 3 * HOUR, None, None),
        (5, "learning", None, None, None),  # never written: no age, not the youngest
    ]


def test_a_declared_limit_without_a_write_is_bad_from_first_seen_plus_the_limit(spark):
    """Return no state before the deadline, and good after a write."""
    described = datasets(spark, {"dataset_key": 1, "declared_limit_seconds": 2 * HOUR})
    facts = facts_of(writes(spark, {"dataset_key": 1, "written_at": day(0, 5)}))
    grid = instants(spark, day(0, 1), day(0, 2), day(0, 3), day(0, 5), day(0, 7), day(0, 8))

    judged = freshness(facts_as_of(facts, described, grid), edges(spark))

    rows = judged.orderBy("as_of").select("judgement.state").collect()
    assert [row.state for row in rows] == ["learning", "learning", "bad", "good", "good", "bad"]


def test_a_stream_is_idle_only_when_every_input_is_known_to_have_nothing_newer(spark):
    """Return good with the reason idle; an unreported input may have new data."""
    described = datasets(
        spark,
        *({"dataset_key": n} for n in (10, 11, 12)),
        *({"dataset_key": n, "is_streaming": True} for n in (1, 2, 3, 4)),
    )
    facts = activity(
        spark,
        *({"dataset_key": n, "write": {"written_at": day(1, 9)}} for n in (1, 2, 3, 4)),
        {"dataset_key": 10, "write": {"written_at": day(1, 8)}},
        {"dataset_key": 11, "write": {"written_at": day(1, 10)}},
    )
    inputs = edges(spark, (10, 1), (10, 2), (11, 2), (10, 3), (12, 3))

    judged = freshness(facts_as_of(facts, described, instants(spark, day(1, 12))), inputs)

    streams = judged.where("is_streaming").select("dataset_key", "judgement.*")
    rows = {(row.dataset_key, row.state, row.is_idle) for row in streams.collect()}
    assert rows == {(1, "good", True), (2, "bad", False), (3, "bad", False), (4, "bad", False)}


def test_a_run_due_in_a_gap_is_unknown_until_the_next_cycle(spark):
    """Excuse events that were lost while the collector was down, for one cycle."""
    described = datasets(
        spark,
        {
            "dataset_key": 1,
            "learned_limit_seconds": 26 * HOUR,
            "cadence_seconds": 24 * HOUR,
        },
    )
    facts = activity(spark, {"dataset_key": 1, "write": {"written_at": day(1)}})
    grid = instants(spark, day(2, 1), day(2, 3), day(3, 1), day(3, 3))

    judged = freshness(facts_as_of(facts, described, grid), edges(spark))
    silent = gaps(spark, ("ingestion", day(1, 23), day(2, 1)))
    elsewhere = gaps(spark, ("ingestion", day(1, 1), day(1, 2)), ("ingestion", day(2, 4), None))

    assert _states(excuse_states(judged, silent)) == [
        (naive(day(2, 1)), "good", None),
        (naive(day(2, 3)), "unknown", "ingestion_gap"),
        (naive(day(3, 1)), "unknown", "ingestion_gap"),
        (naive(day(3, 3)), "bad", None),
    ]
    assert [row[1] for row in _states(excuse_states(judged, elsewhere))] == [
        "good",
        "bad",
        "bad",
        "bad",
    ]


def test_a_gap_on_days_off_loses_no_scheduled_write(spark):
    """Ignore Saturday's gap, which lost no write; Monday morning's may have lost one."""
    weekly = {"learned_limit_seconds": 75 * HOUR, "cadence_seconds": 24 * HOUR}
    described = datasets(
        spark,
        {"dataset_key": 1, "cadence_class": "periodic", **weekly},
        {"dataset_key": 2, "cadence_class": "bursty", **weekly},
    )
    written = {"written_at": day(1, 12)}
    facts = activity(spark, *({"dataset_key": key, "write": written} for key in (1, 2)))
    judged = freshness(facts_as_of(facts, described, instants(spark, day(4, 16))), edges(spark))
    saturday = gaps(spark, ("ingestion", day(2, 14), day(2, 16)))
    monday = gaps(spark, ("ingestion", day(4, 9), day(4, 10)))

    assert _by_key(excuse_states(judged, saturday)) == {1: "bad", 2: "unknown"}
    assert _by_key(excuse_states(judged, monday)) == {1: "unknown", 2: "unknown"}


def _by_key(judged):
    rows = judged.select("dataset_key", "judgement.state").collect()
    return {row.dataset_key: row.state for row in rows}


def test_a_gap_of_many_cycles_excuses_until_the_next_cycle(spark):
    """Excuse every state during the gap; afterwards expect an hourly job within the next hour."""
    hourly = {"learned_limit_seconds": 1.1 * HOUR, "cadence_seconds": HOUR}
    described = datasets(spark, {"dataset_key": 1, **hourly})
    facts = activity(spark, {"dataset_key": 1, "write": {"written_at": day(1)}})
    grid = instants(spark, day(1, 2.5), day(1, 4), day(1, 5), day(1, 5.2))

    judged = freshness(facts_as_of(facts, described, grid), edges(spark))
    lasting = gaps(spark, ("ingestion", day(1, 0.5), None))
    over = gaps(spark, ("ingestion", day(1, 0.5), day(1, 4.2)))

    assert [row[1] for row in _states(excuse_states(judged, lasting))] == ["unknown"] * 4
    assert [row[1] for row in _states(excuse_states(judged, over))] == ["unknown"] * 3 + ["bad"]


def test_a_dataset_that_turns_bad_during_a_backlog_is_unknown(spark):
    """Return unknown where the backlog may have the write; a dataset bad before it stays bad."""
    described = datasets(spark, {"dataset_key": 1, "declared_limit_seconds": HOUR})
    facts = activity(spark, {"dataset_key": 1, "write": {"written_at": day(1)}})

    judged = freshness(facts_as_of(facts, described, instants(spark, day(1, 2))), edges(spark))

    def state(started_at, ended_at=None):
        return _states(excuse_states(judged, gaps(spark, ("pipeline", started_at, ended_at))))[0][
            1:
        ]

    assert state(day(1, 0.5)) == ("unknown", "pipeline_lag")
    assert state(day(1, 1.5)) == ("bad", None)
    assert state(day(1, 0.5), day(1, 1.9)) == ("bad", None)


def _states(judged):
    rows = judged.orderBy("as_of").select("as_of", "judgement.state", "excuse").collect()
    return [tuple(row) for row in rows]


def test_a_declared_limit_pauses_on_days_off_and_in_planned_windows(spark):
    """Expect a weekday job of Friday on Monday, and without a calendar on Sunday."""
    limit = {"declared_limit_seconds": 26 * HOUR}
    described = datasets(
        spark, {"dataset_key": 1, "plan": "weekdays", **limit}, {"dataset_key": 2, **limit}
    )
    friday = day(5, 2)
    assert friday.weekday() == 4
    facts = activity(spark, *({"dataset_key": n, "write": {"written_at": friday}} for n in (1, 2)))
    weekend = [(to_micros(day(6)), to_micros(day(8)))]
    pauses = local_rows(spark, [("weekdays", weekend)], PAUSES)
    grid = instants(spark, day(7, 12), day(8, 3), day(8, 5))

    judged = freshness(facts_as_of(facts, described, grid), edges(spark), pauses)

    fields = ("judgement.state", "judgement.limit_seconds")
    rows = judged.orderBy("dataset_key", "as_of").select("dataset_key", *fields).collect()
    assert [tuple(row) for row in rows] == [
        (1, "good", 74 * HOUR),
        (1, "good", 74 * HOUR),
        (1, "bad", 74 * HOUR),
        *[(2, "bad", 26 * HOUR)] * 3,
    ]

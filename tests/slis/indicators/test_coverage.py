"""M1: datasets whose origin is known from their own events."""

from slis.evaluation.facts_as_of import activity as facts_of
from slis.evaluation.facts_as_of import facts_as_of
from tests.slis.single_slis import coverage
from tests.slis.sli_frames import activity, datasets, day, instants, naive, reads, writes

_CREATED = {"created_at": day(9.5)}


def _judge_rows(frame):
    fields = ("judgement.state", "judgement.defect")
    return {tuple(row) for row in frame.select("dataset_key", *fields).collect()}


def test_each_defect_of_the_newest_write_makes_a_dataset_bad(spark):
    """Require a write of the last 7 days that was itself reported and names an input."""
    described = datasets(
        spark,
        *({"dataset_key": number} for number in (1, 2, 3, 4, 6)),
        {"dataset_key": 5, "is_generated": True},
        {"dataset_key": 7, "cadence_seconds": 30 * 86_400.0},
    )
    recent = {"written_at": day(9)}
    facts = activity(
        spark,
        {"dataset_key": 1, "write": recent},
        {"dataset_key": 2, "write": {**recent, "is_reported": False}},
        {"dataset_key": 3, "write": {**recent, "names_input": False}},
        {"dataset_key": 4, "read_at": day(9)},
        {"dataset_key": 5, "write": {**recent, "names_input": False}},
        {"dataset_key": 6, "write": {"written_at": day(1)}, "read_at": day(9)},
        {"dataset_key": 7, "write": {"written_at": day(1)}},
    )

    judged = coverage(facts_as_of(facts, described, instants(spark, day(10))))

    assert _judge_rows(judged) == {
        (1, "good", None),
        (2, "bad", "unreported_write"),
        (3, "bad", "no_inputs"),
        (4, "bad", "never_written"),
        (5, "good", None),
        (6, "bad", "no_write"),
        (7, "good", None),
    }


def test_a_dataset_whose_first_run_is_under_way_is_learning(spark):
    """Report `learning` until a run fails or a day passes, also for a dataset only created."""
    described = datasets(
        spark,
        *({"dataset_key": number, "first_seen_at": day(9.5)} for number in (1, 2)),
        {"dataset_key": 3, "first_seen_at": day(8.5)},
        *({"dataset_key": key, "first_seen_at": day(9.5), **_CREATED} for key in (4, 5)),
        {"dataset_key": 6, "first_seen_at": day(8.5), **_CREATED},
    )
    facts = activity(
        spark,
        {"dataset_key": 1, "started_at": day(9.5)},
        {"dataset_key": 2, "started_at": day(9.5), "failed": {"failed_at": day(9.6)}},
        {"dataset_key": 3, "started_at": day(9.5)},
        {"dataset_key": 5, "failed": {"failed_at": day(9.6)}},
    )

    judged = coverage(facts_as_of(facts, described, instants(spark, day(10))))

    assert _judge_rows(judged) == {
        (1, "learning", None),
        (2, "bad", "never_written"),
        (3, "bad", "never_written"),
        (4, "learning", None),
        (5, "bad", "never_written"),
        (6, "bad", "never_written"),
    }


def test_only_expected_active_datasets_that_are_no_sources_are_in_the_total(spark):
    """Leave out sources, and datasets idle for 7 days unless the policy names them."""
    described = datasets(
        spark,
        {"dataset_key": 1, "is_source": True},
        {"dataset_key": 2, "is_expected": False},
        {"dataset_key": 3},
        {"dataset_key": 4, "is_declared": True},
    )
    facts = activity(
        spark,
        {"dataset_key": 1, "write": {"written_at": day(9)}},
        {"dataset_key": 2, "write": {"written_at": day(9)}},
        {"dataset_key": 3, "write": {"written_at": day(1)}},
    )

    judged = coverage(facts_as_of(facts, described, instants(spark, day(10))))

    assert _judge_rows(judged) == {(4, "bad", "never_written")}


def test_a_write_that_landed_later_is_ignored(spark):
    """Ignore at 11:00 a write of 09:00 that landed at 12:00."""
    late = writes(spark, {"dataset_key": 1, "written_at": day(9, 9), "landed_at": day(9, 12)})
    seen = reads(spark, {"dataset_key": 1, "read_at": day(9, 8)})

    judged = coverage(
        facts_as_of(
            facts_of(late, seen),
            datasets(spark, {"dataset_key": 1}),
            instants(spark, day(9, 11), day(9, 12)),
        )
    )

    rows = {tuple(row) for row in judged.select("as_of", "judgement.state").collect()}
    assert rows == {(naive(day(9, 11)), "bad"), (naive(day(9, 12)), "good")}

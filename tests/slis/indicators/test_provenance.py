"""M5: reads with a known origin."""

from slis.indicators.provenance import judge_reads
from tests.slis.sli_frames import datasets, day, instants, naive, reads, writes


def test_each_read_counts_once_when_due_against_earlier_writes(spark):
    """Judge a read 15 minutes after its event time, or on landing if that is later."""
    described = datasets(
        spark, *({"dataset_key": key} for key in (1, 2, 3)), {"dataset_key": 4, "is_source": True}
    )
    seen = reads(
        spark,
        {"dataset_key": 1, "read_at": day(1, 9)},
        {"dataset_key": 2, "read_at": day(1, 9)},
        {"dataset_key": 3, "read_at": day(1, 9), "landed_at": day(1, 9, 50)},
        {"dataset_key": 4, "read_at": day(1, 9)},
        {"dataset_key": 1, "read_at": day(1, 9, 50), "root_run_id": "not due"},
        {"dataset_key": 1, "read_at": day(1, 9), "root_run_id": "old", "is_history": True},
        {"dataset_key": 3, "read_at": day(0, 9), "root_run_id": "early"},
    )
    written = writes(
        spark,
        {"dataset_key": 1, "written_at": day(1, 8), "landed_at": day(1, 9, 10)},
        {"dataset_key": 2, "written_at": day(1, 9, 1)},
        {"dataset_key": 3, "written_at": day(1, 8), "landed_at": day(1, 9, 55)},
    )
    grid = instants(spark, *(day(1, 9, minute) for minute in (0, 14, 15, 30, 50, 60)))

    outcomes = judge_reads(seen, written, described, grid, horizon=day(1))

    rows = outcomes.select("as_of", "dataset_key", "root_run_id", "outcome").collect()
    assert {tuple(row) for row in rows} == {
        (naive(day(1, 9, 0)), 3, "early", "unknown"),
        (naive(day(1, 9, 15)), 1, "r02T0900", "good"),
        (naive(day(1, 9, 15)), 2, "r02T0900", "bad"),
        (naive(day(1, 9, 15)), 4, "r02T0900", "good"),
        (naive(day(1, 9, 50)), 3, "r02T0900", "bad"),
    }


def test_no_reads_give_no_sample(spark):
    """Return no row: neither 100 % nor 0 %."""
    nothing = judge_reads(
        reads(spark), writes(spark), datasets(spark), instants(spark, day(1)), horizon=None
    )

    assert nothing.collect() == []

"""Pipeline under a clock that jumps: nothing stops, and no state stays good for longer."""

from datetime import timedelta
from unittest.mock import Mock

import pytest
from structlog.testing import capture_logs

from lineage.catalog import tables
from lineage.catalog.partitions import partitions
from lineage.catalog.retention import RANGES
from lineage.policy import Policy
from lineage.policy.model import DatasetRule
from lineage.process.clock import to_micros
from slis import pipeline as pipeline_module
from slis.evaluation.clock_ahead import undo_ahead
from slis.evaluation.evaluation import evaluate
from slis.pipeline import Pipeline
from slis.settings import PipelineSettings, SharedPaths
from slis.stream.running import PipelineStoppedError
from tests.slis.catalog_rows import CatalogRows
from tests.slis.lake.lakes import writer_of
from tests.slis.sli_frames import day

POLICY = Policy(datasets=(DatasetRule("shop/core", tier="critical", limit="2h", owner="sales"),))
_SHORT = (
    "tests/slis/evaluation/test_clocks.py"
    "::test_evaluation_continues_once_the_clock_is_right_again[30 days, 0:00:00]"
)
_JUMPS = [timedelta(minutes=1), timedelta(hours=1), timedelta(days=30)]


def _state(rows):
    [row] = [row for row in rows.rows(tables.dataset_state) if row["sli"] == "M2"]
    return row


@pytest.mark.parametrize(
    "jump",
    [
        *(pytest.param(jump, marks=pytest.mark.nightly(short=_SHORT)) for jump in _JUMPS[:2]),
        _JUMPS[2],
    ],
    ids=str,
)
def test_evaluation_continues_once_the_clock_is_right_again(spark, embedded, jump):
    """Evaluate at once.

    It once judged everything as of the time ahead, with no weight, until that time came.
    """
    rows = CatalogRows(embedded, day(0))
    core = rows.dataset("core")
    rows.written(core, day(1, 11))
    rows.event(day(1, 11), 2)
    evaluate(spark, embedded, POLICY, day(1, 12))
    evaluate(spark, embedded, POLICY, day(1, 12) + jump)

    with capture_logs() as logged:
        evaluate(spark, embedded, POLICY, day(1, 12, 0.4))
        evaluate(spark, embedded, POLICY, day(1, 12, 0.8))

    judged_at = [row["as_of"] for row in rows.rows(tables.evaluation)]
    assert sorted(judged_at) == [to_micros(day(1, 12, minute)) for minute in (0, 0.4, 0.8)]
    assert len([one for one in logged if one["event"] == "clock_was_ahead"]) == 1
    assert _state(rows)["state"] == "good"
    assert _state(rows)["since"] <= to_micros(day(1, 12, 1))
    [lag] = [row for row in rows.rows(tables.sli_counter) if row["sli"] == "M6"]
    assert (lag["good"], lag["total"]) == (1, 1)
    [freshness] = [row for row in rows.rows(tables.sli_counter) if row["sli"] == "M2"]
    assert freshness["total"] == pytest.approx(60 + 24 + 24)


def test_a_write_under_a_clock_ahead_is_fresh_no_longer_than_others(spark, embedded):
    """Treat the time of the write as unknown, but before now."""
    rows = CatalogRows(embedded, day(0))
    jumps = (timedelta(minutes=6), *_JUMPS[1:])
    names = {f"core{number}": jump for number, jump in enumerate(jumps)}
    rules = (DatasetRule(f"shop/{name}", tier="critical", limit="2h") for name in names)
    policy = Policy(datasets=tuple(rules))
    for name, jump in names.items():
        core = rows.dataset(name)
        rows.written(core, day(1, 12) + jump)
        rows.read(core, day(1, 12) + jump)

    evaluate(spark, embedded, policy, day(1, 12))
    assert _freshness(rows) == ["good"] * 3
    evaluate(spark, embedded, policy, day(1, 14, 1))

    assert _freshness(rows) == ["bad"] * 3
    found = [write["written_at"] for write in rows.rows(tables.dataset_write)]
    assert found == [to_micros(day(1, 12))] * 3


def _freshness(rows):
    return [row["state"] for row in rows.rows(tables.dataset_state) if row["sli"] == "M2"]


def test_evaluations_ahead_of_now_leave_no_current_figure(embedded):
    """Keep the counters, and begin the next evaluation after a gap."""
    rows = CatalogRows(embedded, day(0))
    evaluation = {"policy_hash": "x", "datasets": 1, "seconds": 1.0}
    for minute, seq in ((0, 7), (1, 9)):
        at = to_micros(day(40, 12, minute))
        rows._insert(tables.evaluation, as_of=at, last_seq=seq, **evaluation)  # noqa: SLF001

    assert undo_ahead(embedded, day(1, 12))

    [left] = rows.rows(tables.evaluation)
    assert left["as_of"] <= to_micros(day(1, 12) - timedelta(minutes=2))
    assert left["last_seq"] == 9
    assert not undo_ahead(embedded, day(1, 12))


@pytest.mark.parametrize("jump", [*_JUMPS, -timedelta(hours=1), -timedelta(days=30)], ids=str)
def test_retention_and_compaction_keep_their_hours(embedded, tmp_path, monkeypatch, jump):
    """Measure by a monotonic clock: a clock set back for 30 days once stopped both for 30 days."""
    ran = []
    monkeypatch.setattr(
        pipeline_module, "prune_lake_and_catalog", lambda *_, **__: ran.append("retention")
    )
    monkeypatch.setattr(pipeline_module.compaction, "compact", lambda *_: ran.append("compaction"))
    seconds = [0.0]
    given = (embedded, SharedPaths(data_dir=tmp_path), PipelineSettings())
    pipeline = Pipeline(*given, lambda: day(1), monotonic=lambda: seconds[0])

    for passed in (0, 60, 3_599, 3_600, 3_660, 7_200):
        seconds[0] = passed
        now = day(1) + timedelta(seconds=passed) + (jump if passed else timedelta())
        pipeline._prune(now)  # noqa: SLF001 - turns of its tasks
        pipeline._compact(None, now)  # noqa: SLF001

    assert ran == ["retention", "compaction"] * 3


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_the_partitions_of_a_clock_that_was_ahead_do_no_harm(catalog, tmp_path):
    """Create partitions in a task of the pipeline, and those of today once the clock is right."""
    pipeline = Pipeline(catalog, SharedPaths(data_dir=tmp_path), PipelineSettings(), lambda: day(1))
    tasks = {task.name: task for task in pipeline._tasks(Mock())}  # noqa: SLF001 - not started
    for now in (day(1) + timedelta(days=400), day(1)):
        tasks["partitions"]._work(now)  # noqa: SLF001 - one turn

    with catalog.connect() as connection:
        parts = [part.start for part in partitions(connection, "event")]
    assert min(parts) == RANGES["event"].start_of(to_micros(day(1)))
    assert len(parts) == len(set(parts)) == 2 * 8


def test_a_pipeline_notes_within_seconds_that_another_has_started(embedded, tmp_path):
    """Note it without an event: evaluations would go on."""
    given = (embedded, SharedPaths(data_dir=tmp_path), PipelineSettings())
    pipeline = Pipeline(*given, lambda: day(1))
    pipeline._prune(day(1))  # noqa: SLF001 - begins its epoch
    running = Mock()
    running.sparkContext._gateway.proc.poll.return_value = None  # noqa: SLF001 - PySpark's name
    pipeline._look_at_epoch(day(1))  # noqa: SLF001 - a turn of its tasks
    pipeline._look(Mock(), running)  # noqa: SLF001 - its main loop

    _ = writer_of(embedded, tmp_path).started
    pipeline._look_at_epoch(day(1))  # noqa: SLF001

    with pytest.raises(PipelineStoppedError, match="another pipeline works on this catalog"):
        pipeline._look(Mock(), running)  # noqa: SLF001


def test_retention_that_fails_is_tried_less_and_less_often(embedded, tmp_path, monkeypatch):
    """Try a full disk again after 1, 2, 4 … minutes, and compact meanwhile."""

    def fail(*_: object, **__: object):
        raise OSError("disk full")

    monkeypatch.setattr(pipeline_module, "prune_lake_and_catalog", fail)
    seconds = [0.0]
    given = (embedded, SharedPaths(data_dir=tmp_path), PipelineSettings())
    pipeline = Pipeline(*given, lambda: day(1), monotonic=lambda: seconds[0])
    tried = []
    for minute in range(61):
        seconds[0] = minute * 60.0
        try:
            pipeline._prune(day(1))  # noqa: SLF001 - turns of its tasks
        except OSError:
            tried.append(minute)

    assert tried == [0, 1, 3, 7, 15, 31]


@pytest.mark.parametrize("jump", [-jump for jump in _JUMPS], ids=str)
def test_a_clock_set_back_does_not_put_off_the_first_evaluation(embedded, tmp_path, jump):
    """Evaluate while events wait; the pipeline once waited for the clock to catch up."""
    seconds = [0.0]
    given = (embedded, SharedPaths(data_dir=tmp_path), PipelineSettings())
    pipeline = Pipeline(*given, lambda: day(1), monotonic=lambda: seconds[0])
    waiting = day(1)
    assert pipeline._turns.is_first_batch_due(waiting, day(1))  # noqa: SLF001 - one look

    seconds[0] = 41.0

    assert not pipeline._turns.is_first_batch_due(waiting, day(1) + jump)  # noqa: SLF001

"""Role `pipeline`: the parts around its stream."""

import sqlite3
import tempfile
import threading
from contextlib import closing
from datetime import timedelta
from threading import Event
from unittest.mock import Mock

import msgspec
import pytest
from msgspec.structs import replace
from pyspark import InheritableThread
from sqlalchemy import insert, select
from structlog.testing import capture_logs

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.input_log.spool_tables import EVENT_TABLE
from lineage.policy import PolicyError, PolicyFile
from lineage.process.clock import to_micros
from slis.evaluation import evaluation, evaluation_turns
from slis.evaluation.evaluation_turns import next_deadline
from slis.evaluation.warmup import warm_up
from slis.periodic import Evaluations, PeriodicTask
from slis.pipeline import Pipeline, give_up_evaluation
from slis.settings import PipelineSettings, SharedPaths
from slis.spark.session import EVALUATION_POOL, POOL
from slis.stream.log.spool_log import backlog_since, is_ready
from slis.stream.merge.merge import MergeResult, advance_cursor
from slis.stream.running import PipelineStoppedError
from tests.slis.stream.spools import rows, run_event, spool
from tests.suite.waiting import until


@pytest.fixture
def place(tmp_path):
    """Create a data folder with a spool of two events, received a minute apart."""
    with closing(sqlite3.connect(tmp_path / "spool.db")) as spool, spool:
        spool.execute(EVENT_TABLE)
        spool.executemany(
            "INSERT INTO event (body_hash, received_at, origin, kind, body) "
            "VALUES (?, ?, 'http', 'run', '')",
            [(b"1", 0), (b"2", 60_000_000)],
        )
    return SharedPaths(data_dir=tmp_path)


@pytest.fixture
def engine(embedded):
    """Open the catalog in that folder."""
    return embedded


def test_a_spool_younger_than_the_catalog_stops_the_pipeline(place, engine, at):
    """Stop: new events would get numbers below the cursor, and would never be read."""
    with write_transaction(engine) as connection:
        advance_cursor(connection, 3)

    pipeline = Pipeline(engine, place, PipelineSettings(), lambda: at(12))

    with pytest.raises(PipelineStoppedError, match=r"up to 3, but .* given out 2 only"):
        pipeline._adopt_log()  # noqa: SLF001 - the whole run starts Spark


def test_a_spool_is_ready_once_the_collector_has_made_its_table(place, tmp_path):
    """Wait while SQLite has only created the file."""
    sqlite3.connect(tmp_path / "empty.db").close()
    (tmp_path / "empty.db").touch()

    assert is_ready(place.spool)
    assert not is_ready(tmp_path / "empty.db")
    assert not is_ready(tmp_path / "none.db")


def test_the_backlog_begins_with_the_oldest_event_that_has_not_landed(place, engine):
    """Return None once the cursor is at the end."""
    found = [backlog_since(place.spool, engine)]
    for seq in (1, 2):
        with write_transaction(engine) as connection:
            advance_cursor(connection, seq)
        found.append(backlog_since(place.spool, engine))

    assert [since and to_micros(since) for since in found] == [0, 60_000_000, None]


def test_the_next_deadline_is_that_of_the_dataset_nearest_to_its_change(engine, at):
    """Choose the next time after now; return None without any."""
    assert next_deadline(engine, at(12)) is None
    with write_transaction(engine) as connection:
        for key, next_change_at in enumerate((at(12), at(12, 0, 10), at(12, 0, 20), None)):
            named = {"tier": "optional", "tier_origin": "default", "freshness": "good"}
            times = {"next_change_at": next_change_at and to_micros(next_change_at)}
            flags = {"is_source": False, "is_watched": False}
            row = {"dataset_key": key, **named, **times, **flags}
            connection.execute(insert(tables.dataset_judgement), row)

    assert next_deadline(engine, at(12)) == at(12, 0, 10)


@pytest.mark.parametrize(
    ("took", "seconds", "noted", "deadline", "due"),
    [
        (8, 14, "news", None, False),
        (8, 15, "news", None, True),
        (8, 15, "routine", None, True),
        (8, 15, None, None, False),
        (8, 20, None, 18, True),
        (8, 20, None, 25, False),
        (8, 60, None, None, True),
        (8, -5, None, None, True),
        (4, 7, "news", None, False),
        (4, 8, "news", None, True),
        (1, 9, "routine", None, False),
        (1, 10, "routine", None, True),
        (1, 5, "routine", 4, True),
        (0.1, 4, "news", None, False),
        (0.1, 5, "news", None, True),
        (0.1, 5, "routine", None, True),
    ],
)
def test_an_evaluation_is_due_after_a_change_or_in_time(  # noqa: PLR0913, PLR0917 - a row
    at, took, seconds, noted, deadline, due
):
    """Evaluate after news or a passed deadline, at most half of the time or every 15 s.

    Evaluate after other facts for a tenth of the time at most, and otherwise each minute.
    """
    evaluations = Evaluations(timedelta(seconds=15), timedelta(seconds=60))
    assert evaluations.is_due(at(12))
    for number in (1, 0):
        evaluations.begun(at(12) - timedelta(minutes=number))
        evaluations.ended(took, None if deadline is None else at(12, 0, deadline))
    if noted:
        evaluations.note(is_news=noted == "news")

    assert evaluations.is_due(at(12, 0, seconds)) is due


def test_an_evaluation_is_of_all_that_was_noted_before_it(at):
    """Forget news once an evaluation has begun."""
    evaluations = Evaluations(timedelta(seconds=15), timedelta(seconds=60))
    evaluations.note()
    evaluations.begun(at(12))
    evaluations.ended(0.1, None)

    assert not evaluations.is_anything_new
    assert not evaluations.is_due(at(12, 0, 30))


def test_only_news_of_a_batch_hasten_the_next_evaluation(place, engine, at):
    """Evaluate a second's work after 9 s for news, and later for what is routine."""
    pipeline = Pipeline(engine, place, PipelineSettings(), lambda: at(12))
    evaluations = pipeline._evaluations  # noqa: SLF001 - else it needs Spark
    for number in (1, 0):
        evaluations.begun(at(12) - timedelta(minutes=number))
        evaluations.ended(1, None)

    pipeline._landed(MergeResult())  # noqa: SLF001 - as above
    assert not evaluations.is_due(at(12, 0, 9))
    pipeline._landed(MergeResult(is_news=True))  # noqa: SLF001 - as above
    assert evaluations.is_due(at(12, 0, 9))


def test_the_first_evaluation_delays_no_later_one(at):
    """Evaluate events that landed meanwhile next, although the first evaluation took long."""
    evaluations = Evaluations(timedelta(seconds=15), timedelta(seconds=60))
    evaluations.begun(at(12))
    evaluations.note()
    evaluations.ended(9, None)

    assert evaluations.is_due(at(12, 0, 9))


def test_the_first_evaluation_waits_for_the_first_batch(place, engine, at):
    """Wait for a limited time, and not for an old backlog: it would take a core from the batch."""
    seconds = [0.0]
    given = (engine, place, PipelineSettings(), lambda: at(12))
    pipeline = Pipeline(*given, monotonic=lambda: seconds[0])

    def due(waiting, now):
        seconds[0] = (now - at(12)).total_seconds()
        return pipeline._turns.is_first_batch_due(waiting, now)  # noqa: SLF001 - else it needs Spark

    assert due(at(12), at(12, 0, 39))
    assert due(at(12, 0, 38), at(12, 0, 39))
    assert not due(at(12, 0, 40), at(12, 0, 41))
    assert not due(at(11, 59, 10), at(12))
    assert not due(None, at(12))
    pipeline._evaluations.begun(at(12))  # noqa: SLF001 - the first
    assert not due(at(12), at(12, 0, 1))


def test_a_turn_interrupted_by_the_end_is_no_failure(at):
    """Cancel the evaluation at the end: one line is logged, without a trace."""
    begun, ended = Event(), Event()

    def work(_now):
        begun.set()
        ended.wait(10)
        raise RuntimeError("cancelled")

    task = PeriodicTask("evaluation", 0.01, work, lambda: at(12))
    with capture_logs() as logs:
        task.start()
        assert begun.wait(10)
        task.end()
        ended.set()
        task.join(10)

    assert [line["event"] for line in logs] == ["task_cut_short"]


def test_a_first_turn_that_fails_is_the_only_one_of_its_kind(at):
    """Continue with evaluations although the warm-up fails."""
    turns = []

    def work(_now):
        turns.append("work")
        task.end()

    def first(_now):
        turns.append("first")
        raise OSError("no space for a rehearsal")

    task = PeriodicTask("evaluation", 0.01, work, lambda: at(12), first=first)
    with capture_logs() as logs:
        task.start()
        task.join(10)

    assert turns == ["first", "work"]
    assert [line["event"] for line in logs] == ["task_failed"]


def test_a_warm_up_leaves_nothing_behind(spark, tmp_path, monkeypatch, at):
    """Leave its folder empty, and the thread out of its pool: evaluations yield to the stream."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    spark.sparkContext.setLocalProperty(POOL, EVALUATION_POOL)

    warm_up(spark, lambda: at(12))

    assert list(tmp_path.glob("lineward-rehearsal-*")) == []
    assert spark.sparkContext.getLocalProperty(POOL) == EVALUATION_POOL


def test_a_warm_up_yields_to_real_events(spark, tmp_path, monkeypatch, at):
    """Stop the warm-up: on two cores both together would take twice as long."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    evaluated = []
    monkeypatch.setattr("slis.evaluation.warmup.evaluate", lambda *_: evaluated.append(1))

    warm_up(spark, lambda: at(12), lambda: True)

    assert evaluated == []
    assert list(tmp_path.glob("lineward-rehearsal-*")) == []


_SLOW = "reflect('java.lang.Thread', 'sleep', 5000L)"


def test_an_evaluation_in_flight_ends_with_the_pipeline(spark):
    """Cancel the jobs of its group, also later ones; the stream's continue."""
    context = spark.sparkContext
    failures = []

    def evaluation():
        context.setJobGroup(EVALUATION_POOL, "evaluation")
        for _ in range(2):
            try:
                spark.range(10).selectExpr(_SLOW).collect()
            except Exception as error:  # noqa: BLE001 - whatever Spark makes of it
                failures.append(type(error).__name__)

    thread = InheritableThread(target=evaluation)
    thread.start()
    until(lambda: context.statusTracker().getJobIdsForGroup(EVALUATION_POOL))
    give_up_evaluation(spark)
    thread.join(60)

    assert len(failures) == 2
    assert spark.range(3).count() == 3


def test_the_stream_uses_the_current_policy(place, engine, at):
    """Fold names by the current file from the next batch on."""
    file = place.data_dir / "lineward.yaml"
    file.write_text("{}")
    place = replace(place, policy=file)
    policy = PolicyFile(file, settle_seconds=0)
    pipeline = Pipeline(engine, place, PipelineSettings(), lambda: at(12), policy)
    asked = pipeline._landing()._policy  # noqa: SLF001 - without Spark
    before = asked().folds
    file.write_text("folds: [{match: 'n/run_{n}', dataset: n/run}]\n")
    taken = asked().folds
    file.write_text("")

    assert (before, len(taken), len(asked().folds)) == ((), 1, 1)


def test_the_pipeline_notes_its_policy(place, engine, at):
    """Note its hash, and why the current file is rejected: `lineward status` shows both."""
    file = place.data_dir / "lineward.yaml"
    file.write_text("retention_days: 30")
    place = replace(place, policy=file)
    policy = PolicyFile(file, settle_seconds=0)
    pipeline = Pipeline(engine, place, PipelineSettings(), lambda: at(12), policy)
    kept = policy.current().hash
    for text in ("retention_days: x\n", "retention_days: 31\n", ""):
        file.write_text(text)
        pipeline._look_at_policy(at(12))  # noqa: SLF001 - the task

    with engine.connect() as connection:
        value = connection.scalar(
            select(tables.meta.c.value).where(tables.meta.c.name == "policy_in_force.pipeline")
        )
    noted = msgspec.json.decode(value)
    assert noted["hash"] == policy.current().hash != kept
    assert "the file is empty" in noted["error"]


def test_a_pipeline_does_not_start_with_an_empty_policy(place, engine, at):
    """End the role with a message: there is no older policy."""
    file = place.data_dir / "lineward.yaml"
    file.write_text("\n")

    with pytest.raises(PolicyError, match="the file is empty"):
        Pipeline(engine, replace(place, policy=file), PipelineSettings(), lambda: at(12))


def test_memory_of_a_failed_evaluation_is_freed(spark, place, engine, at, monkeypatch):
    """Free it for the next evaluation."""
    freed, failing = Mock(), Mock(side_effect=ValueError("judged"))
    monkeypatch.setattr(evaluation_turns.garbage_collection, "free", freed)
    monkeypatch.setattr(evaluation_turns, "in_evaluation_pool", lambda _spark: None)
    monkeypatch.setattr(evaluation, "evaluate", failing)
    with write_transaction(engine) as connection:
        advance_cursor(connection, 2)
    pipeline = Pipeline(engine, place, PipelineSettings(), lambda: at(12))

    with pytest.raises(ValueError, match="judged"):
        pipeline._turns.take(spark, at(12))  # noqa: SLF001 - the whole run starts Spark

    freed.assert_called_once()


def test_events_land_while_spark_starts(place, engine, at):
    """Start the stream first: on a busy machine Spark takes minutes.

    The start of Spark ends with the pipeline.
    """
    spool(place.spool, [run_event("COMPLETE", at(8), outputs=["t"])], received_at=at(8))
    pipeline = Pipeline(engine, place, PipelineSettings(), lambda: at(12))

    def land_first(look):
        until(lambda: rows(engine, "SELECT count(*) FROM dataset_write") == [(1,)])
        look()
        raise OSError("Spark does not start")

    with pytest.raises(OSError, match="does not start"):
        pipeline.run(land_first, Event())

    assert [one.name for one in threading.enumerate() if one.name == "stream"] == []


@pytest.mark.parametrize("code", [52, -9])
def test_the_end_of_sparks_jvm_ends_the_pipeline(place, engine, at, code):
    """Look at the JVM: events land without it, and evaluations do not."""
    pipeline = Pipeline(engine, place, PipelineSettings(), lambda: at(12))
    spark = Mock()
    spark.sparkContext._gateway.proc.poll.return_value = code  # noqa: SLF001 - PySpark's name

    with pytest.raises(PipelineStoppedError, match=rf"Spark's JVM ended with exit code {code}$"):
        pipeline._look(Mock(), spark)  # noqa: SLF001 - once a turn

    spark.sparkContext._gateway.proc = None  # noqa: SLF001 - as under spark-submit
    pipeline._look(Mock(), spark)  # noqa: SLF001 - as above

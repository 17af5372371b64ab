"""The pipeline role: the stream, and beside it what is periodic."""

import time
from contextlib import closing
from datetime import datetime, timedelta
from importlib import import_module
from threading import Event
from types import ModuleType

import structlog
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from sqlalchemy import Engine

from lineage.clock import Clock, to_micros
from lineage.policy.file import PolicyFile
from slis.periodic import Evaluations, Task
from slis.session import EVALUATION_POOL, open_session
from slis.settings import Place, Settings
from slis.stream import query
from slis.stream.gaps import copy_gaps
from slis.stream.merge import Landed, cursor
from slis.stream.prune import prune
from slis.stream.source import last_seq_of, open_spool

log = structlog.get_logger(__name__)

_GAP_SECONDS = 5.0
_EVALUATION_POLL_SECONDS = 1.0
_DAY = timedelta(days=1)
_STOP_SECONDS = 30.0
_SPOOL_POLL_SECONDS = 0.5


class PipelineStoppedError(Exception):
    """The stream cannot go on by itself; the message says what, where and what to do."""


class Pipeline:
    """One run of the role."""

    def __init__(self, engine: Engine, place: Place, settings: Settings, clock: Clock) -> None:
        self._engine = engine
        self._place = place
        self._settings = settings
        self._clock = clock
        self._pruned_at: datetime | None = None
        self._evaluations = Evaluations(
            timedelta(seconds=settings.evaluate_seconds),
            timedelta(seconds=settings.evaluate_at_least_seconds),
        )

    def run(self, stopped: Event) -> None:
        """Work until `stopped` is set; then end after the batch in flight.

        Raises:
            PipelineStoppedError: the catalog and the spool do not fit each other.
        """
        spark = open_session(
            master=self._settings.master,
            driver_memory=self._settings.driver_memory,
            warehouse=self._place.data_dir / "warehouse",
        )
        tasks = self._tasks(spark)
        try:
            for task in tasks:
                task.start()
            self._stream(spark, stopped)
        finally:
            for task in tasks:
                task.stop(_STOP_SECONDS)
            spark.stop()

    def _stream(self, spark: SparkSession, stopped: Event) -> None:
        while not self._place.spool.exists():
            if stopped.wait(_SPOOL_POLL_SECONDS):
                return
        self._check_spool()
        running = query.start(
            spark,
            self._engine,
            self._place,
            max_rows=self._settings.max_rows,
            clock=self._clock,
            poll_seconds=self._settings.poll_seconds,
            landed=self._landed,
        )
        log.info("stream_started", checkpoint=str(self._place.checkpoint))
        try:
            while running.isActive and not stopped.wait(_SPOOL_POLL_SECONDS):
                pass
            if not running.isActive:
                running.awaitTermination(0)
        except StreamingQueryException as error:
            raise PipelineStoppedError(reason(error)) from error
        finally:
            finish(running)

    def _check_spool(self) -> None:
        with self._engine.connect() as connection:
            at = cursor(connection)
        with closing(open_spool(self._place.spool)) as spool:
            last = last_seq_of(spool)
        if at > last:
            message = (
                f"the catalog has taken events up to {at}, but {self._place.spool} has given "
                f"out {last} only: it is another spool, "
                "or an older copy. New events would be taken for old ones. Bring the spool "
                "back that belongs to this catalog, or "
                "start with an empty catalog and an empty folder `checkpoint`."
            )
            raise PipelineStoppedError(message)

    def _landed(self, landed: Landed) -> None:
        if not landed.is_repeat:
            self._evaluations.changed.set()

    def _tasks(self, spark: SparkSession) -> list[Task]:
        policy = PolicyFile(self._place.policy)

        def evaluate(now: datetime) -> None:
            if self._evaluations.is_due(now):
                self._evaluations.begun(now)
                spark.sparkContext.setLocalProperty("spark.scheduler.pool", EVALUATION_POOL)
                _evaluation().evaluate(spark, self._engine, policy.current(), now)

        def gaps(now: datetime) -> None:
            if copy_gaps(self._place.spool, self._engine, to_micros(now)):
                self._evaluations.changed.set()

        def daily(now: datetime) -> None:
            if self._pruned_at is None or now - self._pruned_at >= _DAY:
                prune(self._engine, self._place, self._settings, now)
                self._pruned_at = now

        return [
            Task("evaluation", _EVALUATION_POLL_SECONDS, evaluate, self._clock),
            Task("gaps", _GAP_SECONDS, gaps, self._clock),
            Task("daily", 60.0, daily, self._clock),
        ]


def _evaluation() -> ModuleType:
    # Imported at its first use: the stream is up before.
    return import_module("slis.evaluation")


def reason(error: StreamingQueryException) -> str:
    """What the batch itself said, without Spark's plan and the two stack traces around it."""
    lines = [line for line in str(error).splitlines() if "RangeMismatchError" in line]
    return lines[-1].split("RangeMismatchError: ")[-1] if lines else str(error).splitlines()[0]


def finish(running: StreamingQuery) -> None:
    """Stop between two batches: one that is cut off would be repeated, at the cost of its time."""
    until = time.monotonic() + _STOP_SECONDS
    while running.isActive and running.status["isTriggerActive"] and time.monotonic() < until:
        time.sleep(0.05)
    running.stop()

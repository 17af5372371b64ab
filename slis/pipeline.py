"""Pipeline role: the stream, and beside it the periodic work."""

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from threading import Event

import structlog
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession
from sqlalchemy import Engine

from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.epochs import StaleEpochError
from lineage.catalog.partitions import add_partitions
from lineage.catalog.policy_notes import PolicyNotes
from lineage.catalog.run_days import partition_runs
from lineage.periods import Monotonic, Period
from lineage.policy.file import PolicyFile
from lineage.process.clock import Clock, to_micros
from lineage.process.health import HEALTH
from slis.evaluation.edge_turns import EdgeTurns
from slis.evaluation.evaluation_turns import EvaluationTurns
from slis.lake import compaction, retention
from slis.lake.writer import LakeWriter
from slis.periodic import Evaluations, PeriodicTask
from slis.settings import PipelineSettings, SharedPaths
from slis.spark import garbage_collection
from slis.spark.session import EVALUATION_POOL
from slis.stream.failures.causes import describe_jvm_exit, poll_jvm
from slis.stream.landing import BatchLanding
from slis.stream.log.input_log import InputLog
from slis.stream.log.spool_log import SpoolLog
from slis.stream.log.spool_reader import BatchLimits
from slis.stream.merge.merge import MergeResult
from slis.stream.prune import prune_lake_and_catalog
from slis.stream.running import PipelineStoppedError, StreamThread

log = structlog.get_logger(__name__)

_EPOCH_SECONDS = 5.0
_GAP_SECONDS = 5.0
_RECEIVED_SECONDS = 5.0
_PARTITIONS_SECONDS = 600.0
_RETENTION_POLL_SECONDS = 60.0
_RETENTION_SECONDS = 3_600.0
_POLICY_SECONDS = 1.0
_EVALUATION_POLL_SECONDS = 1.0
_STOP_SECONDS = 30.0
_MOST_PIECES = 20  # of a compaction in one turn: what is left waits a minute
_SPOOL_POLL_SECONDS = 0.5


class Pipeline:
    """Run of the role."""

    def __init__(  # noqa: PLR0913 - the clocks are what tests set
        self,
        engine: Engine,
        place: SharedPaths,
        settings: PipelineSettings,
        clock: Clock,
        policy: PolicyFile | None = None,
        *,
        source: InputLog | None = None,
        monotonic: Monotonic = time.monotonic,
    ) -> None:
        """Read the policy.

        Args:
            engine: of the catalog.
            place: where the roles meet.
            settings: of the role.
            clock: gives the time.
            policy: None: that of `place`.
            source: the log; None: the spool of `place`.
            monotonic: gives seconds.

        Raises:
            PolicyError: its file is wrong, and there is no older one.
        """
        self._engine = engine
        self._place = place
        self._source = source or SpoolLog(place)
        self._settings = settings
        self._clock = clock
        self._policy = policy or PolicyFile(place.policy)
        self._policy_notes = PolicyNotes("pipeline", self._policy.standing)
        self._writer = LakeWriter(engine, place.lake, clock)
        self._replaced: StaleEpochError | None = None
        self._spark: SparkSession | None = None
        self._retention = Period(_RETENTION_SECONDS, monotonic)
        self._compactions = Period(_RETENTION_SECONDS, monotonic)
        self._evaluations = Evaluations(
            timedelta(seconds=settings.evaluate_seconds),
            timedelta(seconds=settings.evaluate_at_least_seconds),
        )
        self._turns = EvaluationTurns(
            engine,
            self._evaluations,
            policy=self._policy,
            source=self._source,
            clock=clock,
            monotonic=monotonic,
        )

    def run(self, open_spark: Callable[[Callable[[], None]], SparkSession], stopped: Event) -> None:
        """Work until `stopped` is set; then end after the batch in flight, and stop the session.

        Events land while Spark starts, which takes minutes on a machine that is busy.

        Args:
            open_spark: returns the session; until then it calls what it is given, again and again.
            stopped: ends it.

        Raises:
            PipelineStoppedError: the catalog and the spool do not fit each other, or the stream
                fails again and again.
        """
        while not self._source.is_ready():
            HEALTH.beat()
            if stopped.wait(_SPOOL_POLL_SECONDS):
                return
        self._adopt_log()
        stream = StreamThread(self._landing(), self._settings.poll_seconds)
        stream.begin()
        log.info("stream_started", log=self._source.name)
        try:
            self._spark = open_spark(stream.look)
        except BaseException:
            stream.finish(_STOP_SECONDS)
            raise
        self._work(self._spark, stream, stopped)

    def _work(self, spark: SparkSession, stream: StreamThread, stopped: Event) -> None:
        """Do what is periodic, beside the stream, until `stopped` is set."""
        garbage_collection.freeze_objects()
        tasks = self._tasks(spark)
        try:
            for task in tasks:
                task.start()
            while not stopped.wait(_SPOOL_POLL_SECONDS):
                self._look(stream, spark)
                HEALTH.beat()
        finally:
            for task in tasks:
                task.end()
            # A signal to the whole process group ends the JVM before us: there is nothing to stop.
            with suppress(Py4JError, ConnectionError):
                give_up_evaluation(spark)
            stream.finish(_STOP_SECONDS)
            for task in tasks:
                task.join(_STOP_SECONDS)
            with suppress(Py4JError, ConnectionError):
                spark.stop()

    def _look(self, stream: StreamThread, spark: SparkSession) -> None:
        """Raise what this pipeline ends by."""
        stream.look()
        if (code := poll_jvm(spark)) is not None:
            raise PipelineStoppedError(describe_jvm_exit(code))
        if self._replaced is not None:
            raise PipelineStoppedError(str(self._replaced))

    def _look_at_epoch(self, _now: datetime) -> None:
        """Note whether a newer pipeline has started, also while no event comes."""
        try:
            with self._engine.connect() as connection:
                self._writer.fence(connection)
        except StaleEpochError as error:
            self._replaced = error

    def _landing(self) -> BatchLanding:
        return BatchLanding(
            self._engine,
            self._place,
            limits=BatchLimits(self._settings.max_rows, self._settings.max_bytes),
            clock=self._clock,
            landed=self._landed,
            policy=self._policy.current,
            writer=self._writer,
            source=self._source,
            spark=lambda: self._spark,
        )

    def _adopt_log(self) -> None:
        if problem := self._source.find_mismatch(self._engine):
            raise PipelineStoppedError(problem)
        self._source.adopt(self._engine)

    def _landed(self, landed: MergeResult) -> None:
        if not landed.is_repeat:
            self._evaluations.note(is_news=landed.is_news)

    def _tasks(self, spark: SparkSession) -> list[PeriodicTask]:
        evaluate, first = partial(self._turns.take, spark), partial(self._turns.warm_up, spark)
        given = (spark, self._engine, self._place, self._settings)
        turns = EdgeTurns(
            *given, policy=self._policy, evaluations=self._evaluations, source=self._source
        )
        return [
            PeriodicTask(
                "evaluation", _EVALUATION_POLL_SECONDS, evaluate, self._clock, first=first
            ),
            PeriodicTask("epoch", _EPOCH_SECONDS, self._look_at_epoch, self._clock),
            PeriodicTask("gaps", _GAP_SECONDS, self._copy_gaps, self._clock),
            PeriodicTask("edges", _EVALUATION_POLL_SECONDS, turns.take, self._clock),
            PeriodicTask("received", _RECEIVED_SECONDS, self._count_received, self._clock),
            PeriodicTask("policy", _POLICY_SECONDS, self._look_at_policy, self._clock),
            PeriodicTask("partitions", _PARTITIONS_SECONDS, self._add_partitions, self._clock),
            PeriodicTask("retention", _RETENTION_POLL_SECONDS, self._prune, self._clock),
            PeriodicTask(
                "compaction", _RETENTION_POLL_SECONDS, partial(self._compact, spark), self._clock
            ),
        ]

    def _copy_gaps(self, now: datetime) -> None:
        if self._source.copy_gaps(self._engine, to_micros(now)):
            self._evaluations.note()

    def _count_received(self, _now: datetime) -> None:
        self._source.count_received(self._engine, self._clock)

    def _look_at_policy(self, _now: datetime) -> None:
        # Each second, so that a changed file is soon in force everywhere.
        self._policy_notes(self._engine)

    def _add_partitions(self, now: datetime) -> None:
        exchanged = partition_runs(self._engine, exclusive_transaction)
        if made := exchanged + add_partitions(self._engine, now, exclusive_transaction):
            log.info("partitions_added", partitions=made)

    def _prune(self, now: datetime) -> None:
        if self._retention.is_due():
            with self._retention.turn():
                keep = self._policy.current().retention_days
                prune_lake_and_catalog(self._writer, self._settings, now, lake_days=keep)

    def _compact(self, spark: SparkSession, now: datetime) -> None:
        is_hasty = not self._compactions.has_failed and compaction.is_scattered(self._writer)
        if is_hasty or self._compactions.is_due():
            with self._compactions.turn():
                run = compaction.choose_rewrite(spark, self._writer.lake)
                for _ in range(_MOST_PIECES):
                    if not compaction.compact(self._writer, to_micros(now), run):
                        break
        retention.delete_hidden(self._writer, now)


def give_up_evaluation(spark: SparkSession) -> None:
    """Have the one in flight fail at its next job: it has published nothing, the next one will."""
    context = spark.sparkContext._jsc.sc()  # noqa: SLF001 - Python's own spares later jobs
    context.cancelJobGroupAndFutureJobs(EVALUATION_POOL)

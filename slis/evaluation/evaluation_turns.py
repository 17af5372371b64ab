"""Turns in which the pipeline evaluates, beside the stream."""

import time
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any

from pyspark.sql import SparkSession
from sqlalchemy import Engine, text

from lineage.periods import Monotonic
from lineage.policy.file import PolicyFile
from lineage.process.clock import Clock, from_micros, to_micros
from slis.periodic import Evaluations
from slis.spark import garbage_collection
from slis.spark.session import in_evaluation_pool
from slis.stream.log.input_log import InputLog

_FIRST_BATCH = timedelta(seconds=40)
_NEXT_CHANGE = "SELECT min(next_change_at) FROM dataset_judgement WHERE next_change_at > :after"


class EvaluationTurns:
    """Turns of the evaluation, each taken when it is due."""

    def __init__(  # noqa: PLR0913 - what the pipeline has
        self,
        engine: Engine,
        evaluations: Evaluations,
        *,
        policy: PolicyFile,
        source: InputLog,
        clock: Clock,
        monotonic: Monotonic = time.monotonic,
    ) -> None:
        """Take no turn yet.

        Args:
            engine: of the catalog.
            evaluations: when one is due.
            policy: in force.
            source: the log.
            clock: gives the time.
            monotonic: gives seconds.
        """
        self._engine = engine
        self._evaluations = evaluations
        self._policy = policy
        self._source = source
        self._clock = clock
        self._monotonic = monotonic
        self._started_at = monotonic()
        # `evaluation_memory.EvaluationMemory`, from the first evaluation on
        self._memory: Any = None

    def warm_up(self, spark: SparkSession, _now: datetime) -> None:
        """Evaluate made-up events, unless real ones have come."""
        if not self._real_events_came():
            in_evaluation_pool(spark)
            # At its first use, as the evaluation below: the stream is up before.
            warm_up = import_module("slis.evaluation.warmup").warm_up
            warm_up(spark, self._clock, self._real_events_came)

    def _real_events_came(self) -> bool:
        landed = self._evaluations.is_anything_new
        return landed or self._source.backlog_since(self._engine) is not None

    def take(self, spark: SparkSession, now: datetime) -> None:
        """Evaluate, if it is time to."""
        if not self._evaluations.is_due(now):
            return
        waiting = self._source.backlog_since(self._engine)
        if self.is_first_batch_due(waiting, now):
            return
        self._evaluations.begun(now)
        in_evaluation_pool(spark)
        evaluation = import_module("slis.evaluation.evaluation")
        self._memory = self._memory or evaluation.EvaluationMemory()
        try:
            done = evaluation.evaluate(
                *(spark, self._engine, self._policy.current(), now),
                backlog_since=waiting,
                memory=self._memory,
            )
        finally:
            garbage_collection.free()
        self._evaluations.ended(done.seconds, next_deadline(self._engine, now))

    def is_first_batch_due(self, waiting: datetime | None, now: datetime) -> bool:
        """Return whether a first evaluation would come too early, and slow what it is to find.

        Not for long: events may wait at any moment, and an old backlog is known to be one.
        """
        if self._evaluations.last is not None or waiting is None:
            return False
        waits = max(now - waiting, timedelta(seconds=self._monotonic() - self._started_at))
        return waits < _FIRST_BATCH


def next_deadline(engine: Engine, now: datetime) -> datetime | None:
    """Return when the next dataset may change without a fact, by the evaluation as of `now`."""
    with engine.connect() as connection:
        at = connection.scalar(text(_NEXT_CHANGE), {"after": to_micros(now)})
    return None if at is None else from_micros(at)

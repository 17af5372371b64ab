"""Periodic reading of Spark's event logs and judging of edges, beside the evaluations."""

import shutil
from datetime import datetime, timedelta
from importlib import import_module

import structlog
from pyspark.sql import SparkSession
from sqlalchemy import Engine

from lineage.policy.file import PolicyFile
from slis.periodic import Evaluations
from slis.settings import PipelineSettings, SharedPaths
from slis.spark import garbage_collection
from slis.spark.session import in_evaluation_pool
from slis.stream.log.input_log import InputLog
from slis.stream.log.spool_log import SpoolLog

log = structlog.get_logger(__name__)

# Imported at their first use, as the evaluation: the stream is up before.
_OTHER_ORACLES = (
    ("sql", "slis.indicators.accuracy.sql_catalog", "check_sql"),
    ("facets", "slis.indicators.accuracy.facet_catalog", "check_facets"),
)


class EdgeTurns:
    """Work on edges, when due: in one thread, so that no check is counted while it is made."""

    def __init__(  # noqa: PLR0913 - what the pipeline has
        self,
        spark: SparkSession,
        engine: Engine,
        place: SharedPaths,
        settings: PipelineSettings,
        *,
        policy: PolicyFile,
        evaluations: Evaluations,
        source: InputLog | None = None,
    ) -> None:
        self._source = source or SpoolLog(place)
        self._spark = spark
        self._engine = engine
        self._place = place
        self._settings = settings
        self._policy = policy
        self._evaluations = evaluations
        self._last: datetime | None = None

    def take(self, now: datetime) -> None:
        """Read what is new in Spark's event logs, compare it, and judge all edges.

        Not before the first evaluation: what the policy says of datasets is known only then.

        Edges are judged even if the logs cannot be read.
        """
        if self._evaluations.last is None or self._is_early(now):
            return
        self._last = now
        waiting = self._source.backlog_since(self._engine)
        settle = self._settle(now, waiting)
        in_evaluation_pool(self._spark)
        try:
            # First: where Spark's event log is whole, no other oracle checks an edge.
            self._read_evidence(now, settle)
        finally:
            try:
                self._judge(now, settle, waiting)
            finally:
                garbage_collection.free()

    def _judge(self, now: datetime, settle: timedelta, waiting: datetime | None) -> None:
        try:
            self._check_by_others(now, settle)
        finally:
            # At its first use, as the evaluation: the stream is up before.
            judge = import_module("slis.evaluation.edge_evaluation").evaluate_edges
            policy = self._policy.current()
            judge(self._spark, self._engine, policy, now, settle=settle, backlog_since=waiting)

    def _is_early(self, now: datetime) -> bool:
        every = timedelta(seconds=self._settings.evidence_seconds)
        # A clock that was set back must not silence it.
        return self._last is not None and timedelta(0) <= now - self._last < every

    def _settle(self, now: datetime, waiting: datetime | None) -> timedelta:
        """Return how long after a run its events may still land.

        While events wait in the spool, that is longer by the age of the oldest: a run that ended
        after that event was received may have its own events behind it.
        """
        usual = timedelta(seconds=self._settings.evidence_settle_seconds)
        return usual if waiting is None else usual + max(timedelta(0), now - waiting)

    def _check_by_others(self, now: datetime, settle: timedelta) -> None:
        for oracle, module, name in _OTHER_ORACLES:
            check = getattr(import_module(module), name)
            if edges := check(self._spark, self._engine, now, settle):
                log.info("edges_checked", oracle=oracle, edges=edges)
                self._evaluations.note()

    def _read_evidence(self, now: datetime, settle: timedelta) -> None:
        folders = self._settings.event_log_folders
        if not folders:
            shutil.rmtree(self._place.unpacked, ignore_errors=True)  # of a pass that was killed
            return
        done = import_module("slis.evidence.scan").scan_logs(
            *(self._spark, self._engine, folders, now),
            settle=settle,
            scratch=self._place.unpacked,
            policy=self._policy.current(),
        )
        for problem in done.unlisted:
            log.error("event_logs_unlisted", problem=problem)
        compared = import_module("slis.indicators.accuracy.catalog").compare(
            self._spark, self._engine, now
        )
        if done.files:
            log.info("event_logs_read", files=done.files, bytes=done.bytes, edges=compared)
        if done.runs_changed or compared:
            self._evaluations.note()

"""The turns in which event logs are read and edges are judged, beside the evaluations."""

import shutil
from datetime import datetime, timedelta
from importlib import import_module

import structlog
from pyspark.sql import SparkSession
from sqlalchemy import Engine

from lineage.policy.file import PolicyFile
from slis.periodic import Evaluations
from slis.session import in_evaluation_pool
from slis.settings import Place, Settings

log = structlog.get_logger(__name__)


class EdgeTurns:
    """Takes a turn when one is due: one thread, so that no check is counted while it is made."""

    def __init__(  # noqa: PLR0913 - what the pipeline has
        self,
        spark: SparkSession,
        engine: Engine,
        place: Place,
        settings: Settings,
        *,
        policy: PolicyFile,
        evaluations: Evaluations,
    ) -> None:
        self._spark = spark
        self._engine = engine
        self._place = place
        self._settings = settings
        self._policy = policy
        self._evaluations = evaluations
        self._last: datetime | None = None

    def take(self, now: datetime) -> None:
        """Read what is new in the event logs, compare it, and judge all edges.

        Not before the first evaluation: what the policy says of datasets is known only then.

        Edges are judged whatever becomes of the logs.
        """
        if self._evaluations.last is None or self._is_early(now):
            return
        self._last = now
        in_evaluation_pool(self._spark)
        try:
            self._read_evidence(now)
        finally:
            # At its first use, as the evaluation: the stream is up before.
            judge = import_module("slis.edge_evaluation").evaluate_edges
            judge(self._spark, self._engine, self._policy.current(), now)

    def _is_early(self, now: datetime) -> bool:
        every = timedelta(seconds=self._settings.evidence_seconds)
        # A clock that was set back must not silence it.
        return self._last is not None and timedelta(0) <= now - self._last < every

    def _read_evidence(self, now: datetime) -> None:
        folders = self._settings.event_log_folders
        if not folders:
            shutil.rmtree(self._place.unpacked, ignore_errors=True)  # of a pass that was killed
            return
        done = import_module("slis.evidence.scan").scan(
            *(self._spark, self._engine, folders, now),
            settle=timedelta(seconds=self._settings.evidence_settle_seconds),
            scratch=self._place.unpacked,
        )
        for problem in done.unlisted:
            log.error("event_logs_unlisted", problem=problem)
        compared = import_module("slis.accuracy.catalog").compare(self._spark, self._engine, now)
        if done.files:
            log.info("event_logs_read", files=done.files, bytes=done.bytes, edges=compared)
        if done.runs_changed or compared:
            self._evaluations.changed.set()

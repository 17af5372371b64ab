"""Landing of the log's events batch by batch, each in one transaction of the catalog.

The catalog's cursor says where the next batch begins. Beside it only the tries of a range that
failed are kept: a killed driver repeats at most one batch, which catalog and lake take once.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import structlog
from pyspark.sql import SparkSession
from sqlalchemy import Engine

from lineage.policy import DEFAULT, Policy
from lineage.process.clock import Clock
from slis.lake.writer import LakeWriter
from slis.settings import SharedPaths
from slis.stream.batch import Batches
from slis.stream.failures.attempts import Attempts
from slis.stream.failures.causes import (
    describe_jvm_exit,
    is_of_machine,
    jvm_exit,
    reason_line,
    was_stopped,
)
from slis.stream.failures.set_aside import set_event_aside, try_control_event
from slis.stream.log.input_log import STOPPING, InputLog, Portion, range_of
from slis.stream.log.spool_log import SpoolLog
from slis.stream.log.spool_reader import BatchLimits
from slis.stream.merge.merge import MergeResult
from slis.stream.pace import BatchPace

log = structlog.get_logger(__name__)

_Result = TypeVar("_Result")
_VANISHED = "the process of the pipeline ended each time that it landed this event"


class WaitError(Exception):
    """Error: a batch failed, and not by its events: it is tried again until it lands."""


class SparkGoneError(Exception):
    """Error: Spark's JVM ended; only a new process of the pipeline has another."""


class BatchLanding:
    """Landing of batches of one log in one catalog.

    Attributes:
        is_behind: the last batch was as large as it may be, so that more events wait.
    """

    def __init__(  # noqa: PLR0913 - what one stream needs, by name
        self,
        engine: Engine,
        place: SharedPaths,
        *,
        limits: BatchLimits,
        clock: Clock,
        landed: Callable[[MergeResult], None] = lambda _: None,
        policy: Callable[[], Policy] = lambda: DEFAULT,
        writer: LakeWriter | None = None,
        source: InputLog | None = None,
        spark: Callable[[], SparkSession | None] = lambda: None,
    ) -> None:
        """Land nothing yet.

        Args:
            engine: of the catalog, migrated.
            place: of spool and lake.
            limits: of a batch.
            clock: gives `landed_at`.
            landed: called after each batch.
            policy: gives the one in force, asked once a batch.
            writer: of the lake; None: one of its own.
            source: the log; None: the spool of `place`.
            spark: gives the session, whose executors read large batches of a topic. While it gives
                None, the driver reads all of them.
        """
        self._source = source or SpoolLog(place)
        self._spark = spark
        self._engine = engine
        self._place = place
        self._limits = limits
        self._given = limits
        self._pace = BatchPace(limits)
        self.is_behind = False
        self._clock = clock
        self._landed = landed
        self._policy = policy
        self._writer = writer or LakeWriter(engine, place.lake, clock)
        self._batches = Batches(self._writer, clock, policy)
        self._is_restored = False
        self._attempts = Attempts(place.attempts, self._source.name)

    def interrupted(self) -> None:
        """Note that the batch in flight is cut short: its events did not fail."""
        self._attempts.interrupted()

    def work_off(self, is_over: Callable[[], bool] = lambda: False) -> None:
        """Land batches until no event waits, or `is_over`."""
        while not is_over() and self.step():
            pass

    def step(self) -> bool:
        """Land the next batch, or set aside the one event that fails; False where none waits.

        Raises:
            RangeMismatchError: another pipeline landed events of this batch meanwhile.
            StaleEpochError: another pipeline has started meanwhile.
            LakeMismatchError: the lake is not the one of the catalog.
            LogMismatchError: the log is not the one that the catalog has read.
            WaitError: the disk, the catalog or the machine failed; try again later.
            SparkGoneError: the JVM ended.
            Exception: the events of the batch failed; fewer of them are tried next.
        """
        _waiting(self._restore)
        portion = self._next()
        if portion is None:
            return False
        tried = portion.after_seq, portion.last_seq, portion.count, portion.ends
        attempt = _waiting(partial(self._attempts.begin, *tried))
        if attempt.is_alone:
            self._set_aside(portion, attempt.error or _VANISHED)
        else:
            self._try(portion)
        self.is_behind = _is_full(portion, self._given)
        return True

    def _restore(self) -> None:
        """Land from the lake, once, what the catalog lacks and the log has deleted."""
        if self._is_restored:
            return
        batches = Batches(self._writer, self._clock, self._policy, are_history=True)
        _ = self._writer.started  # before the manifest is read: it may be repaired
        self._source.catch_up(batches, self._place, self._limits.rows, self._clock())
        self._is_restored = True

    def _next(self) -> Portion | None:
        def limits(at: int) -> BatchLimits:
            self._given = self._attempts.limits(at, self._pace.limits())
            return self._given

        return _waiting(partial(self._source.read_next, self._engine, limits))

    def _try(self, portion: Portion) -> None:
        try:
            result = self._land(portion)
        except STOPPING:
            raise
        except Exception as error:
            self._failed(error, portion)
            raise
        self._attempts.landed()
        if result is not None:
            log.debug("batch_landed", events=result.events, repeat=result.is_repeat)
            self._pace.landed(portion.size(), result.merge_seconds)
            self._landed(result)

    def _land(self, portion: Portion) -> MergeResult | None:
        return portion.land(self._batches, self._spark())

    def _failed(self, error: Exception, portion: Portion) -> None:
        """Judge whose fault it is, and note it; the event that fails alone is set aside."""
        spark = self._spark()
        code = None if spark is None else jvm_exit(spark, error)
        if (is_of_machine(error) and code is None) or (code is not None and was_stopped(code)):
            _waiting(self._attempts.interrupted)
            self._pace.gave_up()
            if code is None:
                raise WaitError(reason_line(error)) from error
        else:
            cause = reason_line(error) if code is None else f"Spark ended with exit code {code}"
            attempt = _waiting(partial(self._attempts.failed, cause))
            if code is None and attempt.is_alone:
                self._set_aside(portion, cause)
        if code is not None:
            raise SparkGoneError(describe_jvm_exit(code)) from error

    def _set_aside(self, portion: Portion, error: str) -> None:
        """Set the event aside, unless one that is known to be good fails as well."""
        log_range = range_of(portion)
        try:
            try_control_event(self._batches, self._place, log_range, self._clock())
        except Exception as failure:
            _waiting(self._attempts.forgiven)
            raise WaitError(f"a control event fails as well: {reason_line(failure)}") from failure
        _waiting(partial(self._pass_by, portion, error))
        self._attempts.landed()
        log.error("event_set_aside", seq=log_range.last_seq, error=error)
        self._landed(MergeResult())

    def _pass_by(self, portion: Portion, error: str) -> None:
        given = self._writer, range_of(portion), portion.table(), error, self._clock
        set_event_aside(*given, portion.store, portion.write_beside)


def _is_full(portion: Portion, limits: BatchLimits) -> bool:
    """Return whether the limits kept further events out; the next one may be large."""
    return portion.count >= limits.rows or portion.size() > limits.size // 2


def _waiting(call: Callable[[], _Result]) -> _Result:
    """Call what looks into no event: whatever fails there is no event's fault."""
    try:
        return call()
    except STOPPING:
        raise
    except Exception as error:
        raise WaitError(reason_line(error)) from error

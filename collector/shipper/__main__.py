"""`python -m collector.shipper`: the shipper role, beside a collector."""

import sqlite3
import sys
import time
from threading import Event

import msgspec
import structlog
from confluent_kafka import KafkaException, Producer

from collector.settings import CollectorLocation
from collector.shipper import metrics
from collector.shipper.producing import NotShippedError, ProducerFailedError
from collector.shipper.shipper import Shipper
from lineage.input_log.settings import KafkaLog, read_log
from lineage.process import environment
from lineage.process.clock import system_clock
from lineage.process.environment import InvalidSettingError
from lineage.process.health import HEALTH
from lineage.process.role import begin_role, stop_on_signals

_PART = "shipper"
_POLL_SECONDS = 0.2
_PAUSE_SECONDS = 1.0
_DRAIN_SECONDS = 20.0
_LATE_SECONDS = 10.0
# The topic must allow this too: an event that is inflated may have 10 MiB.
CLIENT = {
    "message.max.bytes": str(11 << 20),
    # Longer, and the window is sent again; the pipeline knows what comes twice.
    "message.timeout.ms": "30000",
    "linger.ms": "5",
    "log_level": "2",  # what fails is logged by us
    "compression.type": "lz4",
    # As Kafka's own clients choose a partition.
    "partitioner": "murmur2_random",
}
_log = structlog.get_logger()


class ShipperRole:
    """Role that ships until it is stopped, then ships what is left."""

    def __init__(self, shipper: Shipper) -> None:
        self._shipper = shipper
        self._problem: str | None = "nothing was shipped yet"

    def find_problem(self) -> str | None:
        """Return why nothing is shipped now; an attempt may last until Kafka's client gives up."""
        lag = metrics.lag_seconds(self._shipper.backlog, system_clock)
        is_late = self._problem is None and lag > _LATE_SECONDS
        return f"events have waited for {lag:.0f} s for Kafka" if is_late else self._problem

    def run(self, stopping: Event) -> None:
        """Ship until `stopping` is set, and for a bounded time what is in the spool then."""
        while not stopping.is_set():
            HEALTH.beat()
            stopping.wait(self._step())
        deadline = time.monotonic() + _DRAIN_SECONDS
        while time.monotonic() < deadline:
            pause = self._step()
            if pause == _POLL_SECONDS and self._has_ended():
                return
            time.sleep(pause)

    def _has_ended(self) -> bool:
        """Say goodbye once the collector has ended; nothing waits for Kafka then."""
        if not self._shipper.is_collector_gone():
            return False
        try:
            self._shipper.say_goodbye()
        except NotShippedError as error:
            self._fail(str(error))
            return False
        _log.info("spool_drained")
        return True

    def _step(self) -> float:
        """Ship a window; return the seconds until the next one."""
        if not self._shipper.is_ready():
            self._fail("the collector has no spool, or one that is behind shipped.json")
            return _PAUSE_SECONDS
        try:
            shipped = self._shipper.step()
        except (NotShippedError, KafkaException, sqlite3.Error, OSError) as error:
            metrics.FAILURES.inc()
            self._fail(str(error))
            return _PAUSE_SECONDS
        self._problem = None
        HEALTH.succeed(_PART)
        metrics.RECORDS.inc(shipped)
        return 0.0 if shipped else _POLL_SECONDS

    def _fail(self, problem: str) -> None:
        if problem != self._problem:
            _log.warning("not_shipped", reason=problem, next="trying again")
        self._problem = problem
        HEALTH.fail(_PART, problem)


def main() -> int:
    """Run the role.

    The exit status is 2 for a setting or a file that cannot be used, and 1 where Kafka's client has
    failed for good: the next process sends the window again.
    """
    begin_role()
    HEALTH.beat_beside()
    try:
        place, log = environment.read(CollectorLocation), _required(read_log())
        shipper = _shipper(place, log)
        metrics.measure(shipper.backlog, system_clock)
        role = ShipperRole(shipper)
        port = metrics.serve(place.host, log.settings.port, role.find_problem)
    except (InvalidSettingError, OSError, msgspec.DecodeError) as error:
        _log.error("shipper_cannot_start", reason=str(error))
        return 2
    except KafkaException as error:
        # A setting's value may be a password: only the kind of the fault is logged.
        _log.error("shipper_cannot_start", reason=error.args[0].name())
        return 2
    stopping = stop_on_signals()
    _log.info("shipping", bootstrap=log.bootstrap, topic=log.topic, as_=log.collector, port=port)
    try:
        role.run(stopping)
    except ProducerFailedError as error:
        _log.error("producer_failed", reason=str(error), next="starting again")
        return 1
    return 0


def _required(log: KafkaLog | None) -> KafkaLog:
    if log is None:
        raise InvalidSettingError("LINEWARD_LOG: the shipper needs kafka://HOST:PORT/TOPIC")
    return log


def _shipper(place: CollectorLocation, log: KafkaLog) -> Shipper:
    producer = Producer(CLIENT | log.producer_settings())
    given = {"topic": log.topic, "collector": log.collector, "clock": system_clock}
    return Shipper(place.data_dir, producer, alive=HEALTH.beat, **given)  # type: ignore[arg-type]


if __name__ == "__main__":
    sys.exit(main())

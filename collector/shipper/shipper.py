"""Shipper of a collector's spool to Kafka: a window at a time, and then the position.

Senders never wait for it: their acknowledgement is the spool's fsync. A window is acknowledged by
Kafka as a whole before the position moves; one that was cut short is sent again.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import structlog
from confluent_kafka import KafkaError, KafkaException
from msgspec.structs import replace

from collector.shipper.position import (
    ShippedPosition,
    read_position,
    sync_folder,
    write_durably,
    write_position,
)
from collector.shipper.producing import (
    NotShippedError,
    Producer,
    ProducerFailedError,
    is_fatal,
    kafka_key,
)
from collector.shipper.window import (
    Backlog,
    SendWindow,
    last_given,
    read_backlog,
    read_heartbeat,
    read_window,
)
from lineage.input_log.records import GOODBYE, REJECTED, Record, headers_of
from lineage.process.clock import SECOND_MICROS, Clock, to_micros

HEARTBEAT_SECONDS = 5.0
TOO_LARGE = "too_large_for_log"
_FLUSH_SECONDS = 1.0
_GONE_SECONDS = 3.0  # the collector beats each second
_HEAD_BYTES = 65_536
_log = structlog.get_logger()


class Shipper:
    """Path from one collector to one topic.

    Attributes:
        position: what Kafka has acknowledged.
    """

    def __init__(  # noqa: PLR0913 - by name
        self,
        data_dir: Path,
        producer: Producer,
        *,
        topic: str,
        collector: str,
        clock: Clock,
        alive: Callable[[], None] = lambda: None,
    ) -> None:
        """Read the position.

        Args:
            data_dir: folder of the spool.
            producer: idempotent, and acknowledged by all replicas in sync.
            topic: to write.
            collector: name of the collector.
            clock: gives the time.
            alive: called while an acknowledgement is waited for.

        Raises:
            OSError, msgspec.DecodeError: the position cannot be read.
        """
        self._data_dir = data_dir
        self._producer = producer
        self._topic = topic
        self._collector = collector
        self._clock = clock
        self._alive = alive
        self._heartbeat_at = 0
        position = read_position(data_dir)
        self._has_position = position is not None
        self.position = position or ShippedPosition()

    def is_ready(self) -> bool:
        """Return whether the collector has made its spool, and the spool is that of the position.

        A spool that is behind the position was replaced: the collector numbers its events again.
        """
        try:
            with closing(self._open()) as spool:
                return last_given(spool, "event") >= self.position.seq
        except sqlite3.OperationalError:
            return False

    def step(self) -> int:
        """Ship the next window, and a heartbeat where one is due; return how many records.

        Raises:
            NotShippedError: Kafka did not acknowledge all of it.
            ProducerFailedError: the client has failed for good.
            sqlite3.Error: the spool cannot be read.
            OSError: the position cannot be written.
        """
        with closing(self._open()) as spool:
            self._fit_position(spool)
            window = read_window(spool, self.position, self._collector)
            heartbeat = self._due_heartbeat(spool, window.position)
        self._ship(window, [] if heartbeat is None else [heartbeat])
        return len(window.records)

    def _fit_position(self, spool: sqlite3.Connection) -> None:
        """Begin rejected bodies at the end of a spool that the position does not know.

        Without a position (new, or lost) older ones were counted, or pruned long ago. A spool that
        gave out fewer numbers was replaced: the shipper would wait until the old number came.
        """
        last = last_given(spool, "rejected")
        if self._has_position and last >= self.position.rejected:
            return
        self.position = replace(self.position, rejected=last)
        write_position(self._data_dir, self.position)
        self._has_position = True

    def is_collector_gone(self) -> bool:
        """Return whether the collector has stopped to beat: nothing more comes into the spool."""
        with closing(self._open()) as spool:
            heartbeat = read_heartbeat(spool, self._collector)
        silence = to_micros(self._clock()) - (heartbeat.received_at if heartbeat else 0)
        return silence > _GONE_SECONDS * SECOND_MICROS

    def backlog(self) -> Backlog:
        """Return what waits in the spool."""
        with closing(self._open()) as spool:
            return read_backlog(spool, self.position)

    def say_goodbye(self) -> None:
        """Report that the collector ends with nothing left to ship: its silence is no gap."""
        now = to_micros(self._clock())
        with closing(self._open()) as spool:
            heartbeat = read_heartbeat(spool, self._collector)
        self._send([Record(kind=GOODBYE, collector=self._collector, received_at=now)])
        if heartbeat is not None:
            self.position = replace(self.position, last_beat=heartbeat.received_at)
            write_position(self._data_dir, self.position)

    def _open(self) -> sqlite3.Connection:
        path = (self._data_dir / "spool.db").absolute()
        return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=10)

    def _due_heartbeat(self, spool: sqlite3.Connection, at: ShippedPosition) -> Record | None:
        """Return a heartbeat that is not ahead of the events that wait behind the window.

        It says that all events up to its time are in the topic.
        """
        now = to_micros(self._clock())
        if abs(now - self._heartbeat_at) < HEARTBEAT_SECONDS * SECOND_MICROS:
            return None
        heartbeat = read_heartbeat(spool, self._collector)
        if heartbeat is None or heartbeat.received_at == at.last_beat:
            return None  # the collector has not begun again since the goodbye
        self._heartbeat_at = now
        since = read_backlog(spool, at).since
        complete_until = heartbeat.received_at if since is None else since
        return replace(heartbeat, received_at=min(heartbeat.received_at, complete_until))

    def _ship(self, window: SendWindow, beside: list[Record]) -> None:
        too_large = self._send([*window.records, *beside])
        for record in too_large:
            self._keep_apart(record)
        if window.position != self.position:
            write_position(self._data_dir, window.position)
            self.position = window.position

    def _send(self, records: list[Record]) -> list[Record]:
        """Send records, and wait until Kafka has them; return those that Kafka finds too large."""
        too_large: list[Record] = []
        failed: list[KafkaError] = []

        def note(record: Record) -> Callable[[KafkaError | None, object], None]:
            def delivered(error: KafkaError | None, _message: object) -> None:
                if error is not None and error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
                    too_large.append(record)
                elif error is not None:
                    failed.append(error)

            return delivered

        for record in records:
            try:
                self._produce(record, note(record))
            except KafkaException as error:
                note(record)(error.args[0], None)
        while self._producer.flush(_FLUSH_SECONDS):
            self._alive()
        if fatal := next(filter(is_fatal, failed), None):
            raise ProducerFailedError(fatal.str())
        if failed:
            raise NotShippedError(f"{len(failed)} of {len(records)} records: {failed[0].str()}")
        return too_large

    def _produce(
        self, record: Record, delivered: Callable[[KafkaError | None, object], None]
    ) -> None:
        self._producer.produce(
            self._topic,
            value=record.body,
            key=kafka_key(record),
            headers=headers_of(record),
            timestamp=record.received_at // 1_000,
            on_delivery=delivered,
        )

    def _keep_apart(self, record: Record) -> None:
        """Keep a body that the topic does not take in a file, and report it as rejected."""
        folder = self._data_dir / "unshipped"
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / f"{record.kind}-{record.seq}.json"
        sync_folder(self._data_dir)  # else a power cut may take the folder
        write_durably(path, record.body)
        _log.error(
            "event_not_shipped",
            seq=record.seq,
            bytes=len(record.body),
            kept_in=str(path),
            next="raise max.message.bytes of the topic; an hour later send it by lineward ship",
        )
        head = record.body[:_HEAD_BYTES]
        if self._send([replace(record, kind=REJECTED, reason=TOO_LARGE, body=head)]):
            raise NotShippedError(f"the topic takes no record of {len(head)} bytes")

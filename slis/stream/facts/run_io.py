"""Reads and writes of the runs of a batch, and checkpoints of streams that name no dataset."""

from typing import NamedTuple

from slis.stream.facts.mentions import DECLARED, Mention
from slis.stream.facts.spans import SeenTimes, greater
from slis.stream.reading.event import ReadEvent
from slis.stream.reading.event_times import start_of_hour
from slis.stream.reading.reported import ReportedRun


class RunIoRow(NamedTuple):
    """Row of `s_run_io`. Times are microseconds since 1970.

    Attributes:
        day: of the run's id.
        hour: start of the event's hour, of a stream; else None.
        streamed_at: the last event by which a stream put out data.
        is_measured: such an event has figures or is a checkpoint.
    """

    run_key: int
    day: int
    spelling_key: int
    direction: str
    facets_key: int
    hour: int | None
    first_event_at: int
    last_event_at: int
    streamed_at: int | None
    is_measured: int
    has_statistics: int
    rows: int | None
    bytes: int | None


class Checkpoint(NamedTuple):
    """Row of `s_checkpoint`: of streams whose events name no dataset, by run and hour."""

    run_key: int
    hour: int
    first_at: int
    last_at: int


_Key = tuple[int, int, int, str, int, int | None]


class RunIoFacts:
    """Reads, writes and checkpoints of a batch."""

    def __init__(self) -> None:
        """Hold nothing."""
        self._io: dict[_Key, RunIoRow] = {}
        self._checkpoints: dict[tuple[int, int], SeenTimes] = {}

    def add(self, event: ReadEvent, time: int, mentions: list[Mention]) -> None:
        """Add an event of that time, with the datasets that it names."""
        if event.run is None:
            return
        hour, seen = start_of_hour(time), SeenTimes(time, time)
        if _is_bare_checkpoint(event):
            at = event.run.run_key, hour
            self._checkpoints[at] = self._checkpoints.get(at, seen) | seen
        for one in mentions:
            if one.direction != DECLARED:
                self._note(event, event.run, time, one, hour if event.is_streaming else None)

    def _note(
        self, event: ReadEvent, run: ReportedRun, time: int, one: Mention, hour: int | None
    ) -> None:
        # By RUNNING a stream reports that data went out: Spark by figures, Flink by a checkpoint.
        # RUNNING is all that connectors (Debezium, Kafka Connect) send, and some send it once.
        is_measured = one.has_statistics or event.has_checkpoint
        goes_on = event.is_streaming and event.event_type == "RUNNING"
        streamed_at = time if goes_on and (is_measured or event.is_connector) else None
        key = run.run_key, run.day, one.spelling_key, one.direction, one.facets_key, hour
        flags = int(goes_on and is_measured), int(one.has_statistics)
        noted = RunIoRow(*key, time, time, streamed_at, *flags, one.rows, one.size)
        known = self._io.get(key)
        self._io[key] = noted if known is None else _join(key, known, noted)

    def list_io(self) -> list[RunIoRow]:
        """Return what runs read and wrote."""
        return list(self._io.values())

    def list_checkpoints(self) -> list[Checkpoint]:
        """Return the first and the last checkpoint of each run and hour."""
        return [Checkpoint(*at, *span) for at, span in self._checkpoints.items()]


def _join(key: _Key, known: RunIoRow, noted: RunIoRow) -> RunIoRow:
    """Return one row for two events of the same run, dataset, direction, facets and hour."""
    return RunIoRow(
        *key,
        min(known.first_event_at, noted.first_event_at),
        max(known.last_event_at, noted.last_event_at),
        greater(known.streamed_at, noted.streamed_at),
        max(known.is_measured, noted.is_measured),
        max(known.has_statistics, noted.has_statistics),
        greater(known.rows, noted.rows),
        greater(known.bytes, noted.bytes),
    )


def _is_bare_checkpoint(event: ReadEvent) -> bool:
    """Return whether an event reports a checkpoint and names no dataset.

    With each checkpoint a stream has written its outputs and read its inputs. Flink 2 names the
    datasets of a job in its START only.
    """
    names_none = event.inputs == 0 and event.outputs == 0
    return event.has_checkpoint and names_none and event.event_type == "RUNNING"

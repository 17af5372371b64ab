"""Recorded runs of the shop's jobs, replayed as of another day.

What the listener once sent, with its lineage, plans and statistics untouched: only instants, run
ids, application ids and the shop's folder are others each time.
"""

import gzip
import json
import re
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

RECORDED = Path(__file__).with_name("recorded.jsonl.gz")
FOLDER = "/demo/shop"  # of the shop, in the recording
_UUID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_APPLICATION = re.compile(rb'"local-[0-9]+"')
_NAMES = uuid.UUID("6c696e65-7761-7264-8064-656d6f2e2e2e")


class Recording(msgspec.Struct, frozen=True):
    """Events in the order of their sending."""

    events: list[bytes]

    def of(self, jobs: Iterable[str]) -> "Recording":
        """Return the part that the applications of these names sent."""
        wanted = set(jobs)
        return Recording([event for event in self.events if _application(event) in wanted])

    def ending(self, at: datetime, shop: Path) -> Iterator[bytes]:
        """Yield the events as if the last one had been sent at this instant, in this folder.

        Run ids are made from the recorded ones and the instant: the same within a replay, others
        in each.
        """
        times = [_event_time(event) for event in self.events]
        shift = at - max(times)
        folder = json.dumps(str(shop))[1:-1].encode()
        application = f'"local-{int((min(times) + shift).timestamp() * 1000)}"'.encode()
        for event, time in zip(self.events, times, strict=True):
            moved = _with_time(event, time + shift).replace(FOLDER.encode(), folder)
            moved = _UUID.sub(lambda run: _run_id(run[0], at), moved)
            yield _APPLICATION.sub(application, moved)


def load() -> Recording:
    """Return the recording that is part of the demo."""
    with gzip.open(RECORDED) as file:
        return Recording(file.read().splitlines())


def daily(recording: Recording, *, last: datetime, days: int, shop: Path) -> Iterator[bytes]:
    """Yield one replay a day, as of nightly jobs: never at quite the same minute.

    Args:
        recording: of one night.
        last: when the newest of them ended.
        days: how many.
        shop: the folder.
    """
    for day in reversed(range(days)):
        late = timedelta(seconds=day * 97 % 400) if day else timedelta(0)
        yield from recording.ending(last - timedelta(days=day) + late, shop)


def write(events: Iterable[bytes], path: Path) -> int:
    """Write a line for each event; return how many."""
    count = 0
    with path.open("wb") as file:
        for event in events:
            file.write(event + b"\n")
            count += 1
    return count


class _Job(msgspec.Struct):
    name: str


class _Event(msgspec.Struct):
    eventTime: str  # noqa: N815 - OpenLineage's word
    job: _Job


_decode = msgspec.json.Decoder(_Event).decode


def _application(event: bytes) -> str:
    """Return the application's name, which the listener puts before the first dot."""
    return _decode(event).job.name.partition(".")[0]


def _event_time(event: bytes) -> datetime:
    return datetime.fromisoformat(_decode(event).eventTime)


def _with_time(event: bytes, at: datetime) -> bytes:
    recorded = f'"eventTime":"{_decode(event).eventTime}"'.encode()
    time = at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return event.replace(recorded, f'"eventTime":"{time}"'.encode(), 1)


def _run_id(recorded: bytes, at: datetime) -> bytes:
    return str(uuid.uuid5(_NAMES, f"{recorded.decode()} {at.isoformat()}")).encode()

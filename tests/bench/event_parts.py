"""CPU time of an event by the parts of reading and extraction, in Python alone.

Run by hand: `python -m tests.bench.event_parts [FILE]`. The file has one event a line, as JSON;
without it the events are made up. Each part is measured several times, and the least counts: other
work on the machine makes it longer, and nothing makes it shorter.
"""

import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
from rich.table import Table

from lineage.origins import HTTP
from lineage.process.clock import SECOND_MICROS, to_micros
from service.cli.terminal import console
from slis.made_up_events import make_events
from slis.spark.garbage_collection import no_search
from slis.stream.facts import extract_facts, extract_from_table
from slis.stream.log.spool_reader import record_batches
from slis.stream.reading import read_event
from slis.stream.reading.openlineage import Event
from slis.stream.staging.rows import staged_rows

_EVENTS: Final = 6_000
_TIMES: Final = 9
_START: Final = datetime(2026, 11, 27, tzinfo=UTC)
_APART: Final = timedelta(milliseconds=1)


def main(file: str = "") -> None:
    """Print what each part costs an event."""
    bodies = list(_bodies(file))
    table = Table("part", "µs of CPU an event")
    with no_search():
        for part, work in _parts(bodies):
            table.add_row(part, f"{_least_seconds(work) * SECOND_MICROS / len(bodies):.1f}")
    console().print(table)


def _bodies(file: str) -> Iterator[bytes]:
    if file:
        yield from Path(file).read_bytes().splitlines()
    else:
        made = make_events(_EVENTS, seed=5, start=_START, apart=_APART)
        yield from (body for _, body in made)


def _parts(bodies: list[bytes]) -> Iterator[tuple[str, Callable[[], object]]]:
    received_at, last_seq = to_micros(_START), len(bodies)
    rows = [(seq, received_at, HTTP, "run", body) for seq, body in enumerate(bodies, start=1)]
    log = pa.Table.from_batches(list(record_batches((*row, 0, last_seq) for row in rows)))
    read, facts = [read_event(*row) for row in rows], extract_from_table(log)
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Event)
    yield "decode the JSON", lambda: [decoder.decode(body) for body in bodies]
    yield "read the events, with that", lambda: [read_event(*row) for row in rows]
    yield "facts of events that are read", lambda: extract_facts(read)
    yield "facts of a table of the log, with all of that", lambda: extract_from_table(log)
    yield "rows to stage", lambda: staged_rows(facts)


def _least_seconds(work: Callable[[], object]) -> float:
    found = []
    for _ in range(_TIMES):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


if __name__ == "__main__":
    main(*sys.argv[1:])

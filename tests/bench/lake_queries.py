"""CPU time and memory of queries of the lake, for a day of made-up events.

Run by hand, `python -m tests.bench.lake_queries [EVENTS]`: writes the events to a lake on this
machine, compacts it, and queries a run, a dataset in the whole day, and a dataset in an hour, each
three times. It asserts nothing about the time.
"""

import itertools
import subprocess
import sys
import tempfile
import time
from collections import deque
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import pyarrow as pa

from lineage.catalog.engine import catalog_url, exclusive_transaction, migrate, open_catalog
from lineage.lake.storage import open_lake
from lineage.policy import DEFAULT
from lineage.process.clock import to_micros
from service.queries.lake.recalled import LakeQuestion
from service.queries.lake.runs import (
    DatasetWindow,
    dataset_runs_in_lake,
    run_in_lake,
)
from service.runtime.settings import Settings
from slis.lake import compaction
from slis.lake.batches import with_times, write_raw
from slis.lake.names import BATCH
from slis.lake.writer import LakeWriter
from slis.made_up_events import make_events
from slis.stream.log.spool_reader import SPOOL_COLUMNS
from slis.stream.merge.merge import advance_cursor

if TYPE_CHECKING:
    from collections.abc import Callable

_DAY: Final = datetime(2026, 9, 3, tzinfo=UTC)
_BATCH: Final = 25_000
_TRIES: Final = 3
_SECONDS: Final = 3_600.0
_WHOLE, _HOUR = ("2026-09-03", "2026-09-03"), ("2026-09-03T10:00:00Z", "2026-09-03T11:00:00Z")
_DATASET: Final = "/lake/domain_16/table_656"


def lay_day(folder: Path, count: int) -> None:
    """Write a day of events to a lake and its manifest, in batches as a backlog has them."""
    engine = open_catalog(catalog_url(folder))
    migrate(engine)
    writer = LakeWriter(engine, open_lake(folder), lambda: _DAY)
    made = make_events(count, seed=1, start=_DAY, apart=timedelta(days=1) / count)
    for first in range(0, count, _BATCH):
        chunk = list(itertools.islice(made, _BATCH))
        times = [to_micros(at) for at, _ in chunk]
        rows = [
            (first + number, at, "http", "run", body, 0, 0)
            for number, (at, (_, body)) in enumerate(zip(times, chunk, strict=True), start=1)
        ]
        table = pa.table([list(column) for column in zip(*rows, strict=True)], SPOOL_COLUMNS)
        with writer.folder(BATCH, first + 1, first + len(chunk)) as name:
            folders = write_raw(with_times(table, times), writer.lake, name)
            with exclusive_transaction(engine) as connection:
                writer.commit(connection, folders)
                advance_cursor(connection, first + len(chunk))
    while compaction.compact(writer, to_micros(_DAY)):
        pass
    engine.dispose()


def run_query(folder: Path, which: str) -> None:
    """Run one query in this process, and print its costs."""
    asked = LakeQuestion(Settings(data_dir=folder), DEFAULT, seconds=_SECONDS)
    questions: dict[str, Callable[[], object]] = {
        "run": lambda: run_in_lake(asked, _any_run(folder)).runs,
        "day": lambda: dataset_runs_in_lake(asked, DatasetWindow(_DATASET, "file", *_WHOLE)).runs,
        "hour": lambda: dataset_runs_in_lake(asked, DatasetWindow(_DATASET, "file", *_HOUR)).runs,
    }
    question = questions[which]
    began, cpu = time.monotonic(), time.process_time()
    found = question()
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    assert found
    sys.stdout.write(f"{which}: CPU {cpu:.1f} s, wall {seconds:.1f} s, most memory {_peak()}\n")


def _peak() -> str:
    """Return the most memory that this process had; `getrusage` would count its parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(line.split(":")[1].strip() for line in lines if line.startswith("VmHWM"))


def _any_run(folder: Path) -> str:
    """Return the id of a run of the middle of the day."""
    body = (folder / "run").read_text()
    return str(msgspec.json.decode(body)["run"]["runId"])


def main(count: int) -> None:
    """Print each query three times, each in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="lineward-lake-") as name:
        folder = Path(name)
        lay_day(folder, count)
        apart = timedelta(days=1) / count
        [(_, body)] = deque(make_events(count // 2, seed=1, start=_DAY, apart=apart), maxlen=1)
        (folder / "run").write_bytes(body)
        size = sum(file.stat().st_size for file in (folder / "lake").rglob("*.parquet"))
        sys.stdout.write(f"{count:,} events, {size / (1 << 20):.0f} MiB of Parquet\n")
        sys.stdout.flush()
        for which, _ in itertools.product(("run", "day", "hour"), range(_TRIES)):
            command = [sys.executable, "-m", "tests.bench.lake_queries", name, which]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        run_query(Path(sys.argv[1]), sys.argv[2])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)

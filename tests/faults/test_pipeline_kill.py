"""Check the pipeline's driver, killed with -9 at random, against an undisturbed run."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow.compute as pc
import pytest
from sqlalchemy import text

from collector.spool_file import open_spool as new_spool
from lineage.catalog.engine import catalog_url, open_catalog
from lineage.catalog.tables import metadata
from lineage.lake.reading import read_events
from lineage.process.clock import system_clock
from slis.made_up_events import fill_spool, make_events
from slis.stream.log.spool_reader import open_spool_to_read
from tests.faults.chance import draw
from tests.slis.lake.lakes import visible, writer_of
from tests.slis.ranked import marked, most_severe, ranked, ranks_due
from tests.suite.examples import is_long
from tests.suite.waiting import until

pytestmark = pytest.mark.faults

MAX_ROWS = 500 if is_long() else 10
# A driver lands one batch, and a few more until it is killed: the last one finds work too.
# Several small batches land between two looks at the cursor.
_BATCHES_A_LIFE = 4 if is_long() else 30
_ROOT = Path(__file__).resolve().parents[2]
_DEADLINE_SECONDS = 600
# All other tables are compared, each row of them.
_NOT_COMPARED = {
    "batch": "kills decide how events are cut into batches; their sum is compared",
    "meta": "the time of installation, and an epoch that is drawn by lot",
    "evaluation": "one row for each evaluation, by the clock",
    "lake_folder": "kills decide how events are cut into folders; their events are compared",
    "role_epoch": "one more with each start",
    "ingestion_gap": "no collector runs: the gap begins when the pipeline looks",
    "dataset_policy": "by the last evaluation, which may have come before the last dataset",
    "dataset_limit": "by the last evaluation that learned",
    "dataset_change": "what changed since the last evaluation",
    "dataset_judgement": "states at the time of an evaluation",
    "dataset_state": "states and ages at the time of an evaluation",
    "sli_now": "ratios at the time of an evaluation",
}
_OF_EVENTS = {"M5", "M6", "M9"}
# Of these what is counted once an event. The rest is seconds of the clock, or hours of landing.
_COUNTED_ONCE = {
    "sli_counter": lambda row: row["sli"] in _OF_EVENTS and (row["sli"], row["total"]),
    "sli_hour": lambda row: row["sli"] in {"M5", "M6"} and (row["sli"], row["hour"], row["total"]),
    "lag_bucket": lambda row: row["le"] != "sum" and tuple(row.values()),
}
_REJECTED = """
    INSERT INTO rejected (received_at, origin, reason, detail, body, body_bytes)
    VALUES (?, 'http', 'not_json', ?, x'7b', 1)
"""
_CLOCK = {
    "landed_at",
    "last_write_landed_at",
    "counted_at",
    "outcome",
    "learned_writes",
    "last_seq",
    # An evaluation writes where a dataset stands in the list, with its state and its policy.
    "state_rank",
    "tier_rank",
}


def _pipeline(
    folder: Path, max_rows: int = MAX_ROWS, evaluate_seconds: int = 3600
) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "LINEWARD_DATA_DIR": str(folder),
        "LINEWARD_PIPELINE_MAX_ROWS": str(max_rows),
        "LINEWARD_PIPELINE_EVALUATE_SECONDS": f"{evaluate_seconds}",
        "LINEWARD_PIPELINE_EVALUATE_AT_LEAST_SECONDS": f"{evaluate_seconds}",
        "PYTHONPATH": str(_ROOT),
    }
    log = (folder / "pipeline.log").open("ab")
    return subprocess.Popen(
        [sys.executable, "-m", "slis"], env=environment, stderr=log, start_new_session=True
    )


def _cursor(folder: Path) -> int:
    if not (folder / "catalog.db").exists():
        return 0
    catalog = open_catalog(catalog_url(folder))
    try:
        with catalog.connect() as connection:
            if not connection.dialect.has_table(connection, "reader_cursor"):
                return 0
            return connection.scalar(text("SELECT max(seq) FROM reader_cursor")) or 0
    finally:
        catalog.dispose()


def _wait(condition, process: subprocess.Popen[bytes], folder: Path) -> None:
    def log() -> str:
        return (folder / "pipeline.log").read_text()[-2000:]

    def holds() -> bool:
        assert process.poll() is None, f"the pipeline ended by itself:\n{log()}"
        return condition()

    until(holds, describe=log)


def _kill_after(seconds: float, process: subprocess.Popen[bytes], folder: Path) -> None:
    """Kill the driver so long after its first batch, or once it has done most of its batches.

    Its JVM is killed too, as an out-of-memory killer or a lost node does it.
    """
    before = _cursor(folder)
    _wait(lambda: _cursor(folder) > before, process, folder)
    over, most = time.monotonic() + seconds, before + MAX_ROWS * (_BATCHES_A_LIFE - 1)
    _wait(lambda: time.monotonic() >= over or _cursor(folder) >= most, process, folder)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    assert process.wait(_DEADLINE_SECONDS) == 0


def _contents(folder: Path) -> Iterator[tuple[str, list[str]]]:
    catalog = open_catalog(catalog_url(folder))
    with catalog.connect() as connection:
        for table in metadata.sorted_tables:
            columns = [column for column in table.c if column.name not in _CLOCK]
            if table.name not in _NOT_COMPARED:
                query = table.select().with_only_columns(*columns)
                counted = _COUNTED_ONCE.get(table.name, lambda row: tuple(row.values()))
                rows = (counted(dict(row)) for row in connection.execute(query).mappings())
                yield table.name, sorted(repr(row) for row in rows if row)
        events = "SELECT sum(events), sum(duplicates) FROM batch"
        yield "all batches", [repr(connection.execute(text(events)).one())]
    catalog.dispose()


def _is_evaluated(folder: Path, count: int) -> bool:
    """Return whether an evaluation, and the count of what was received, have seen all events."""
    counted = "SELECT position FROM received_cursor WHERE source = 'spool'"
    catalog = open_catalog(catalog_url(folder))
    with catalog.connect() as connection:
        seen = [
            connection.scalar(text(sql))
            for sql in ("SELECT max(last_seq) FROM evaluation", counted)
        ]
    catalog.dispose()
    return seen == [count, count]


def _check_ranks(folder: Path) -> None:
    """Check that lists are sorted as the last evaluation wrote, whichever was killed before."""
    catalog = open_catalog(catalog_url(folder))
    with catalog.connect() as connection:
        assert ranked(connection) == ranks_due(connection)
        assert marked(connection) == most_severe(connection) != {}
    catalog.dispose()


def _lake(folder: Path) -> list[tuple[int, bytes]]:
    catalog = open_catalog(catalog_url(folder))
    writer = writer_of(catalog, folder)
    table = read_events(writer.lake, visible(writer)).to_table(columns=["seq", "body"])
    catalog.dispose()
    table = table.take(pc.sort_indices(table["seq"]))
    return list(zip(table["seq"].to_pylist(), table["body"].to_pylist(), strict=True))


def _filled(folder: Path, count: int, start: datetime) -> Path:
    folder.mkdir()
    with closing(new_spool(folder / "spool.db", max_bytes=1 << 30)) as spool:
        spool.executemany(_REJECTED, [(0, f"{number}") for number in range(3)])
    fill_spool(
        folder / "spool.db",
        make_events(count, seed=5, start=start, apart=timedelta(milliseconds=10)),
    )
    return folder


def test_a_driver_killed_at_random_leaves_no_trace(tmp_path):
    """Kill the driver while events land: catalog and lake are those of an undisturbed run."""
    chance = draw()
    kills = int(os.environ.get("LINEWARD_DRIVER_KILLS", "2"))
    count = MAX_ROWS * _BATCHES_A_LIFE * (kills + 1)
    # Not so old that retention deletes events; their lag is at no bound of a bucket.
    start = system_clock() - timedelta(days=1, hours=1)
    disturbed, undisturbed = (
        _filled(tmp_path / name, count, start) for name in ("killed", "left_alone")
    )

    for _ in range(kills):
        # Anywhere in a batch: while Spark works, in the transaction, between the two commits.
        _kill_after(chance.uniform(0, 1.5), _pipeline(disturbed), disturbed)
        assert _cursor(disturbed) < count, "killed when the work was done: nothing was shown"
    # How events were cut into batches leaves no trace either: left alone, they are one.
    for folder, max_rows in ((disturbed, MAX_ROWS), (undisturbed, count)):
        process = _pipeline(folder, max_rows, evaluate_seconds=1)
        _wait(lambda folder=folder: _cursor(folder) == count, process, folder)
        _wait(lambda folder=folder: _is_evaluated(folder, count), process, folder)
        _stop(process)

    rows = dict(_contents(undisturbed))
    sys.stdout.write(f"{kills} kills; {sum(map(len, rows.values()))} rows compared\n")
    assert dict(_contents(disturbed)) == rows
    assert all(rows[name] for name in (*_COUNTED_ONCE, "received_cursor", "error_count"))
    _check_ranks(disturbed)
    found = _lake(disturbed)
    assert found == _lake(undisturbed)
    with open_spool_to_read(disturbed / "spool.db") as spool:
        assert found == spool.execute("SELECT seq, body FROM event ORDER BY seq").fetchall()

"""Output of `lineward status` while parts are missing."""

import re
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from collector.spool_file import open_spool
from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import BEHIND_SINCE, EVENTS_WAIT_SINCE
from lineage.catalog.reader import open_reader
from lineage.catalog.tables import log_position
from lineage.process.clock import from_micros, system_clock, to_micros
from service.exporter.events import stage_figures
from service.queries.status import SpoolStatus, load_status
from service.queries.timestamps import iso
from service.runtime.settings import Settings
from slis.meta import put_meta
from tests.service import shop
from tests.service.commandline import lineward


def test_a_spool_without_tables_is_no_spool_yet(tmp_path: Path):
    """Answer in the moment in which the collector has created the file and not its tables."""
    with closing(sqlite3.connect(tmp_path / "spool.db")) as begun:
        begun.execute("PRAGMA journal_mode=WAL")

    found = load_status(Settings(data_dir=tmp_path), system_clock())

    assert found.collector is None
    assert found.partial_reason == "no spool and no catalog yet"


@pytest.mark.postgres_nightly
@pytest.mark.parametrize(
    ("hours", "message"),
    [(-2, r"2 h( \d+ s)? ago: out of date; no"), (2, "ahead of this clock: out of date")],
)
def test_an_evaluation_in_the_past_or_future_is_reported(catalog, tmp_path: Path, hours, message):
    """Print it for a pipeline that stopped, and for one whose clock is ahead."""
    shop.fill(catalog, evaluated_at=system_clock() + timedelta(hours=hours))

    text = lineward("status", "--data-dir", str(tmp_path), catalog=catalog).stdout

    assert re.search(message, text)


@pytest.mark.parametrize("is_behind", [True, False])
def test_incidents_that_wait_for_a_backlog_are_reported(embedded, tmp_path: Path, is_behind):
    """Say since when; an evaluation that lacks the newest events alone lets nothing wait."""
    now = system_clock()
    shop.fill(embedded, evaluated_at=now)
    since = to_micros(now) if is_behind else 0
    with write_transaction(embedded) as connection:
        put_meta(connection, {BEHIND_SINCE: since, EVENTS_WAIT_SINCE: to_micros(now)})

    found = load_status(Settings(data_dir=tmp_path), now)
    text = lineward("status", "--data-dir", str(tmp_path), catalog=embedded).stdout

    at = iso(to_micros(now)) if is_behind else None
    assert (found.incidents_wait_since, found.events_wait_since) == (at, at)
    assert ("incidents: none opens or resolves since " in text) == is_behind


@pytest.mark.parametrize(
    ("seconds", "is_alive"),
    [(-3600, False), (-6, False), (-4, True), (0, True), (4, True), (6, False), (3600, False)],
)
def test_a_collector_is_alive_by_a_current_heartbeat(tmp_path: Path, seconds, is_alive):
    """Ignore a heartbeat of a clock that was ahead, as well as an old one."""
    now = system_clock()
    with closing(open_spool(tmp_path / "spool.db", 1 << 30)) as spool:
        heartbeat = to_micros(now + timedelta(seconds=seconds))
        spool.execute("INSERT INTO heartbeat VALUES (1, ?)", (heartbeat,))

    found = load_status(Settings(data_dir=tmp_path), now).collector

    assert found == SpoolStatus(iso(heartbeat), is_alive, last_seq=0, rejected=0)


def test_a_log_in_kafka_is_behind_by_its_own_offsets(embedded, tmp_path: Path):
    """Count offsets, as a spool on this machine has other numbers than the catalog."""
    with closing(open_spool(tmp_path / "spool.db", 1 << 30)) as spool:
        spool.execute("INSERT INTO sqlite_sequence VALUES ('event', 1000)")
    row = {"topic": "t", "windows": "{}"}
    ends = [(5, 7), (9, 9), (4, 20)]
    with write_transaction(embedded) as connection:
        rows = [
            {**row, "partition": number, "next_offset": at, "end_offset": end}
            for number, (at, end) in enumerate(ends)
        ]
        connection.execute(log_position.insert(), rows)
        put_meta(connection, {EVENTS_WAIT_SINCE: 7_000_000})
    settings = Settings(data_dir=tmp_path, log="kafka://b:9092/t")
    found = load_status(settings, system_clock())
    with open_reader(settings.catalog) as reader:
        [oldest] = stage_figures(reader, settings, from_micros(12_000_000))

    assert found.backlog_events == 18
    assert [sample.value for sample in oldest.samples] == [5.0]
    (tmp_path / "spool.db").unlink()
    assert load_status(settings, system_clock()).partial_reason is None


@pytest.mark.parametrize(("log", "is_printed"), [("spool", True), ("kafka://b:9092/t", False)])
def test_scaled_mode_has_no_line_about_up(embedded, tmp_path: Path, log, is_printed):
    """Leave it out: in scaled mode each role is a process of its own."""
    text = lineward(
        "status", "--data-dir", str(tmp_path), catalog=embedded, LINEWARD_LOG=log
    ).stdout

    assert "pipeline: " in text
    assert ("`lineward up` does not run" in text) == is_printed

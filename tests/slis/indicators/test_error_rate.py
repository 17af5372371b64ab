"""M9: each received event counts once, by outcome and by cause."""

import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, insert, text

from collector.spool_file import SCHEMA
from lineage import origins
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.process.clock import to_micros
from lineage.states import ERROR_RATE
from slis.indicators import error_rate
from slis.indicators.error_rate import count_received

pytestmark = pytest.mark.postgres_nightly

NOW = datetime.fromisoformat("2026-11-21T12:30:00+00:00")
_COUNTER = "SELECT tier, tier_origin, good, total, unknown FROM sli_counter WHERE sli = 'M9'"
_HOURS = "SELECT hour, good, total FROM sli_hour WHERE sli = 'M9' ORDER BY hour"
_CAUSES = "SELECT stage, cause, origin, events FROM error_count ORDER BY 1, 2, 3"


class Estate:
    """Spool with rejected events, and catalog with landed ones."""

    def __init__(self, spool: Path, catalog: Engine) -> None:
        self.spool, self.catalog, self.seq = spool, catalog, 0

    def reject(self, *reasons: str, origin: str = "http") -> None:
        """Store rejected bodies, one for each reason."""
        with closing(sqlite3.connect(self.spool)) as spool, spool:
            spool.executemany(
                "INSERT INTO rejected (received_at, origin, reason, detail, body, body_bytes)"
                " VALUES (?, ?, ?, '', '', 0)",
                [(to_micros(NOW), origin, reason) for reason in reasons],
            )

    def prune(self) -> None:
        """Forget every rejected body, as the collector does with the oldest."""
        with closing(sqlite3.connect(self.spool)) as spool, spool:
            spool.execute("DELETE FROM rejected")

    def land(self, events: int, *failed: str, history: int = 0) -> None:
        """Land a batch; `failed` are what its first events failed of."""
        at = to_micros(NOW)
        seqs = range(self.seq + 1, self.seq + 1 + len(failed))
        batch = {"query_id": "q", "batch_id": self.seq, "after_seq": self.seq, "landed_at": at}
        self.seq += events
        counts = {"events": events, "duplicates": 0, "history": history, "last_seq": self.seq}
        errors = [
            {"spool_seq": seq, "reason": reason, "detail": "", "landed_at": at}
            | {"is_history": history > 0}
            for seq, reason in zip(seqs, failed, strict=True)
        ]
        with write_transaction(self.catalog) as connection:
            connection.execute(insert(tables.batch), {**batch, **counts})
            if errors:
                connection.execute(insert(tables.pipeline_error), errors)

    def count(self) -> bool:
        """Count as the pipeline does every few seconds."""
        return count_received(self.catalog, self.spool, lambda: NOW)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Query the catalog."""
        with self.catalog.connect() as connection:
            return [tuple(row) for row in connection.execute(text(sql))]


@pytest.fixture
def estate(tmp_path: Path, catalog: Engine) -> Estate:
    """Create an empty spool, and an empty catalog of either kind."""
    with closing(sqlite3.connect(tmp_path / "spool.db")) as spool, spool:
        spool.executescript(SCHEMA)
    return Estate(tmp_path / "spool.db", catalog)


@pytest.mark.postgres_always
def test_rejected_and_failed_events_are_bad_and_counted_by_cause(estate):
    """Land ten, of which one failed, and reject two: 9 of 12 are good."""
    estate.land(10, "core_unreadable")
    estate.reject("not_json", "depth")

    assert estate.count()

    assert estate.rows(_COUNTER) == [("all", "default", 9.0, 12.0, 0.0)]
    hour = to_micros(NOW.replace(minute=0))
    assert estate.rows(_HOURS) == [(hour, 9.0, 12.0)]
    assert estate.rows(_CAUSES) == [
        ("collector", "depth", "live", 1),
        ("collector", "not_json", "live", 1),
        ("pipeline", "core_unreadable", "live", 1),
    ]


def test_nothing_received_is_no_sample(estate):
    """Return no row: neither 100 % nor 0 %."""
    assert not estate.count()

    assert estate.rows(_COUNTER) == []
    assert estate.rows(_HOURS) == []


def test_a_spool_that_cannot_be_read_counts_nothing_until_it_can(estate):
    """Leave the rate unknown without the rejected events; count landed ones later."""
    estate.land(10)
    estate.reject("depth")
    away = estate.spool.with_name("away.db")
    estate.spool.rename(away)

    assert not estate.count()
    assert estate.rows(_COUNTER) == []

    away.rename(estate.spool)
    assert estate.count()
    assert estate.rows(_COUNTER) == [("all", "default", 10.0, 11.0, 0.0)]


@pytest.mark.parametrize("origin", origins.OF_HISTORY)
def test_rejected_history_burns_no_budget(estate, origin):
    """Ignore it from any source: a file, or another Marquez."""
    estate.reject("depth", "not_json", origin=origin)
    estate.land(5)
    estate.count()

    assert estate.rows(_COUNTER) == [("all", "default", 5, 5, 0)]
    assert {row[2] for row in estate.rows(_CAUSES)} == {"history"}


def test_history_loads_are_counted_apart(estate):
    """Page nobody for a backfill of a thousand broken lines."""
    estate.land(10, "partly_unreadable", history=10)
    estate.reject("depth", origin="history")

    assert estate.count()

    assert estate.rows(_COUNTER) == []
    assert estate.rows(_CAUSES) == [
        ("collector", "depth", "history", 1),
        ("pipeline", "partly_unreadable", "history", 1),
    ]


def test_counting_again_adds_only_new_events(estate):
    """Count again, also in a new process: only what is new is added."""
    estate.land(10, "core_unreadable")
    estate.reject("depth")
    estate.count()
    before = estate.rows(_COUNTER), estate.rows(_HOURS), estate.rows(_CAUSES)

    assert not estate.count()
    assert (estate.rows(_COUNTER), estate.rows(_HOURS), estate.rows(_CAUSES)) == before

    estate.land(5)
    estate.count()
    assert estate.rows(_COUNTER) == [("all", "default", 14.0, 16.0, 0.0)]


def test_without_its_positions_it_would_count_twice(estate, monkeypatch):
    """Run the mutant of the test above: without stored positions every figure doubles."""
    monkeypatch.setattr(error_rate, "_move", lambda _connection, _positions: None)
    estate.land(10)

    estate.count()
    estate.count()

    assert estate.rows(_COUNTER) == [("all", "default", 20.0, 20.0, 0.0)]


def test_events_pruned_unseen_are_bad_without_a_cause(estate):
    """Count by number: ids have no holes, so a pruned flood is known."""
    estate.reject("depth")
    estate.count()
    estate.reject("depth", "depth", "not_json")
    estate.prune()
    estate.reject("not_json")

    estate.count()

    assert estate.rows(_COUNTER) == [("all", "default", 0.0, 5.0, 0.0)]
    assert estate.rows(_CAUSES) == [
        ("collector", "depth", "live", 1),
        ("collector", "not_json", "live", 1),
        ("collector", "pruned", "live", 3),
    ]


@pytest.mark.postgres_always
def test_pruning_counted_events_changes_no_counter(estate):
    """Keep the counters when rows go, in the spool and in the catalog."""
    estate.land(10, "core_unreadable")
    estate.reject("depth")
    estate.count()
    estate.prune()
    with write_transaction(estate.catalog) as connection:
        connection.execute(text("DELETE FROM pipeline_error"))

    assert not estate.count()
    assert estate.rows(_COUNTER) == [("all", "default", 9.0, 11.0, 0.0)]


def test_an_older_copy_of_the_spool_is_counted_from_its_end_on(estate):
    """Number again from where it stood: nothing of it is counted again."""
    estate.reject("depth", "depth", "depth")
    estate.count()
    with closing(sqlite3.connect(estate.spool)) as spool, spool:
        spool.execute("DELETE FROM rejected WHERE id = 3")
        spool.execute("UPDATE sqlite_sequence SET seq = 2 WHERE name = 'rejected'")
    estate.count()
    estate.reject("not_json")

    estate.count()

    assert estate.rows(_COUNTER) == [("all", "default", 0.0, 4.0, 0.0)]


@pytest.mark.postgres_always
def test_two_pipelines_add_one_count(estate, monkeypatch):
    """Add nothing in the second pipeline, which finds the positions moved."""
    estate.land(10)
    looked = error_rate.rejections_since

    def overtaken(*arguments: Any) -> Any:  # noqa: ANN401 - as the original
        monkeypatch.setattr(error_rate, "rejections_since", looked)
        estate.count()
        return looked(*arguments)

    monkeypatch.setattr(error_rate, "rejections_since", overtaken)
    estate.count()

    assert estate.rows(_COUNTER) == [("all", "default", 10.0, 10.0, 0.0)]


def test_the_objective_is_shown_with_the_rate():
    """Show M9 in `lineward slis` for all tiers, with an objective of 99.9 %."""
    assert (ERROR_RATE.tiers, str(ERROR_RATE.objective("all"))) == (("all",), "0.999")

"""Metrics of gaps, sizes, windows, stages and personal data."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Engine, insert, select, update

from collector.spool_file import SCHEMA
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import open_reader
from lineage.policy import DEFAULT
from lineage.policy.reading import parse_policy
from lineage.process.clock import to_micros
from lineage.states import TIERS
from service.exporter import metric_rows
from service.exporter.cached_metrics import CachedMetrics, size_figures
from service.exporter.datasets import pii_figures
from service.exporter.events import stage_figures
from service.exporter.incidents import window_figures
from service.exporter.metrics import CatalogCollector
from service.runtime.settings import Settings
from tests.service import shop
from tests.slis.lake.lakes import event_row, lay, writer_of

pytestmark = pytest.mark.postgres_nightly

NOW = shop.DAY + timedelta(hours=4)


def _samples(families):
    return {
        (one.name.removeprefix("lineage_"), *one.labels.values()): one.value
        for family in families
        for one in family.samples
    }


def _scrape(catalog: Engine) -> dict:
    registry = CollectorRegistry()
    url = catalog.url.render_as_string(hide_password=False)
    registry.register(CatalogCollector(Settings(catalog_url=url), lambda: datetime.now(UTC)))
    return _samples(text_string_to_metric_families(generate_latest(registry).decode()))


@pytest.fixture
def filled(catalog: Engine) -> Engine:
    """Return a catalog with the shop."""
    shop.fill(catalog)
    return catalog


def _collect(catalog: Engine, figures, *more: object):
    with open_reader(catalog.url.render_as_string(hide_password=False)) as reader:
        return _samples(figures(reader, *more))


def test_gaps_are_counted_by_tier_and_owner_from_0(filled):
    """Show 0 for a shop that is good or unknown, and not no series."""
    found = _scrape(filled)

    # Labels by name: owner before tier.
    assert [found["datasets_without_lineage", "", tier] for tier in TIERS] == [0, 0, 0]
    assert found["datasets_without_owner", "critical"] == 2
    assert found["datasets_without_owner", "optional"] == 0


@pytest.mark.postgres_always
def test_a_dataset_without_lineage_is_counted_for_its_owner(filled):
    """Count the datasets that are bad by coverage, for their owner."""
    state = tables.dataset_state
    core = (state.c.dataset_key == shop.dataset_key(shop.CORE)) & (state.c.sli == "M1")
    with write_transaction(filled) as connection:
        connection.execute(update(state).where(core).values(state="bad", reason="no_inputs"))

    assert _scrape(filled)["datasets_without_lineage", "sales", "critical"] == 1


def test_owners_beyond_the_bound_share_a_label(monkeypatch):
    """Bound the label, and add the counts of others."""
    monkeypatch.setattr(metric_rows, "MOST_OWNERS", 1)
    rows = [("critical", "ann", 9), ("critical", "bob", 5), ("critical", "cy", 4)]

    found = metric_rows._by_owner(rows)  # noqa: SLF001 - what bounds the label

    assert (found["critical", "ann"], found["critical", "(other)"]) == (9, 9)
    assert ("critical", "bob") not in found


def test_personal_data_is_counted_by_tag(filled):
    """Follow the policy's most specific rule; a tag with the value no neither adds nor removes."""
    policy = parse_policy(
        "datasets: [{match: 's3://shop/core/*', pii: true}, {match: 's3://*/mart/*', pii: true}]"
    )
    core, mart = (shop.dataset_key(name) for name in (shop.CORE, shop.MART))
    # A stranger's event that says no removes nothing.
    rows = [(core, "PII", "true"), (core, "pii", "false"), (mart, "pii", "false")]
    with write_transaction(filled) as connection:
        values = [{"dataset_key": k, "tag": t, "value": v, "last_seen_at": 1} for k, t, v in rows]
        connection.execute(insert(tables.tag), values)

    assert _collect(filled, pii_figures, policy) == {
        ("pii_datasets", "yes"): 1,
        ("pii_datasets", "no"): 1,
    }
    assert _collect(filled, pii_figures, DEFAULT) == {}


def test_catalog_and_lake_are_measured(filled, tmp_path: Path):
    """Read the size of the lake from its manifest."""
    url = filled.url.render_as_string(hide_password=False)
    settings = Settings(catalog_url=url, data_dir=tmp_path / "none")
    before = _collect(filled, size_figures, settings)
    folders = lay(writer_of(filled, tmp_path), event_row(1), event_row(2))

    after = _collect(filled, size_figures, settings)

    assert before["catalog_bytes",] > 10_000
    assert (before["lake_bytes",], before["lake_files",]) == (0, 0)
    assert (after["lake_bytes",], after["lake_files",]) == (folders[0].size, 1)


def test_active_windows_are_shown_by_name(filled):
    """Show windows of the policy and of people, and none that is planned."""
    begin, until = ((NOW + timedelta(hours=h)).isoformat() for h in (-1, 1))
    later = (NOW + timedelta(hours=9)).isoformat()
    window = f"{{name: reload, match: s3://*, from: {begin}, until: {until}}}"
    planned = f"{{name: later, match: s3://*, from: {until}, until: {later}}}"
    policy = parse_policy(f"suppressions: [{window}, {planned}]")

    assert _collect(filled, window_figures, policy, NOW) == {("suppression_active", "reload"): 1}
    assert _collect(filled, window_figures, DEFAULT, NOW) == {}


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    """Return a spool with ten landed events, received a minute before, and one that waits."""
    path = tmp_path / "spool.db"
    row = "INSERT INTO event (seq, body_hash, received_at, origin, kind, body) VALUES"
    with sqlite3.connect(path) as connection:
        connection.executescript(SCHEMA)
        for seq in range(1, 12):
            at = shop.at(3) - 60_000_000 if seq <= 10 else to_micros(NOW) - 5_000_000
            values = (seq, str(seq).encode(), at, "http", "run", b"{}")
            connection.execute(f"{row} (?, ?, ?, ?, ?, ?)", values)
    connection.close()
    return path


def test_each_stage_of_the_newest_batch_is_shown(filled, spool):
    """Show 30 s until it was received and a minute until it landed, and then the evaluation."""
    event = {"event_key": 1, "landed_at": shop.at(3), "last_seq": 10}
    flags = dict.fromkeys(("is_streaming", "is_history", "is_skewed"), False)
    with write_transaction(filled) as connection:
        sent = {"event_time": shop.at(3) - 90_000_000}
        connection.execute(insert(tables.event), {**event, **flags, **sent})
        connection.execute(update(tables.evaluation).values(as_of=shop.at(3) + 2_000_000))

    assert _collect(filled, stage_figures, Settings(data_dir=spool.parent), NOW) == {
        ("pipeline_backlog_oldest_seconds",): 5,
        ("batch_events",): 10,
        ("batch_seconds",): 60,
        ("stage_seconds", "received"): 30,
        ("stage_seconds", "landed"): 60,
        ("stage_seconds", "evaluated"): 3.5,
    }


def test_the_newest_evaluated_batch_is_shown(filled, spool):
    """Show the batch before a newer one that is not evaluated yet."""
    with write_transaction(filled) as connection:
        connection.execute(update(tables.evaluation).values(as_of=shop.at(3) + 2_000_000))
        (batch,) = connection.execute(select(tables.batch)).mappings().all()
        newer = {"batch_id": 99, "after_seq": 10, "last_seq": 11, "landed_at": shop.at(3.5)}
        connection.execute(insert(tables.batch), {**batch, **newer})

    assert (
        _collect(filled, stage_figures, Settings(data_dir=spool.parent), NOW)[
            "stage_seconds", "evaluated"
        ]
        == 3.5
    )


@pytest.mark.postgres_always
def test_unknown_stages_of_a_batch_are_absent(filled, spool, tmp_path: Path):
    """Show no stage without a spool, for a batch of history, and for deleted rows."""
    assert _collect(filled, stage_figures, Settings(data_dir=tmp_path / "none"), NOW) == {}
    with write_transaction(filled) as connection:
        connection.execute(update(tables.batch).values(history=10))
        connection.execute(update(tables.evaluation).values(as_of=shop.at(1)))
    names = _collect(filled, stage_figures, Settings(data_dir=spool.parent), NOW).keys()
    assert [name for name in names if name[0] == "stage_seconds"] == [("stage_seconds", "landed")]

    with sqlite3.connect(spool) as connection:
        connection.execute("DELETE FROM event")
    connection.close()
    assert _collect(filled, stage_figures, Settings(data_dir=spool.parent), NOW) == {
        ("pipeline_backlog_oldest_seconds",): 0,
        ("batch_events",): 10,
    }


def test_a_scrape_computes_no_slow_metric():
    """Return what the job computed last; none before its first run."""
    made = iter([[GaugeMetricFamily("first", "")], [GaugeMetricFamily("second", "")]])
    cached = CachedMetrics(lambda: next(made))

    shown = [cached.current()]
    for _ in range(2):
        cached.renew()
        shown += [cached.current(), cached.current()]

    assert [[each.name for each in families] for families in shown] == [
        [],
        *[["first"], ["first"]],
        *[["second"], ["second"]],
    ]


def test_slow_metrics_of_an_earlier_lead_are_dropped():
    """Show none until they are computed again."""
    cached = CachedMetrics(lambda: [GaugeMetricFamily("one", "")])
    cached.renew()
    cached.drop()

    assert cached.current() == []


def test_slow_metrics_that_cannot_be_computed_are_absent():
    """Drop those of before, which may be of another day; the job tries again."""
    cached = CachedMetrics(lambda: [GaugeMetricFamily("one", "")])
    cached.renew()
    cached._make = _broken
    with pytest.raises(OSError, match="broken"):
        cached.renew()

    assert cached.current() == []


def _broken():
    raise OSError("broken")

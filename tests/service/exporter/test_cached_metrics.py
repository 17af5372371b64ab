"""Metrics of the last days, on both kinds of catalog."""

from datetime import timedelta

import pytest
from sqlalchemy import Engine, insert, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import open_reader
from service.exporter import cached_metrics as module
from tests.service import shop

pytestmark = pytest.mark.postgres_nightly

NOW = shop.DAY + timedelta(hours=4)


def _samples(catalog: Engine, now=NOW):
    with open_reader(catalog.url.render_as_string(hide_password=False)) as reader:
        return {
            (one.name.removeprefix("lineage_"), *one.labels.values()): one.value
            for family in module.recent_figures(reader, now)
            for one in family.samples
        }


def _schema(key: int, number: int, hours: float):
    seen = {"first_seen_at": shop.at(hours), "last_seen_at": shop.at(hours)}
    return {"dataset_key": key, "schema_key": number, "fields": "[]", **seen}


def _write(key: int, run: str, hours: float, code: str | None):
    named = {"dataset_key": key, "root_run_id": run, "bucket": 0, "job_key": 1}
    flags = dict.fromkeys(("names_input", "is_reported"), True)
    flags |= dict.fromkeys(("is_streaming", "is_history"), False)
    at = {"written_at": shop.at(hours), "landed_at": shop.at(hours)}
    return {**named, **flags, **at, "job_namespace": "j", "job_name": "j", "code_version": code}


@pytest.fixture
def filled(catalog: Engine) -> Engine:
    """Return the shop: raw → core → mart, ref → core, without recent changes or failures."""
    shop.fill(catalog)
    return catalog


def test_a_second_schema_is_a_change_and_the_first_is_none(filled):
    """Show its newest time, and the downstream datasets by tier."""
    raw, ref = shop.dataset_key(shop.RAW), shop.dataset_key(shop.REF)
    rows = [_schema(raw, 1, 0), _schema(raw, 2, 1), _schema(raw, 3, 2), _schema(ref, 1, 2)]
    with write_transaction(filled) as connection:
        connection.execute(insert(tables.schema_version), rows)

    assert _samples(filled) == {
        ("recent_change_timestamp_seconds", shop.NAMESPACE, shop.RAW, "schema"): shop.at(2) / 1e6,
        ("dataset_consumers", shop.NAMESPACE, shop.RAW, "critical"): 1,
        ("dataset_consumers", shop.NAMESPACE, shop.RAW, "important"): 1,
        ("dataset_consumers", shop.NAMESPACE, shop.RAW, "optional"): 0,
    }


@pytest.mark.postgres_always
def test_other_code_is_a_change_when_it_writes_first(filled):
    """Count it at its first write, and not when it is first known; forget it after a week."""
    core, raw = shop.dataset_key(shop.CORE), shop.dataset_key(shop.RAW)
    old = [_write(core, "a", 0, "v1"), _write(core, "b", 1, "v2"), _write(core, "c", 2, "v2")]
    with write_transaction(filled) as connection:
        connection.execute(insert(tables.dataset_write), [*old, _write(raw, "a", 1, "v1")])

    change = ("recent_change_timestamp_seconds", shop.NAMESPACE, shop.CORE, "code")
    assert {name: at for name, at in _samples(filled).items() if name[0] == change[0]} == {
        change: shop.at(1) / 1e6
    }
    assert _samples(filled, NOW + timedelta(days=8)) == {}


def test_code_is_compared_with_that_of_a_week_ago(filled):
    """Ignore a version that was tried and reverted in between."""
    core, raw = shop.dataset_key(shop.CORE), shop.dataset_key(shop.RAW)
    week = -24 * 7 - 1
    tried = [(week, "v1"), (-3, "v2"), (-2, "v1")]
    changed = [(2 * week, "v0"), (week, "v1"), (-3, "v2"), (-2, "v2")]
    rows = [_write(core, str(hours), hours, code) for hours, code in tried]
    rows += [_write(raw, str(hours), hours, code) for hours, code in changed]
    with write_transaction(filled) as connection:
        connection.execute(insert(tables.dataset_write), rows)

    found = {name[2]: at for name, at in _samples(filled).items() if name[0].startswith("recent")}
    assert found == {shop.RAW: shop.at(-3) / 1e6}


@pytest.mark.postgres_always
def test_a_failed_run_is_shown_until_a_later_write(filled):
    """Show it by the job's name, with the datasets downstream of its output."""
    core = tables.dataset_activity.c.dataset_key == shop.dataset_key(shop.CORE)
    failed = {"last_failed_at": shop.at(2.5), "last_failed_run_id": shop.RUN_ID}
    with write_transaction(filled) as connection:
        connection.execute(update(tables.dataset_activity).where(core).values(**failed))

    found = _samples(filled)
    name = ("failed_run_timestamp_seconds", shop.NAMESPACE, shop.CORE, "jobs", "etl")
    assert found[name] == shop.at(2.5) / 1e6
    assert found["dataset_consumers", shop.NAMESPACE, shop.CORE, "important"] == 1

    with write_transaction(filled) as connection:
        later = update(tables.dataset_activity).where(core).values(last_written_at=shop.at(3))
        connection.execute(later)
    assert _samples(filled) == {}


def test_the_newest_are_listed_and_no_more(filled, monkeypatch):
    """Bound the series, however many datasets change in a week."""
    monkeypatch.setattr(module, "MOST_LISTED", 1)
    keys = [shop.dataset_key(name) for name in (shop.RAW, shop.CORE)]
    rows = [_schema(key, n, hours) for key, last in zip(keys, (2, 3), strict=True)
            for n, hours in ((1, 0), (2, last))]  # fmt: skip
    with write_transaction(filled) as connection:
        connection.execute(insert(tables.schema_version), rows)

    changed = [name[2] for name in _samples(filled) if name[0].startswith("recent")]
    assert changed == [shop.CORE]

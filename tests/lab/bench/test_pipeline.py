"""Measurements of a backlog by `lineward bench pipeline`, on both kinds of catalog."""

from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from lab.bench.pipeline import measure_backlog

_SCHEMAS = "SELECT count(*) FROM information_schema.schemata WHERE schema_name LIKE 'lineward%'"


def test_each_event_of_a_backlog_costs_time_and_bytes(tmp_path: Path):
    cost = measure_backlog(tmp_path / "backlog", None, 300, seed=1)

    assert cost.events == 300
    assert 0 < cost.merge_microseconds < cost.seconds / 300 * 1e6
    assert cost.cpu_microseconds > 0
    assert cost.catalog_bytes > 100  # of an event's names and times
    assert cost.server_cpu_microseconds is None
    assert cost.wal_bytes is None


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_a_backlog_on_postgresql_leaves_no_schema(tmp_path: Path, catalog: Engine):
    url = catalog.url.render_as_string(hide_password=False)

    cost = measure_backlog(tmp_path / "backlog", url, 3_000, seed=1)

    assert cost.catalog_bytes > 100
    assert cost.wal_bytes is not None
    assert cost.wal_bytes > cost.catalog_bytes / 2
    assert cost.server_cpu_microseconds is not None
    assert cost.server_cpu_microseconds > 0
    with catalog.connect() as connection:
        assert connection.scalar(text(_SCHEMAS)) == 0

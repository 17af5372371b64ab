"""Failing role, shown in each place."""

import json
import os
from datetime import timedelta

import pytest
from litestar.testing import TestClient
from prometheus_client import CollectorRegistry, generate_latest

from lineage.process.clock import system_clock, to_micros
from service.api.app import create_app
from service.exporter.metrics import CatalogCollector
from service.queries.roles import roles_of
from service.queries.timestamps import iso
from service.runtime.data_folder import UP_LOCK, hold_folder
from service.runtime.run_folder import STATUS
from service.runtime.settings import Settings
from tests.service import shop
from tests.service.commandline import lineward

_ERROR = "stream: Python worker failed to connect back"
_REPORTED = f"5 attempts, last error: {_ERROR}, see logs/pipeline.log"


@pytest.fixture
def settings(tmp_path, embedded):
    """Return the settings of a folder with an `up` whose pipeline fails since two minutes ago."""
    shop.fill(embedded)
    since = iso(to_micros(system_clock() - timedelta(seconds=125)))
    with hold_folder(tmp_path / UP_LOCK):
        _write(tmp_path, "failing", failing_since=since, attempts=5, error=_ERROR)
        yield Settings(data_dir=tmp_path)


def _write(folder, state, **more):  # noqa: ANN003 - fields of a role
    roles = [
        {"role": "collector", "state": "running", "pid": 6, "restarts": 0},
        {"role": "pipeline", "state": state, "pid": 7, "restarts": 2, **more},
    ]
    (folder / STATUS).write_text(json.dumps(roles))


@pytest.mark.usefixtures("settings")
def test_the_terminal_shows_it(tmp_path):
    text = lineward("status", "--data-dir", str(tmp_path)).stdout

    assert "pipeline: failing for 2 min" in text
    assert _REPORTED in text
    assert "│ pipeline  │ failing" in text


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("file", ["catalog.db", "spool.db"])
def test_the_terminal_shows_it_if_nothing_else_can_be_read(tmp_path, embedded, file):
    """Print it for a damaged file, when users look at the status."""
    embedded.dispose()
    (tmp_path / file).write_bytes(b"no database" * 1_000)

    done = lineward("status", "--data-dir", str(tmp_path))

    assert done.returncode == 1
    assert "pipeline: failing for 2 min" in done.stdout
    assert f"{tmp_path / file}" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_first_page_shows_it(settings):
    with TestClient(create_app(settings, system_clock), base_url="http://127.0.0.1") as client:
        page = client.get("/").text

    assert "pipeline: failing for 2 min" in page
    assert _REPORTED in page


def test_the_metrics_show_it(settings):
    registry = CollectorRegistry()
    registry.register(CatalogCollector(settings))
    shown = generate_latest(registry).decode()

    assert 'lineage_role_working{role="collector"} 1.0' in shown
    assert 'lineage_role_working{role="pipeline"} 0.0' in shown
    assert 'lineage_role_restarts_total{role="pipeline"} 2.0' in shown


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("minutes", [2, 90, -90])
def test_an_old_status_is_unknown(tmp_path, minutes):
    """Show `unknown` instead of `running` when the file is not written any more."""
    _write(tmp_path, "running")
    then = (system_clock() - timedelta(minutes=minutes)).timestamp()
    os.utime(tmp_path / STATUS, (then, then))

    assert {role.state for role in roles_of(tmp_path)[1]} == {"unknown"}
    text = lineward("status", "--data-dir", str(tmp_path)).stdout
    assert "pipeline: unknown: `lineward up` has not written run/status.json" in text


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize("content", ["", "[", '[{"role": "pipeline"}]', "null"])
def test_an_incomplete_status_is_ignored(tmp_path, content):
    (tmp_path / STATUS).write_text(content)

    assert roles_of(tmp_path) == (True, [])

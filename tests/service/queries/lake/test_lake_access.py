"""Answers from the lake by token: nothing that is hidden is named, and each access is audited."""

import pytest
from litestar.testing import TestClient
from sqlalchemy import text

from service.api.access.guard import Guard
from service.api.app import create_app
from tests.service.api.access.estate import immediate_policy
from tests.service.queries.lake.september import (
    FAILED,
    HIDDEN,
    LOADED,
    NOW,
    PAID,
    SECRET,
    TOKENS,
    Installation,
    fill,
)

pytestmark = pytest.mark.postgres_nightly
_RUNS = "/api/v1/lake/runs?dataset={}&dataset_namespace={}&from=2026-09-03&to=2026-09-03"
_CORE, _SALARIES = _RUNS.format("core", "n"), _RUNS.format("salaries", HIDDEN)


@pytest.fixture
def installed(catalog, tmp_path):
    """Return an installation whose catalog has deleted September."""
    installed = fill(Installation(catalog, tmp_path))
    installed.forget()
    return installed


@pytest.fixture
def get(installed):
    """Return what asks the guarded API as the bearer of a token."""
    guard = Guard(installed.guarded, lambda: NOW, immediate_policy(installed.guarded.policy))
    app = create_app(installed.guarded, clock=lambda: NOW, guard=guard)
    client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)

    def ask(path, who=None):
        headers = {} if who is None else {"Authorization": f"Bearer {TOKENS[who]}"}
        return client.get(path, headers=headers)

    return ask


def _audit(installed):
    with installed.catalog.connect() as connection:
        query = text(
            "SELECT who, action, subject, namespaces, decision FROM access_audit ORDER BY id"
        )
        return [tuple(row) for row in connection.execute(query)]


def test_without_a_token_the_lake_is_closed(get):
    """Reject both questions, as every other one."""
    assert get(f"/api/v1/lake/runs/{LOADED}").status_code == 401
    assert get(_CORE).status_code == 401


def test_a_run_of_a_hidden_dataset_and_the_dataset_have_no_name(get):
    """Name both to who may see all, and the number of hidden datasets to others."""
    whole, cut = (get(f"/api/v1/lake/runs/{PAID}", who) for who in ("boss", "team"))

    assert HIDDEN in whole.text
    assert HIDDEN not in cut.text
    assert "salaries" not in cut.text
    [run] = cut.json()["runs"]
    assert (run["job_name"], run["hidden_datasets"]) == (None, 1)
    assert [io["dataset"] for io in run["datasets"]] == ["raw", "core"]


def test_the_runs_of_a_dataset_name_nothing_that_is_hidden(get):
    """Leave out hidden datasets, and texts of events, which may name anything."""
    whole, cut = (get(_CORE, who) for who in ("boss", "team"))

    assert HIDDEN in whole.text
    assert HIDDEN not in cut.text
    assert SECRET not in whole.text + cut.text
    assert [run["run_id"] for run in cut.json()["runs"]] == [
        run["run_id"] for run in whole.json()["runs"]
    ]
    failed = next(run for run in cut.json()["runs"] if run["run_id"] == FAILED)
    assert failed["error_message"] is None


def test_a_hidden_dataset_is_rejected(get):
    """Answer 403 by its namespace, whatever the lake has of it."""
    assert get(_SALARIES, "team").status_code == 403
    assert get(_SALARIES, "boss").status_code == 200


def test_each_access_is_audited_with_its_namespaces(get, installed):
    """Write who asked for what, and which namespaces the answer held."""
    get(f"/api/v1/lake/runs/{PAID}", "boss")
    get(_CORE, "team")

    assert _audit(installed) == [
        ("boss", "run", f"run_id={PAID}", f'["n","{HIDDEN}"]', "allow"),
        ("team", "run", "dataset=core dataset_namespace=n", '["n"]', "allow"),
    ]

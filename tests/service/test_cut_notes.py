"""Note on standard error of commands whose answer is cut, beside tables and JSON."""

import json

import pytest
from typer.testing import CliRunner

from service.cli.main import app
from tests.service import shop
from tests.service.api_lists import add_runs
from tests.service.explorer import estate

_RUNS = ("queries.run_snapshot.MOST_RUNS_OF_ROOT", "queries.diff.MOST_RUNS_OF_ROOT")


@pytest.fixture
def lineward(embedded, monkeypatch):
    """Return a function that runs a command in this process, on a shop with two root runs."""
    estate.fill(embedded)
    add_runs(embedded, [1])
    url = embedded.url.render_as_string(hide_password=False)
    monkeypatch.setenv("LINEWARD_CATALOG_URL", url)
    return lambda *arguments: CliRunner().invoke(app, arguments)


@pytest.mark.parametrize(
    ("arguments", "bounds", "says"),
    [
        (
            ("lineage", shop.MART, "--depth", "1"),
            {},
            "incomplete: upstream: there are more beyond depth 1",
        ),
        (
            ("lineage", shop.RAW, "--at", "2026-11-19T03:00:00Z"),
            {},
            "incomplete: no data for that time: no events have been observed yet",
        ),
        (
            ("impact", shop.RAW),
            {"queries.walk.MOST_NODES": 2},
            "incomplete: more than 2 datasets",
        ),
        (("runs", shop.CORE, "--limit", "1"), {}, "1 shown; older ones exist"),
        (
            ("history", shop.CORE, "--limit", "1"),
            {},
            "only the newest 1 of these are shown: schemas, writes",
        ),
        (
            ("diff", estate.EARLIER_RUN, estate.ROOT_RUN),
            dict.fromkeys(_RUNS, 1),
            "only 1 runs of a root are compared",
        ),
        (("incidents", "--limit", "1"), {}, "1 of 8 shown"),
        (
            ("incidents", estate.INCIDENT),
            {"queries.incident.MOST_MEMBERS": 1},
            "the first 1 datasets are listed",
        ),
    ],
)
def test_a_cut_answer_is_noted(lineward, monkeypatch, arguments, bounds, says):
    """Print one JSON document to standard output."""
    for name, most in bounds.items():
        monkeypatch.setattr(f"service.{name}", most)

    drawn, as_json = lineward(*arguments), lineward(*arguments, "--json")

    assert (drawn.stderr, as_json.stderr) == (f"lineward: {says}\n",) * 2
    assert json.loads(as_json.stdout)["partial_reason"] in says


@pytest.mark.parametrize(
    "arguments", [("lineage", shop.CORE), ("impact", shop.RAW), ("runs", shop.CORE), ("incidents",)]
)
def test_a_complete_answer_has_no_note(lineward, arguments):
    """Print nothing to standard error."""
    assert lineward(*arguments).stderr == ""

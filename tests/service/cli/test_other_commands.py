import json
from pathlib import Path

import pytest

from lab.commands.bench import figures_table, tables
from lineage.policy import parse_policy
from service.cli.commands.command_table import COMMANDS
from service.cli.terminal import console
from tests.service import shop
from tests.service.api_lists import add_runs
from tests.service.commandline import answer, lineward

pytestmark = pytest.mark.postgres_nightly


def test_help_names_every_command_with_one_line():
    """Import every command, and describe it."""
    shown = lineward("--help", COLUMNS="120").stdout

    rows = [line for line in shown.splitlines() if line.startswith("│ ")]
    assert len([row for row in rows if "│ --" not in row]) == len(COMMANDS)
    assert "Run collector, pipeline and service until Ctrl-C" in shown


def test_an_unknown_command_is_wrong_usage():
    """Exit code 2, as for every wrong option."""
    assert lineward("slos").returncode == 2


def test_a_setting_out_of_range_names_its_variable(tmp_path: Path):
    """Start nothing with an invalid port."""
    done = lineward("up", "--data-dir", str(tmp_path), LINEWARD_SERVICE_PORT="70000")

    assert done.returncode == 2
    assert "LINEWARD_SERVICE_PORT" in done.stderr


def test_a_policy_is_checked_before_it_is_used(tmp_path: Path):
    """Exit with 0 and the hash, or with 6, the line and the path."""
    file = tmp_path / "lineward.yaml"
    file.write_text("owners:\n  - name: sales\n")
    right = lineward("policy", "check", str(file), "--json")
    file.write_text("owners:\n  - name: 7\n")
    wrong = lineward("policy", "check", str(file))

    assert right.returncode == 0
    assert json.loads(right.stdout)["valid"] is True
    assert wrong.returncode == 6
    assert "lineward.yaml:2" in wrong.stderr


def test_policy_check_names_rules_without_effect(tmp_path: Path):
    """Name a rule that Lineward accepts and does not apply."""
    file = tmp_path / "lineward.yaml"
    file.write_text("datasets:\n  - {match: x/*, pii: true}\n")

    checked = lineward("policy", "check", str(file)).stdout
    assert "datasets[].pii: accepted; this version only exports a metric for it" in checked
    text = lineward("policy", "check", str(file), "--json")
    assert json.loads(text.stdout)["not_in_force"] == ["datasets[].pii"]


def test_policy_check_names_owners_without_a_channel(tmp_path: Path):
    """Accept owners without channels, and a policy without a platform owner."""
    file = tmp_path / "lineward.yaml"
    file.write_text("owners:\n  - {name: shop}\n")

    assert "owners[0]: 'shop' has no slack" in lineward("policy", "check", str(file)).stdout
    operators = {"LINEWARD_ALERTS_PLATFORM": "operators"}
    text = json.loads(lineward("policy", "check", str(file), "--json", **operators).stdout)
    assert [each.split(" (")[0] for each in text["unreachable"]] == [
        "owners: no owner is named 'operators'",
        (
            "owners[0]: 'shop' has no slack, pagerduty_key_file or notify: its incidents go to"
            " LINEWARD_DELIVERY_FALLBACK; if it is not set, no person is notified"
        ),
    ]


def test_policy_check_names_channels_of_no_type(tmp_path: Path):
    """Name an entry that no type of channel knows: nobody would be notified through it."""
    file = tmp_path / "lineward.yaml"
    file.write_text("owners:\n  - {name: shop, notify: ['pigeon:shop', 'json://h/x']}\n")

    checked = lineward("policy", "check", str(file)).stdout
    assert "notify: no type of channel knows 'pigeon:shop'" in checked
    assert json.loads(lineward("policy", "check", str(file), "--json").stdout)["unclaimed"] == [
        "pigeon:shop"
    ]


def test_policy_check_asks_for_the_last_line(tmp_path: Path):
    """Name the missing line `...`, without which the removal of a token may be rejected.

    Mutant: a check that finds the line in every file prints nothing.
    """
    file = tmp_path / "lineward.yaml"
    shown = []
    for text in ("retention_days: 7\n", "retention_days: 7\n...  # the end\n"):
        file.write_text(text)
        read = json.loads(lineward("policy", "check", str(file), "--json").stdout)
        checked = lineward("policy", "check", str(file)).stdout
        shown.append((read["has_last_line"], "does not end with the line `...`" in checked))

    assert shown == [(False, True), (True, False)]


def test_a_suggested_policy_is_valid(catalog):
    """Suggest YAML that `policy check` accepts."""
    shop.fill(catalog)

    done = lineward("policy", "suggest", catalog=catalog)

    assert done.returncode == 0, done.stderr
    assert parse_policy(done.stdout)


def test_a_figure_stands_beside_its_budget():
    """Show `budget_warm_seconds` beside `warm_seconds`, and no budget for others."""
    shown = figures_table({"datasets": 7, "warm_seconds": 2.5, "budget_warm_seconds": 8.0})

    cells = list(zip(*(column.cells for column in shown.columns), strict=True))
    assert [tuple(map(str, row)) for row in cells] == [
        ("datasets", "7", ""),
        ("warm_seconds", "2.5", "8"),
    ]
    assert console().width == 200


def test_rows_of_figures_are_a_table_of_their_own():
    """Show a sweep over sizes as a grid beside single figures."""
    alone, sweep = tables({"events": 7, "sizes": [{"events": 10, "seconds": 0.5}]})

    assert [str(column.header) for column in alone.columns] == ["figure", "measured", "budget"]
    assert [str(column.header) for column in sweep.columns] == ["events", "seconds"]
    assert [str(cell) for column in sweep.columns for cell in column.cells] == ["10", "0.5"]


def test_runs_lists_the_newest_of_a_dataset(catalog):
    """Print a line with direction, end and duration, and the same JSON as the API."""
    shop.fill(catalog)
    add_runs(catalog, [1])

    found = answer("runs", "core/orders", catalog=catalog)
    shown = lineward("runs", "core/orders", "--limit", "1", catalog=catalog)

    assert [run["run_id"] for run in found["runs"]] == [shop.RUN_ID, "run-1"]
    assert (shop.RUN_ID in shown.stdout, "run-1" in shown.stdout) == (True, False)
    assert (shown.returncode, shown.stderr) == (0, "lineward: 1 shown; older ones exist\n")

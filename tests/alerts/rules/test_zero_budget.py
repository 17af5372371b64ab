from decimal import Decimal
from pathlib import Path

import pytest

from alerts.rules.budgets import Budget
from lineage.states import COVERAGE
from tests.alerts.rules.promtool import At, ExpectedAlert, alert_differences, budget, only, rules_of
from tests.alerts.rules.series import burning, counted, healthy

ACCESS = ("unauthorized_access", "all")
LABELS = {
    "sli": "unauthorized_access",
    "tier": "all",
    "area": "access",
    "owner": "platform",
    "severity": "page",
}


def access_page(count: int, since: str = "now") -> ExpectedAlert:
    """Return the page for so many accesses."""
    return ExpectedAlert(
        "UnauthorizedAccess",
        LABELS,
        f"The API allowed accesses against the policy, or did not audit them: {count}",
        f"The API allowed accesses against the policy, or did not audit them: {count} in the last"
        " 1h. The objective is 1: there is no error budget, so each one alerts. Firing since"
        f" {since}. Inform security now. `lineward runbook UnauthorizedAccess` prints how to find"
        " the accesses.",
    )


def access() -> str:
    """Return the rules of one budget."""
    return only(budget(*ACCESS), named=("lineward-burn",))


def test_one_unauthorized_access_pages_at_once_and_for_an_hour(tmp_path: Path):
    """Page for one of thousands of accesses, and fire no other alert in that minute."""
    series = healthy(95)
    series[counted("good", *ACCESS)] = "0+600x25 15599+600x70"
    page = access_page(1)
    later = access_page(1, "1970-01-01 00:26:00 +0000 UTC")
    names = ("UnauthorizedAccess",)

    assert alert_differences(tmp_path, rules_of(), series, At(25), At(26, (page,))) == ""
    assert (
        alert_differences(tmp_path, access(), series, At(85, (later,), names), At(87, (), names))
        == ""
    )


def test_the_first_access_of_all_may_be_an_unauthorized_one(tmp_path: Path):
    """Page although the counters begin with this access and never rose."""
    series = {
        counted("total", *ACCESS): "_x70 1+600x20",
        counted("good", *ACCESS): "_x70 0+600x20",
    }

    assert alert_differences(tmp_path, access(), series, At(69), At(70, (access_page(1),))) == ""


def test_old_accesses_do_not_alert_again(tmp_path: Path):
    """Ignore them when a restored catalog begins a new epoch, or the service moved."""
    old = {counted("total", *ACCESS): "90+6x80 stale", counted("good", *ACCESS): "80+6x80 stale"}
    new = {
        counted("total", *ACCESS, epoch="e2"): "_x81 300+6x60",
        counted("good", *ACCESS, epoch="e2"): "_x81 290+6x60",
    }
    moved = {
        name.replace("}", ',instance="b:8702"}'): f"_x85{values[4:]}"
        for name, values in new.items()
    }

    assert (
        alert_differences(tmp_path, access(), {**old, **new, **moved}, At(79), At(83), At(100))
        == ""
    )


@pytest.mark.parametrize("first", [0, 7])
def test_an_access_in_an_open_incident_does_not_alert(tmp_path: Path, first: int):
    """Subtract what the incident explains.

    Mutant: without the subtraction, both would page.
    """
    series = {
        counted("total", *ACCESS): "0+6x140",
        counted("good", *ACCESS): "0+6x70 425+6x70",
        counted("explained", *ACCESS): f"{first}x70 {first + 1}x70",
    }
    rules = access()

    assert alert_differences(tmp_path, rules, series, At(70), At(71), At(90)) == ""
    mutant = rules.replace("lineage_sli_explained_total", "lineage_of_no_such_name")
    assert "UnauthorizedAccess" in alert_differences(tmp_path, mutant, series, At(71))


def test_another_objective_of_1_pages_for_unexplained_bad_time(tmp_path: Path):
    """Page after five minutes, in which an incident would open and explain the time."""
    rules = only(Budget(COVERAGE, "critical", Decimal(1)), named=("lineward-burn",))
    series = burning("coverage", "critical", (60, 0), (20, 0.1))
    page = ExpectedAlert(
        "ObjectiveBroken",
        {**LABELS, "sli": "coverage", "tier": "critical", "area": "datasets"},
        "coverage (critical): 10% bad, and the objective allows none",
        "10% of the dataset-seconds of coverage (critical) were bad in the last 5m, for 5m or"
        " longer, and no open incident explains them. The objective is 1: there is no error budget."
        " Bad since"
        " 1970-01-01 01:01:00 +0000 UTC. `lineward datasets --state bad` lists the bad datasets"
        " with their reasons.",
    )
    explained = burning("coverage", "critical", (60, 0), (20, 0.1), explained=True)

    assert alert_differences(tmp_path, rules, series, At(65), At(66, (page,))) == ""
    assert alert_differences(tmp_path, rules, explained, At(66), At(79)) == ""

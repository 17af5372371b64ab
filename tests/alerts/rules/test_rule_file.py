import subprocess
from pathlib import Path

import pytest
import yaml

from alerts.rules.rule_file import AlertOwners, alert_names, describe_unrendered, rule_file
from alerts.rules.service_alerts import ScrapeJobs
from lineage.policy import DEFAULT, Policy, parse_policy
from tests.alerts.rules.promtool import asked, asked_at_once, budget, only
from tests.alerts.rules.series import burning, healthy

STRANGE = 'a "b" \\ {{ printf "c" }} \'d\': #é\t'
SLIS = [
    *[("coverage", "LineageCoverageBurn"), ("freshness", "DatasetFreshnessBurn")],
    *[("node_completeness", "NodeCompletenessBurn"), ("accuracy", "LineageAccuracyBurn")],
    *[("edge_completeness", "EdgeCompletenessBurn"), ("query_latency", "QueryLatencyBurn")],
    *[("missing_provenance", "LineageProvenanceBurn"), ("ingestion_lag", "IngestionLagBurn")],
    *[("impact_analysis", "ImpactAnalysisBurn"), ("error_rate", "LineageErrorRateBurn")],
]
_REGULATED, _ALL = ("regulated",), ("all",)
PAGED = {
    "node_completeness": _REGULATED,
    "edge_completeness": _REGULATED,
    **dict.fromkeys(("query_latency", "ingestion_lag", "impact_analysis", "error_rate"), _ALL),
}


def rendered(policy: Policy = DEFAULT, platform: str = "platform") -> str:
    """Return the file for one owner of all."""
    people = AlertOwners(platform=platform, engineering=platform)
    return rule_file(
        policy, people=people, jobs=ScrapeJobs(STRANGE), runbooks=f"https://l/{STRANGE}"
    )


def test_promtool_accepts_any_names_of_owners_and_jobs(tmp_path: Path):
    """Quote names in YAML and PromQL, and treat none as a template."""
    (tmp_path / "rules.yml").write_text(rendered(platform=STRANGE), encoding="utf-8")
    check = ["promtool", "check", "rules", "--lint=all", "--lint-fatal", "rules.yml"]
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_a_name_reaches_the_alert_as_it_is(tmp_path: Path):
    """Pass the name through YAML and Prometheus' templates of labels."""
    owner = STRANGE.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    query = 'count by (owner) (ALERTS{alertname="LineageCollectorDown",alertstate="firing"})'
    series = healthy(10, lineage_collector_alive="0x10")

    row = f'{{owner="{owner}"}} 1'
    assert asked(tmp_path, rendered(platform=STRANGE), series, 5, query, row) == ""


def test_the_same_policy_is_the_same_bytes():
    """Render the same text twice, so that the file can be kept under version control."""
    assert rendered() == rendered()
    assert yaml.safe_load(rendered())["groups"]


@pytest.mark.parametrize(("sli", "name"), SLIS)
def test_the_burn_of_each_sli_pages_for_each_tier_that_it_can(tmp_path: Path, sli: str, name: str):
    """List both windows in one alert while all is bad, for 130 minutes; none while all is good."""
    tiers = PAGED.get(sli, ("critical",))
    series: dict[str, str] = {}
    for tier in tiers:
        series |= burning(sli, tier, (60, 0), (135, 1))
    firing = 'count by (alertname, tier) (ALERTS{alertstate="firing",severity="page",sli!=""})'
    rows = [f'{{alertname="{name}",tier="{tier}"}} 1' for tier in tiers]
    rate = 'count by (tier) (sli_tier_window:lineage_error_budget_burn:rate{severity="page"})'
    windows = [f'{{tier="{tier}"}} 2' for tier in tiers]

    rules = only(*(budget(sli, tier) for tier in tiers), named=("lineward-burn",))
    queries = [(60, firing, ()), (190, firing, rows), (190, rate, windows)]
    assert asked_at_once(tmp_path, rules, series, *queries) == ""


def test_rules_that_could_never_fire_are_left_out_and_explained():
    """Replace the burn by an alert on the used budget: 14.4 times 10 % is more than all."""
    rules = [rule for group in yaml.safe_load(rendered())["groups"] for rule in group["rules"]]
    windows = {
        (labels["severity"], labels["window"])
        for rule in rules
        if (labels := rule.get("labels", {})).get("sli") == "freshness"
        and "window" in labels
        and labels["tier"] == "optional"
    }
    exhausted = {
        (rule["labels"]["sli"], rule["labels"]["tier"])
        for rule in rules
        if rule.get("alert") == "ErrorBudgetExhausted"
    }

    assert windows == {("page", "6h"), ("ticket", "1d"), ("ticket", "3d")}
    never = {("coverage", "important"), ("coverage", "optional"), ("freshness", "optional")}
    assert exhausted == never
    assert describe_unrendered(DEFAULT)[2] == (
        "freshness (optional): not rendered: page 14.4x over 1h. The objective 0.90 allows 10% to"
        " be bad: these alerts could never fire. ErrorBudgetExhausted fires when the budget is used"
        " up"
    )


def test_an_objective_is_shown_as_a_person_wrote_it():
    """Show the budget of 0.9995 as 0.0005, without binary fractions."""
    policy = parse_policy("objectives: {freshness: {critical: 0.9995}}")

    text = rendered(policy)
    assert 'ratio_rate1h{sli="freshness",tier="critical"} / 0.0005 > 14.4' in text
    assert "The objective of 0.9995 allows 0.05% to be bad." in text


def test_every_alert_has_its_texts_labels_and_runbook():
    """Set severity and owner on every alert but the Watchdog."""
    rules = [rule for group in yaml.safe_load(rendered())["groups"] for rule in group["rules"]]
    alerts = [rule for rule in rules if "alert" in rule]
    names = {rule["alert"] for rule in alerts}

    assert names <= set(alert_names())
    assert set(alert_names()) - names == {"ObjectiveBroken"}
    for rule in alerts:
        assert set(rule["annotations"]) == {"summary", "description", "runbook_url"}
        assert rule["annotations"]["runbook_url"].endswith(f"/{rule['alert']}")
        is_series_owner = rule["alert"].startswith("LinewardIncident")
        if rule["alert"] != "Watchdog":
            assert {"severity", "owner"} - {*rule["labels"]} == (
                {"owner"} if is_series_owner else set()
            )

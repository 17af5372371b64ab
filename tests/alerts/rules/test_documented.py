import re
import subprocess
from pathlib import Path

from alerts.rules.rule_file import alert_names, describe_unrendered
from alerts.rules.service_alert_table import SERVICE_ALERTS
from lineage.policy import DEFAULT
from runbooks.library import page_markdown
from tests.alerts.rules.alertmanagers import hasty, listening, running
from tests.alerts.rules.promtool import rules_of
from tests.suite.waiting import until

SERVICE_PATH = "/api/v1/alertmanager"
DOCUMENT = (Path(__file__).resolve().parents[3] / "docs" / "alerting.md").read_text("utf-8")


def test_every_alert_is_in_the_table_and_no_other():
    """Compare name, condition, severity and recipient."""
    _, table = DOCUMENT.split("## The alerts")
    names = re.findall(r"(?m)^\| `(\w+)` \|", table)

    assert sorted(names) == alert_names()


def test_alerts_without_a_series_in_scaled_mode_say_so():
    """Find the note on each alert that needs `lineward up`, or the spool beside the service."""
    local = re.compile(r"lineage_role_working|lineage_collector_alive")
    own = {row.name for row in SERVICE_ALERTS if local.search(row.expr)}
    noted = re.findall(r"(?m)^\| `(\w+)` \|.*Cannot fire in scaled mode", DOCUMENT)

    assert set(noted) == own
    for name in own:
        assert "cannot fire" in page_markdown(name)


def test_each_alert_that_goes_outside_is_listed():
    """Compare the table of alerts, and the table of what goes outside, with the rules."""
    own = {row.name for row in SERVICE_ALERTS if row.is_outside} | {"LinewardScrapeDown"}
    _, _, section = DOCUMENT.partition("## What goes outside")
    faults = section.partition("\n## ")[0]

    assert set(re.findall(r"(?m)^\| `(\w+)` \|.*outside \|$", DOCUMENT)) == own
    assert own <= set(re.findall(r"`(\w+)`", faults))


def test_unrendered_alerts_are_documented_as_the_command_prints_them():
    """Compare with the usual objectives, word by word."""
    assert "\n".join(describe_unrendered(DEFAULT)) in DOCUMENT


def test_the_first_example_works_as_pasted(tmp_path: Path):
    """Render what reaches Lineward at once: a new install has no token.

    Mutant: with the file of a token that nobody created, Alertmanager makes no call.
    """
    _, block, *_ = DOCUMENT.split("```\n")
    with listening() as (url, received):
        pasted = block.replace("https://lineward.example", url)
        done = subprocess.run(
            ["bash", "-e", "-c", pasted], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        configuration = hasty((tmp_path / "alertmanager.yml").read_text("utf-8"))
        with running(tmp_path, configuration) as alerting:
            alerting.post({"alertname": "X", "severity": "page", "owner": "platform"})
            until(lambda: received.calls, describe=alerting.states)

    assert [(path, token) for path, token, _ in received.calls] == [(SERVICE_PATH, None)]


def test_prometheus_accepts_the_documented_configuration(tmp_path: Path):
    """Check the example as pasted, beside rendered rules."""
    (pasted,) = re.findall(r"(?s)```yaml\n(rule_files.*?)```", DOCUMENT)
    (tmp_path / "prometheus.yml").write_text(pasted)
    (tmp_path / "lineward-rules.yml").write_text(rules_of(), encoding="utf-8")
    check = ["promtool", "check", "config", "prometheus.yml"]
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr

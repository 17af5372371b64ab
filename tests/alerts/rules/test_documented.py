import re
import subprocess
from pathlib import Path

from alerts.rules.rule_file import alert_names, describe_unrendered
from lineage.policy import DEFAULT
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

"""The rendered files in the real Prometheus and Alertmanager, from a series to a webhook."""

import re
from pathlib import Path
from typing import Any

from alerts.rules.alertmanager import render_alertmanager
from alerts.rules.receivers import Endpoints
from lineage.policy.model import Owner, Policy
from tests.alerts.rules.alertmanagers import Heard, hasty, listening, running, scraping
from tests.alerts.rules.promtool import PEOPLE, RUNBOOKS, rules_of
from tests.service.waiting import until

OWNER = 'shop "north" {{ x }}'
_LABELS = 'incident="i-7",root_kind="job_failed",severity="page"'
# Without a leader that is scraped, an alert goes on for a while.
_LEADER = """# TYPE lineage_service_leader gauge
lineage_service_leader 1
"""
_OPEN = f"""{_LEADER}# TYPE lineage_incident_open gauge
lineage_incident_open{{{_LABELS},owner="shop \\"north\\" {{{{ x }}}}"}} 1
"""
# Who answers no scrape within an interval, or does not hear of an alert for four, resolves it.
_CONFIGURATION = """
global: {{scrape_interval: 3s, evaluation_interval: 3s}}
rule_files: [lineward-rules.yml]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ["{alertmanager}"]}}]}}]}}
scrape_configs:
  - {{job_name: lineward, static_configs: [{{targets: ["{target}"]}}]}}
"""


def messages(heard: Heard, receiver: str) -> list[dict[str, Any]]:
    """To one receiver, in their order; Alertmanager tells its name escaped for an expression."""
    bodies = [body for _, _, body in heard.calls]
    return [body for body in bodies if re.sub(r"\\(.)", r"\1", body["receiver"]) == receiver]


def test_an_open_incident_reaches_its_owner_and_ends(tmp_path: Path):
    """One message to the owner's receiver, by whatever name; one more when it is resolved."""
    policy = Policy(owners=(Owner(OWNER),))
    (tmp_path / "lineward-rules.yml").write_text(rules_of(policy), encoding="utf-8")
    receiver = f"{OWNER}/page"
    with listening() as (url, heard):
        places = Endpoints(service_url=url, token_file=None, watchdog_url=f"{url}/watchdog")
        configuration = hasty(render_alertmanager(policy, people=PEOPLE, places=places))
        with running(tmp_path, configuration) as alerting:
            target = url.removeprefix("http://")
            text = _CONFIGURATION.format(alertmanager=alerting.address, target=target)
            heard.shown = _OPEN
            with scraping(tmp_path, text):
                until(lambda: messages(heard, receiver), describe=lambda: heard.calls)
                until(lambda: messages(heard, "watchdog"), describe=lambda: heard.calls)
                heard.shown = _LEADER
                until(lambda: len(messages(heard, receiver)) == 2, describe=lambda: heard.calls)

    first, last = messages(heard, receiver)
    (alert,) = first["alerts"]
    assert (first["status"], last["status"]) == ("firing", "resolved")
    assert alert["annotations"]["summary"] == "Incident i-7: job_failed"
    assert alert["annotations"]["runbook_url"] == f"{RUNBOOKS}/LinewardIncidentPage"
    assert alert["labels"]["owner"] == OWNER

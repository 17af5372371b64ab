"""Rendered files in the real Prometheus and Alertmanager, from a series to a webhook."""

import re
from pathlib import Path
from typing import Any

from alerts.rules.alertmanager import Endpoints, render_alertmanager
from lineage.policy.model import Owner, Policy
from tests.alerts.rules.alertmanagers import ReceivedCalls, hasty, listening, running, scraping
from tests.alerts.rules.promtool import PEOPLE, RUNBOOKS, rules_of
from tests.suite.waiting import until

OWNER = 'shop "north" {{ x }}'
_LABELS = 'incident="i-7",root_kind="job_failed",severity="page"'
# Without a leader that is scraped, an alert goes on for a while.
_LEADER = """# TYPE lineage_service_leader gauge
lineage_service_leader 1
"""
_OPEN = f"""{_LEADER}# TYPE lineage_incident_open gauge
lineage_incident_open{{{_LABELS},owner="shop \\"north\\" {{{{ x }}}}"}} 1
"""
# An alert ends if a scrape gets no answer within an interval, or is not repeated for four.
_CONFIGURATION = """
global: {{scrape_interval: 3s, evaluation_interval: 3s}}
rule_files: [lineward-rules.yml]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ["{alertmanager}"]}}]}}]}}
scrape_configs:
  - {{job_name: lineward, static_configs: [{{targets: ["{target}"]}}]}}
"""


def messages(received: ReceivedCalls, receiver: str) -> list[dict[str, Any]]:
    """Return the messages to one receiver, in their order.

    Alertmanager sends its name escaped for an expression.
    """
    bodies = [body for _, _, body in received.calls]
    return [body for body in bodies if re.sub(r"\\(.)", r"\1", body["receiver"]) == receiver]


def test_an_open_incident_reaches_its_owner_and_ends(tmp_path: Path):
    """Send one message to the owner's receiver, and one when the incident is resolved."""
    policy = Policy(owners=(Owner(OWNER),))
    (tmp_path / "lineward-rules.yml").write_text(rules_of(policy), encoding="utf-8")
    receiver = f"{OWNER}/page"
    with listening() as (url, received):
        places = Endpoints(service_url=url, token_file=None, watchdog_url=f"{url}/watchdog")
        configuration = hasty(render_alertmanager(policy, people=PEOPLE, places=places))
        with running(tmp_path, configuration) as alerting:
            target = url.removeprefix("http://")
            text = _CONFIGURATION.format(alertmanager=alerting.address, target=target)
            received.shown = _OPEN
            with scraping(tmp_path, text):
                until(lambda: messages(received, receiver), describe=lambda: received.calls)
                until(lambda: messages(received, "watchdog"), describe=lambda: received.calls)
                received.shown = _LEADER
                until(
                    lambda: len(messages(received, receiver)) == 2, describe=lambda: received.calls
                )

    first, last = messages(received, receiver)
    (alert,) = first["alerts"]
    assert (first["status"], last["status"]) == ("firing", "resolved")
    assert alert["annotations"]["summary"] == "Incident i-7 is open (kind: job_failed)"
    assert alert["annotations"]["runbook_url"] == f"{RUNBOOKS}/LinewardIncidentPage"
    assert alert["labels"]["owner"] == OWNER

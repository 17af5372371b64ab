import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from alerts.rules.alertmanager import Endpoints, render_alertmanager
from alerts.rules.mute_times import build_mute_times
from alerts.rules.rule_file import AlertOwners
from lineage.policy import DEFAULT, Policy, parse_policy
from lineage.policy.model import Owner, Suppression

STRANGE = 'a "b" \\ {{ printf "c" }} \'d\': #é, \n\t|.*'
PEOPLE = AlertOwners(platform="platform", engineering="data-engineering")
PLACES = Endpoints(
    service_url="http://lineward:8701/",
    token_file="/etc/alertmanager/lineward.token",  # noqa: S106 - a path
    watchdog_url="https://elsewhere.example/ping",
    outside_url="https://pager.example/hook",
)
POLICY = Policy(owners=(Owner("shop"), Owner(STRANGE), Owner("platform")))
OWNERS = ["shop", STRANGE, "platform", "data-engineering"]


def rendered(policy: Policy = POLICY, places: Endpoints = PLACES) -> str:
    """Return the rendered configuration for these owners."""
    return render_alertmanager(policy, people=PEOPLE, places=places)


def routed(folder: Path, configuration: str, **labels: str) -> str:
    """Return the receivers that the real amtool finds for an alert."""
    (folder / "am.yml").write_text(configuration, encoding="utf-8")
    escaped = {
        name: value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        for name, value in labels.items()
    }
    words = [f'{name}="{value}"' for name, value in escaped.items()]
    command = ["amtool", "config", "routes", "test", "--config.file=am.yml", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.rstrip("\n")


@pytest.mark.parametrize("policy", [DEFAULT, POLICY])
@pytest.mark.parametrize("outside", [None, "https://pager.example/hook"])
def test_amtool_accepts_the_configuration(tmp_path: Path, policy: Policy, outside: str | None):
    """Check configurations of unusual owner names, with few and with all options."""
    places = Endpoints(
        service_url="http://l:8701",
        token_file=None if outside is None else "/t",
        watchdog_url="https://w.example",
        outside_url=outside,
    )
    (tmp_path / "am.yml").write_text(rendered(policy, places), encoding="utf-8")
    check = ["amtool", "check-config", "am.yml"]
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("severity", ["page", "ticket", "escalation"])
@pytest.mark.parametrize("owner", OWNERS)
def test_an_alert_goes_to_its_owner_by_its_severity(tmp_path: Path, owner: str, severity: str):
    """Quote names, and treat none as a pattern."""
    found = routed(tmp_path, rendered(), owner=owner, severity=severity, incident="i")

    assert found == f"{owner}/{severity}"


@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        ({"alertname": "Watchdog", "area": "service"}, "watchdog"),
        ({"alertname": "Watchdog", "severity": "none"}, "platform/ticket"),
        ({"severity": "page", "owner": "platform", "reach": "outside"}, "outside"),
        ({"severity": "page", "owner": "gone", "incident": "i"}, "platform/page"),
        ({"severity": "ticket", "owner": ""}, "platform/ticket"),
        ({"severity": "page", "owner": "SHOP"}, "platform/page"),
        ({"severity": "page", "owner": "shops"}, "platform/page"),
        ({"owner": "shop", "severity": "critical"}, "shop/ticket"),
        ({"alertname": "of somebody else's"}, "platform/ticket"),
    ],
)
def test_every_alert_is_routed_to_a_receiver(tmp_path: Path, labels: dict[str, str], receiver: str):
    """Route to the platform if the policy does not know the owner."""
    assert routed(tmp_path, rendered(), **labels) == receiver


def test_neither_pages_nor_tickets_wait_for_long():
    """Send pages after 10 s and tickets after 30 s, since a group is one root."""
    routes = yaml.safe_load(rendered())["route"]["routes"]
    waits = {
        (route["receiver"], route["group_wait"])
        for owner in routes
        for route in owner.get("routes", ())
        if route["receiver"].startswith("shop/")
    }

    assert waits == {("shop/page", "10s"), ("shop/ticket", "30s"), ("shop/escalation", "30s")}


def test_without_an_outside_receiver_the_service_gets_its_own_alerts(tmp_path: Path):
    """Send them to the service; the command warns of it."""
    places = Endpoints(
        service_url="http://l:8701", token_file=None, watchdog_url="https://w.example"
    )
    configuration = rendered(places=places)

    labels = {"severity": "page", "owner": "platform", "reach": "outside"}
    assert routed(tmp_path, configuration, **labels) == "platform/page"


def test_receivers_are_the_service_and_outside():
    """Use the webhook and token file of the service, and both of the owner outside."""
    policy = Policy(owners=(Owner("platform", pagerduty_key_file="/etc/pd"),))
    found = {one["name"]: one for one in yaml.safe_load(rendered(policy))["receivers"]}

    assert found["platform/page"]["webhook_configs"] == [
        {
            "url": "http://lineward:8701/api/v1/alertmanager",
            "send_resolved": True,
            "http_config": {
                "authorization": {
                    "type": "Bearer",
                    "credentials_file": "/etc/alertmanager/lineward.token",
                }
            },
        }
    ]
    assert found["watchdog"]["webhook_configs"][0]["url"] == "https://elsewhere.example/ping"
    assert found["outside"]["webhook_configs"][0]["url"] == "https://pager.example/hook"
    (pagerduty,) = found["outside"]["pagerduty_configs"]
    assert (pagerduty["routing_key_file"], "url" in pagerduty) == ("/etc/pd", False)


def test_pages_outside_go_to_the_owners_region_of_pagerduty():
    """Send them where the service sends its own: a key of the EU is unknown elsewhere."""
    places = replace(PLACES, pagerduty_url="https://events.eu.pagerduty.com/")
    policy = Policy(owners=(Owner("platform", pagerduty_key_file="/etc/pd"),))
    receivers = {
        one["name"]: one for one in yaml.safe_load(rendered(policy, places=places))["receivers"]
    }

    (config,) = receivers["outside"]["pagerduty_configs"]
    assert config["url"] == "https://events.eu.pagerduty.com/v2/enqueue"


def test_a_page_of_pagerduty_names_each_alert_of_its_group(tmp_path: Path):
    """Render with the real template engine: PagerDuty rejects a page without a text.

    Mutant: `CommonAnnotations.summary`, which is empty where two alerts differ.
    """
    policy = Policy(owners=(Owner("platform", pagerduty_key_file="/etc/pd"),))
    receivers = {one["name"]: one for one in yaml.safe_load(rendered(policy))["receivers"]}
    (config,) = receivers["outside"]["pagerduty_configs"]
    summaries = ("The disk is full", "SLI evaluation unknown")
    alerts = [{"status": "firing", "annotations": {"summary": each}} for each in summaries]
    (tmp_path / "data.json").write_text(json.dumps({"alerts": alerts}))

    rendering = ["amtool", "template", "render", "--template.glob=*.tmpl"]
    wanted = ["--template.data=data.json", f"--template.text={config['description']}"]
    done = subprocess.run(
        [*rendering, *wanted], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "The disk is full. SLI evaluation unknown."


def test_the_same_policy_is_the_same_bytes():
    """Render the same text twice, so that the file can be kept under version control."""
    assert rendered() == rendered()


def suppression(match: Any, start: str, until: str) -> Suppression:  # noqa: ANN401 - a pattern
    """Return a suppression of the policy, in UTC."""
    instants = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (start, until))
    return Suppression("move", match, *instants)


def test_only_a_suppression_of_all_datasets_mutes():
    """Leave a suppression of a folder to the service, which knows its incidents."""
    policy = parse_policy(
        """
suppressions:
  - {name: a, match: "*", from: 2026-11-21T08:00:30+01:00, until: 2026-11-21T09:00:00+01:00}
  - {name: b, match: "s3://*", from: 2026-11-21T08:00:00Z, until: 2026-11-21T09:00:00Z}
  - {name: c, match: {namespace: "*"}, from: 2026-11-21T08:00:00Z, until: 2026-11-21T09:00:10Z}
  - {name: d, match: {name: "*.x"}, from: 2026-11-21T08:00:00Z, until: 2026-11-21T09:00:00Z}
"""
    )
    times = {
        one["name"]: one["time_intervals"][0]["times"][0].values()
        for one in build_mute_times(policy)
    }

    assert {name: [*span] for name, span in times.items()} == {
        "a": ["07:00", "08:00"],
        "c": ["08:00", "09:01"],
    }


@pytest.mark.parametrize(
    ("start", "until", "spans"),
    [
        ("2026-11-21T08:00", "2026-11-21T09:30", ["21:21 11 2026 08:00-09:30"]),
        ("2026-11-21T08:00", "2026-11-22T00:00", ["21:21 11 2026 08:00-24:00"]),
        ("2026-11-21T00:00", "2026-11-22T00:00", ["21:21 11 2026 "]),
        (
            "2026-11-29T22:15",
            "2027-01-02T06:00",
            [
                "29:29 11 2026 22:15-24:00",
                "30:30 11 2026 ",
                "1:31 12 2026 ",
                "1:1 1 2027 ",
                "2:2 1 2027 00:00-06:00",
            ],
        ),
    ],
)
def test_a_span_of_time_is_days_of_its_months(start: str, until: str, spans: list[str]):
    """Write each time with its year, since Alertmanager's times recur."""
    (found,) = build_mute_times(Policy(suppressions=(suppression("*", start, until),)))

    assert [_interval_text(one) for one in found["time_intervals"]] == spans


def _interval_text(one: dict[str, Any]) -> str:
    times = [f"{span['start_time']}-{span['end_time']}" for span in one.get("times", [])]
    return " ".join([*one["days_of_month"], *one["months"], *one["years"], *(times or [""])])

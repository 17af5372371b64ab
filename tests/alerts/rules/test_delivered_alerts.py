"""Alerts that the real Alertmanager sends or mutes, with Lineward's configuration."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from alerts.rules.alertmanager import Endpoints, render_alertmanager
from alerts.rules.rule_file import AlertOwners
from lineage.policy.model import Owner, Policy, Suppression
from tests.alerts.rules.alertmanagers import Labels, ReceivedCalls, hasty, listening, running
from tests.suite.waiting import until

OUTAGE = {"area": "service", "root": "ingestion", "severity": "page", "owner": "platform"}
BURN = {"alertname": "DatasetFreshnessBurn", "sli": "freshness", "tier": "critical"}
PAGED_BURN = {**BURN, "severity": "page", "area": "datasets", "owner": "platform"}
TICKET_BURN = {**PAGED_BURN, "severity": "ticket"}
ESCALATED_BURN = {**PAGED_BURN, "alertname": "ErrorBudgetEscalation", "severity": "escalation"}
LAG = {**PAGED_BURN, "alertname": "IngestionLagBurn", "sli": "ingestion_lag", "area": "service"}
DOWN = {**OUTAGE, "alertname": "LinewardScrapeDown", "reach": "outside"}
STALE = {**OUTAGE, "alertname": "LineageEvaluationStale"}
ABSENT = {**OUTAGE, "alertname": "LineageEvaluationAbsent"}
ROLE = {**OUTAGE, "alertname": "LineageRoleFailing", "root": "role"}
ACCESS = {"alertname": "UnauthorizedAccess", "area": "access", "sli": "unauthorized_access"}
PAGED_ACCESS = {**ACCESS, "severity": "page", "owner": "platform"}


LATER = {"alertname": "MarquezEventsLost", "root": "marquez", "severity": "ticket"}


def named(labels: Labels) -> str:
    """Return the name of an alert as `Alertmanager.states` has it."""
    return " ".join(filter(None, (labels["alertname"], labels.get("incident"))))


def incident(root_kind: str, id_: str = "i-1", severity: str = "page") -> Labels:
    """Return the alert of an open incident."""
    name = {"page": "LinewardIncidentPage", "ticket": "LinewardIncidentTicket"}[severity]
    labels = {"alertname": name, "incident": id_, "root_kind": root_kind}
    return {**labels, "severity": severity, "owner": "shop"}


def configured(
    url: str, *suppressions: Suppression, token_file: str | None = None, wait: str = "0s"
) -> str:
    """Return the configuration of a policy whose webhooks have one URL, with short waits."""
    policy = Policy(owners=(Owner("shop"), Owner("platform")), suppressions=suppressions)
    places = Endpoints(
        service_url=url,
        token_file=token_file,
        watchdog_url=f"{url}/watchdog",
        outside_url=f"{url}/outside",
    )
    return hasty(render_alertmanager(policy, people=AlertOwners(), places=places), wait)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (STALE, PAGED_BURN),
        (STALE, TICKET_BURN),
        (STALE, LAG),
        (STALE, incident("job_failed")),
        (STALE, incident("job_failed", severity="ticket")),
        (incident("pipeline", "i-2"), incident("job_failed")),
        (incident("collector", "i-2"), PAGED_BURN),
        (incident("collector", "i-2"), STALE),
        (incident("unauthorized_access", "i-2"), PAGED_ACCESS),
        (DOWN, ABSENT),
        (STALE, ROLE | {"role": "pipeline"}),
        (incident("service", "i-2"), ROLE | {"role": "service"}),
        (PAGED_BURN, TICKET_BURN | {"alertname": "ErrorBudgetExhausted"}),
        (PAGED_BURN, ESCALATED_BURN),
        (ESCALATED_BURN, TICKET_BURN),
    ],
    ids=lambda labels: "-".join(labels.get(one, "") for one in ("alertname", "root_kind")),
)
def test_an_alert_that_follows_from_another_is_muted(
    tmp_path: Path, source: Labels, target: Labels
):
    """Notify of the root and not of what follows from it; notify of the target alone."""
    with listening() as (url, received), running(tmp_path, configured(url)) as alerting:
        alerting.post(source)
        until(lambda: named(source) in alerting.states(), describe=alerting.states)
        alerting.post(target)
        until(lambda: named(target) in alerting.states(), describe=alerting.states)
        # The later alert has left: the target would have left before it.
        alerting.post(LATER)
        until(lambda: LATER["alertname"] in str(received.alerts()), describe=alerting.states)
        states = alerting.states()

    assert states[named(target)] == "suppressed"
    assert states[named(source)] == "active"
    assert len(received.calls) == 2


def test_without_inhibitions_all_alerts_notify(tmp_path: Path):
    """Run the mutant: notify of the outage and each incident that follows from it."""
    inhibited = configured("http://127.0.0.1:9")
    start, end = inhibited.index("inhibit_rules:"), inhibited.index("receivers:")
    with running(tmp_path, inhibited[:start] + inhibited[end:]) as alerting:
        alerting.post(STALE, incident("job_failed"))
        until(lambda: len(alerting.states()) == 2, describe=alerting.states)

        assert set(alerting.states().values()) == {"active"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (STALE, incident("collector", severity="ticket")),
        *((STALE, incident(role)) for role in ("shipper", "kafka", "kubernetes")),
        (STALE, incident("events", severity="ticket")),
        (STALE, incident("unauthorized_access")),
        (incident("marquez", "i-2"), incident("job_failed")),
        (incident("job_failed", "i-2"), incident("job_failed")),
        (ROLE | {"role": "pipeline"}, PAGED_BURN),
        (incident("pipeline", "i-2"), ROLE | {"role": "service"}),
        (STALE, ROLE | {"role": "service"}),
        (incident("pipeline"), DOWN),
        (PAGED_BURN, TICKET_BURN | {"tier": "important"}),
        (PAGED_BURN, ESCALATED_BURN | {"owner": "engineering"}),
        (PAGED_ACCESS, STALE),
    ],
    ids=lambda labels: "-".join(labels.get(one, "") for one in ("alertname", "root_kind")),
)
def test_an_alert_of_another_root_notifies(tmp_path: Path, one: Labels, other: Labels):
    """Notify of both."""
    expected = {one["alertname"], other["alertname"]}
    with listening() as (url, received), running(tmp_path, configured(url)) as alerting:
        alerting.post(one, other)
        until(lambda: {name for _, name in received.alerts()} == expected, describe=alerting.states)

        assert set(alerting.states().values()) == {"active"}


def test_alerts_of_one_root_are_one_message(tmp_path: Path):
    """Send the service's own faults of one outage together, and each incident by itself."""
    alerts = (STALE, {**OUTAGE, "alertname": "LineageIngestionStopped"})
    others = (incident("marquez", "i-1"), incident("marquez", "i-2"))
    with listening() as (url, received), running(tmp_path, configured(url, wait="1s")) as alerting:
        alerting.post(*alerts, *others)
        until(lambda: len(received.calls) == 3, describe=lambda: received.calls)

    messages = {
        (*body["groupLabels"].items(), len(body["alerts"])) for _, _, body in received.calls
    }
    assert messages == {
        (("root", "ingestion"), 2),
        (("incident", "i-1"), 1),
        (("incident", "i-2"), 1),
    }


def test_the_webhook_gets_its_token_and_the_watchdog_goes_outside(tmp_path: Path):
    """Send path and token of the service, and the watchdog to its own address only."""
    token = tmp_path / "token"
    token.write_text("s3cret-s3cret-s3cret\n")
    watchdog = {"alertname": "Watchdog", "area": "service"}
    with listening() as (url, received):
        configuration = configured(url, token_file=str(token))
        with running(tmp_path, configuration) as alerting:
            alerting.post(watchdog, incident("marquez"), DOWN)
            until(lambda: len(received.alerts()) == 3, describe=lambda: received.calls)

    assert {(path, key, body["receiver"]) for path, key, body in received.calls} == {
        ("/watchdog", None, "watchdog"),
        ("/outside", None, "outside"),
        ("/api/v1/alertmanager", "Bearer s3cret-s3cret-s3cret", "shop/page"),
    }


def test_a_suppression_of_all_datasets_mutes_datasets_alone(tmp_path: Path):
    """Hold incidents and burns of datasets, and notify of Lineward's own incidents."""
    now = datetime.now(UTC)
    planned = Suppression("move", "*", now - timedelta(days=2), now + timedelta(days=2))
    own = incident("marquez", "i-2")
    alerts = (incident("job_failed"), PAGED_BURN, LAG, PAGED_ACCESS, own)
    with listening() as (url, received):
        with running(tmp_path, configured(url)) as alerting:
            alerting.post(*alerts)
            until(lambda: len(_roots(received)) == 5, describe=lambda: received.calls)
        received.calls.clear()
        muted = tmp_path / "muted"
        muted.mkdir()
        with running(muted, configured(url, planned)) as alerting:
            alerting.post(*alerts)
            until(lambda: len(_roots(received)) >= 3, describe=lambda: received.calls)
            # A later alert is received only after every group that is not muted.
            alerting.post({**LAG, "tier": "later"})
            until(lambda: "later" in str(received.calls), describe=lambda: received.calls)

    assert _roots(received) == {"ingestion_lag", "unauthorized_access", "i-2"}


def _roots(received: ReceivedCalls) -> set[str]:
    labels = [body["groupLabels"] for _, _, body in received.calls]
    return {one.get("incident") or one["sli"] for one in labels}

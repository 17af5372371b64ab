"""Effects of posts of Alertmanager."""

from pathlib import Path

import msgspec
import pytest
from sqlalchemy import select

from alerts.incidents.detected_fault import service_fault
from alerts.notify.alertmanager_webhook import InvalidWebhookError, parse_webhook
from alerts.notify.router import receive_webhook
from lineage.catalog.engine import write_transaction
from lineage.catalog.tables import received_alert
from lineage.process.clock import SECOND_MICROS
from tests.alerts.incidents.scenarios import make_fault
from tests.alerts.notify.alertmanager_calls import ACCESS, BURN, STALE, alert, body, of_incident
from tests.alerts.notify.memory_router import outage
from tests.alerts.notify.stored_router import StoredRouter
from tests.alerts.rules.alertmanagers import listening, running
from tests.alerts.rules.test_delivered_alerts import configured
from tests.suite.waiting import until

PAGE = {"owner": "shop", "level": "page"}
CHANNELS = ["pagerduty:platform.key {} {}", "slack:#platform {} {}"]


def alert_sent(kind, revision):
    """Return the alert of the platform."""
    return [each.format(kind, revision) for each in CHANNELS]


def post(router, seconds, *alerts):  # noqa: ANN002
    """Post alerts."""
    with write_transaction(router.engine) as connection:
        at = seconds * SECOND_MICROS
        return receive_webhook(
            connection, parse_webhook(body(*alerts)), router.policy, router.settings, at
        )


@pytest.fixture
def router(embedded):
    """Return a router that waits for Alertmanager."""
    return StoredRouter(embedded, mode="alertmanager")


def test_post_that_names_an_incident_sends_it(router):
    """Notify at once; a second post, or a resolved alert, changes nothing."""
    router.opened(make_fault("ab", **PAGE))
    number = router.incidents[0].id

    for second, status in ((40, "firing"), (50, "firing"), (60, "resolved")):
        post(router, second, of_incident(number, status), of_incident("unknown"))
    router.route_due(900)

    assert router.outbox == ["pagerduty:shop.key opened 1", "slack:#shop opened 1"]


def test_resolved_alert_of_an_incident_confirms_nothing(router):
    """Continue to wait, as the alert does not show that anybody was notified."""
    router.opened(make_fault("ab", **PAGE))

    post(router, 40, of_incident(router.incidents[0].id, "resolved"))

    assert router.outbox == []


def test_other_alert_is_a_message_of_its_own(router):
    """Notify when it fires, when it ends, and when it fires again."""
    for second, status in ((1, "firing"), (2, "firing"), (3, "resolved"), (4, "resolved")):
        post(router, second, alert(BURN, status))
    post(router, 5, alert(BURN, startsAt="2026-11-21T11:00:00Z"))

    assert router.outbox == [
        *alert_sent("opened", 1),
        *alert_sent("resolved", 2),
        *alert_sent("opened", 3),
    ]
    message = router.messages("opened")[0]
    assert (message["incident_id"], message["what"]) == ("alert-f1", "Much is bad")
    assert message["note"] == "7 % for 5m."
    assert message["root"] == {
        "kind": "DatasetFreshnessBurn",
        "name": "freshness critical",
        "namespace": "lineward",
    }
    assert message["links"]["runbook"] == "https://lineward.test/runbooks/DatasetFreshnessBurn"


LATER = "2026-11-21T11:00:00Z"


def lose_the_end(router):
    """Lose the data of Alertmanager, and with them the end of the alert."""
    post(router, 1, alert(BURN))
    for second in (2, 3):
        post(router, second, alert(BURN, startsAt=LATER))
    post(router, 4, alert(BURN, "resolved", startsAt=LATER))


def test_alert_that_ended_unnoticed_is_sent_when_it_refires(router):
    """Change its open alert without paging; page if a person closed it."""
    lose_the_end(router)

    refired = [alert_sent("opened", 2)[0], alert_sent("changed", 2)[1]]
    assert router.outbox == [*alert_sent("opened", 1), *refired, *alert_sent("resolved", 3)]
    assert router.messages("changed")[0]["note"].startswith("The alert fires again.")


def test_without_its_start_a_refired_alert_is_not_sent(router, monkeypatch):
    """Run the mutant: ignore the start of an alert."""
    monkeypatch.setattr("alerts.notify.alertmanager_alerts._is_refired", lambda *_: False)
    lose_the_end(router)

    assert router.outbox == [*alert_sent("opened", 1), *alert_sent("resolved", 2)]


def test_refired_alert_is_not_attached_to_an_ended_incident(router):
    """Send it as a message of its own: the outage is over."""
    router.opened(outage())
    post(router, 40, alert(BURN))
    router.at(50)
    router.at(95)
    post(router, 100, alert(BURN))
    assert router.outbox == [*alert_sent("opened", 1), *alert_sent("resolved", 2)]
    post(router, 9_000, alert(BURN, startsAt=LATER))

    assert router.outbox[4:] == alert_sent("opened", 1)


@pytest.mark.parametrize(
    ("labels", "channels"),
    [
        (BURN | {"severity": "ticket", "owner": "pay"}, ["slack:#pay", "webhook:tickets"]),
        (BURN | {"severity": "escalation", "owner": "pay"}, ["slack:#pay", "webhook:tickets"]),
        (BURN | {"owner": "gone"}, ["pagerduty:platform.key", "slack:#platform"]),
        ({"alertname": "X", "severity": "page"}, ["pagerduty:platform.key", "slack:#platform"]),
        ({"alertname": "X", "severity": "escalation"}, ["slack:#boss", "webhook:tickets"]),
        ({"alertname": "Watchdog"}, []),
    ],
    ids=lambda each: str(each)[:40],
)
def test_alert_is_sent_to_the_owner_in_its_labels(embedded, labels, channels):
    """Send by its severity; without an owner to the platform; ignore Watchdog."""
    router = StoredRouter(embedded, engineering="boss")

    post(router, 1, alert(labels))

    assert [each.split(" ")[0] for each in router.outbox] == channels


@pytest.mark.parametrize("labels", [STALE, BURN, BURN | {"sli": "ingestion_lag"}])
def test_alert_that_follows_from_an_incident_pages_nobody(router, labels):
    """Attach it to the incident, which it also confirms."""
    router.opened(outage())

    assert post(router, 40, alert(labels)).notifications == ()
    assert router.outbox == alert_sent("opened", 1)
    router.at(50)
    router.at(95)
    post(router, 100, alert(labels))
    post(router, 110, alert(labels, "resolved"))
    assert router.outbox == [*alert_sent("opened", 1), *alert_sent("resolved", 2)]
    with router.engine.connect() as connection:
        row = connection.execute(select(received_alert)).one()
    assert (row.ends_at, row.revision) == (110 * SECOND_MICROS, 0)


def test_access_alert_with_an_incident_is_one_page(router):
    """Notify of the alert only without an incident."""
    assert post(router, 1, alert(ACCESS)).notifications
    post(router, 2, alert(ACCESS, "resolved"))
    router.at(3, service_fault("access", "unauthorized_access", 0))

    assert post(router, 4, alert(ACCESS)).notifications == ()


@pytest.mark.parametrize(
    ("labels", "fault"),
    [(STALE, outage()), (ACCESS, service_fault("access", "unauthorized_access", 0))],
)
def test_alert_sent_before_its_incident_is_taken_over(router, labels, fault):
    """Page once, in either order; resolve it with the incident."""
    post(router, 1, alert(labels))
    router.at(2, fault)
    router.at(32, fault)
    post(router, 40, alert(labels))
    post(router, 41, alert(labels, "resolved"))
    router.at(50)
    router.at(95)

    assert [each for each in router.outbox if each.startswith("pagerduty")] == [
        "pagerduty:platform.key opened 1",
        "pagerduty:platform.key changed 2",
        "pagerduty:platform.key resolved 3",
    ]
    assert [each for each in router.outbox if each.startswith("slack")] == [
        "slack:#platform opened 1",
        "slack:#platform opened 2",
        "slack:#platform resolved 2",
        "slack:#platform resolved 3",
    ]


def test_alert_on_an_outage_mutes_waiting_incidents(router):
    """Mute for a quarter of an hour; the catalog shows the outage by then."""
    router.opened(make_fault("ab", **PAGE))
    post(router, 40, alert(STALE))

    router.route_due(30 + 120)
    assert "pagerduty:shop.key opened 1" not in router.outbox
    router.route_due(40 + 901)
    assert "pagerduty:shop.key opened 1" in router.outbox


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (b"", "$: no JSON"),
        (b"[]", "$: Expected `object`"),
        (b'{"more": ' + b"[" * 60_000, "$: no JSON"),
        (b'{"version": "4", "alerts": [{"labels": "\xff"}]}', "$"),
        (body(version="3"), "$.version: Invalid enum value '3'"),
        (body(alert(BURN, "odd")), "$.alerts[0].status"),
        (body(alert(BURN), alert({"alertname": 7})), "$.alerts[1].labels[...]: Expected `str`"),
        (body(alert({})), "$.alerts[0].labels.alertname: an alert has a name"),
        (body(alert(BURN, fingerprint="../x")), "$.alerts[0].fingerprint"),
        (body(alert(BURN, startsAt="yesterday")), "$.alerts[0].startsAt: Invalid RFC3339"),
        (body(alert(BURN, startsAt="2026-11-21T09:30:00")), "$.alerts[0].startsAt: expected a"),
    ],
)
def test_invalid_body_is_rejected_with_its_path(given, error):
    """Show where it is wrong."""
    with pytest.raises(InvalidWebhookError) as rejected:
        parse_webhook(given)

    assert str(rejected.value).startswith(error)


def test_post_of_the_real_alertmanager_is_accepted(tmp_path: Path, router):
    """Confirm an incident and notify of a burn."""
    router.opened(make_fault("ab", **PAGE))
    number = router.incidents[0].id
    labels = {"alertname": "LinewardIncidentPage", "incident": number, "root_kind": "failed"}
    with listening() as (url, received), running(tmp_path, configured(url)) as alerting:
        alerting.post({**labels, "severity": "page", "owner": "shop"}, BURN)
        until(lambda: len(received.calls) >= 2, describe=alerting.states)
        bodies = [msgspec.json.encode(each) for _, _, each in received.calls]

    with write_transaction(router.engine) as connection:
        for each in bodies:
            receive_webhook(
                connection, parse_webhook(each), router.policy, router.settings, 40 * SECOND_MICROS
            )

    assert router.outbox == [
        "pagerduty:platform.key opened 1",
        "pagerduty:shop.key opened 1",
        "slack:#platform opened 1",
        "slack:#shop opened 1",
    ]

"""Decisions, stored with the change that they report, through a restart."""

import msgspec
import pytest
from sqlalchemy import func, insert, select
from structlog.testing import capture_logs

from alerts.incidents.lifecycle import advance
from alerts.incidents.steps import StepInput
from alerts.notify import state_store
from alerts.notify.alertmanager_webhook import parse_webhook
from alerts.notify.message import MessageRoot
from alerts.notify.router import (
    escalate_incident,
    is_route_due,
    receive_webhook,
    route_incident_step,
)
from lineage.catalog.engine import write_transaction
from lineage.catalog.tables import (
    incident,
    incident_escalation,
    incident_notification,
    notification,
    notification_count,
)
from lineage.policy.model import EscalationStep, Owner, Policy
from lineage.process.clock import SECOND_MICROS
from tests.alerts.incidents.scenarios import make_fault
from tests.alerts.notify.alertmanager_calls import BURN, alert, body
from tests.alerts.notify.memory_router import POLICY, SETTINGS, summary
from tests.alerts.notify.stored_router import StoredRouter

PAGE = {"owner": "shop", "level": "page"}


def count(engine, table):
    """Return the number of its rows."""
    with engine.connect() as connection:
        return connection.scalar(select(func.count()).select_from(table))


def test_fault_is_routed_on_both_catalogs(catalog):
    """Open, escalate once and resolve from the catalog alone."""
    router = StoredRouter(catalog)
    router.opened(make_fault("ab", **PAGE))
    for second in (31, 930, 931, 932):
        router.route_due(second)
    router.at(1_000)
    router.at(1_045)

    assert router.outbox == [
        "pagerduty:shop.key opened 1",
        "slack:#shop opened 1",
        "pagerduty:boss.key opened 2",
        "pagerduty:shop.key changed 2",
        "slack:#boss opened 2",
        "slack:#shop changed 2",
        "pagerduty:boss.key resolved 3",
        "pagerduty:shop.key resolved 3",
        "slack:#boss resolved 3",
        "slack:#shop resolved 3",
    ]
    with catalog.connect() as connection:
        row = connection.execute(select(incident_escalation)).one()
    assert (row.owner, row.step, row.told_at) == ("shop", 0, 930 * SECOND_MICROS)
    assert row.channel == "slack:#boss, pagerduty:boss.key"


def test_change_rolled_back_notifies_nobody(embedded):
    """Store notifications in the transaction of the change."""
    first = advance((), StepInput(0, (make_fault("ab", **PAGE),)))
    done = advance(first.incidents, StepInput(30 * SECOND_MICROS, (make_fault("ab", **PAGE),)))
    summaries = {own.id: summary(own) for own in done.changed}

    def die():
        with write_transaction(embedded) as connection:
            route_incident_step(connection, done, summaries, POLICY, SETTINGS, 30 * SECOND_MICROS)
            assert connection.scalar(select(func.count()).select_from(notification)) == 2
            raise RuntimeError

    with pytest.raises(RuntimeError):
        die()

    assert count(embedded, notification) == count(embedded, incident_notification) == 0


def test_incident_has_the_time_of_its_notification(embedded):
    """Leave it null while Alertmanager is waited for."""
    router = StoredRouter(embedded, mode="alertmanager")
    router.opened(make_fault("ab", **PAGE))
    (own,) = router.incidents
    with write_transaction(embedded) as connection:
        connection.execute(insert(incident).values(**_row(own)))

    router.route_due(149)
    assert released_at(embedded) is None
    router.route_due(150)
    assert released_at(embedded) == 150 * SECOND_MICROS


def released_at(engine):
    """Return it of the only incident."""
    with engine.connect() as connection:
        return connection.scalar(select(incident.c.released_at))


def _row(own):
    texts = ("life", "what", "root_namespace", "root_name", "evidence", "correlation_id")
    return dict.fromkeys(texts, "") | {
        "incident_id": own.id,
        "state": own.state,
        "revision": own.revision,
        "root_entity": own.root.entity,
        "root_key": own.root.key,
        "root_kind": own.root.kind,
        "severity": "page",
        "because": "kind",
        "score": 0.0,
        "onset": own.onset,
        "seen_at": own.seen_at,
        **dict.fromkeys(("is_remembered", "is_bridged", "is_flapping", "is_frozen"), False),
    }


def test_changed_policy_applies_to_open_incidents(embedded):
    """Take a new step when it is due."""
    router = StoredRouter(embedded)
    router.opened(make_fault("ab", owner="pay", level="page"))
    router.route_due(400)
    step_ = EscalationStep(5, slack="#late")
    router.policy = Policy(owners=(Owner("pay", "#pay", "pay.key", (step_,)),))

    router.route_due(401)

    assert "slack:#late opened 2" in router.outbox


def test_missing_recipient_is_counted_as_a_failed_notification(embedded):
    """Feed the alert on failed notifications."""
    StoredRouter(embedded, Policy(), tickets=None).opened(make_fault("a"))

    with embedded.connect() as connection:
        row = connection.execute(select(notification_count)).one()
    assert tuple(row) == ("failed", "nobody", "no_way", 1.0)


def test_any_name_can_be_stored(embedded):
    """Replace a lone surrogate by a question mark."""
    router = StoredRouter(embedded)

    router.opened(
        make_fault("ab", **PAGE), what="bad \ud800 \x00", root=MessageRoot("job", "\ud800", "n")
    )

    (message,) = {msgspec.json.encode(each) for each in router.messages("opened")}
    assert b"bad ? \\u0000" in message


def test_escalation_on_request_is_recorded(embedded):
    """Take the step once."""
    router = StoredRouter(embedded)
    router.opened(make_fault("ab", **PAGE))
    number = router.incidents[0].id

    with write_transaction(embedded) as connection:
        asked = (number, "ada", POLICY, SETTINGS, 60 * SECOND_MICROS)
        assert [escalate_incident(connection, *asked) for _ in range(3)] == [True, True, False]
        assert not escalate_incident(connection, "none", *asked[1:])

    assert {"slack:#boss opened 2", "slack:#platform opened 3"} <= set(router.outbox)
    assert count(embedded, incident_escalation) == 2


def test_ended_state_is_pruned_and_open_one_kept(embedded):
    """Prune by the time of the end."""
    router = StoredRouter(embedded)
    router.opened(make_fault("ab", **PAGE))
    router.at(60, make_fault("cd", **PAGE))
    router.at(105, make_fault("cd", **PAGE))

    with write_transaction(embedded) as connection:
        assert state_store.prune_states(connection, 105 * SECOND_MICROS) == 0
        assert state_store.prune_states(connection, 106 * SECOND_MICROS) == 1
        (left,) = state_store.load_states_where(connection)
    assert left.is_bad


def test_second_without_work_takes_no_lock(embedded):
    """Answer from a connection that only reads."""
    router = StoredRouter(embedded, digest_hour=23)
    router.opened(make_fault("ab", **PAGE))
    asked = (router.policy, router.settings)

    with embedded.connect() as connection:
        assert not is_route_due(connection, *asked, 929 * SECOND_MICROS)
        assert is_route_due(connection, *asked, 930 * SECOND_MICROS)
        assert is_route_due(connection, *asked, 23 * 3_600 * SECOND_MICROS)
        assert is_route_due(connection, Policy(), router.settings, 60 * SECOND_MICROS)
    router.route_due(930)
    with embedded.connect() as connection:
        assert not is_route_due(connection, *asked, 22 * 3_600 * SECOND_MICROS)


def test_alerts_left_out_by_alertmanager_are_logged(embedded):
    """Log their number."""
    call = parse_webhook(body(alert(BURN), truncatedAlerts=3))
    with capture_logs() as logged, write_transaction(embedded) as connection:
        receive_webhook(connection, call, POLICY, SETTINGS, 0)

    assert {"event": "alerts_left_out", "log_level": "warning", "count": 3} in logged


@pytest.mark.parametrize("most", [1, 2, 4])
def test_turn_routes_a_bounded_number_pages_first(embedded, monkeypatch, most):
    """Bound the lock when seven tickets and two pages are due."""
    monkeypatch.setattr(state_store, "MAX_DUE", most)
    router = StoredRouter(embedded, mode="alertmanager", release_seconds=60)
    faults = [make_fault(name, owner="shop") for name in "abcdefg"]
    pages = [make_fault(name, **PAGE) for name in "yz"]
    router.opened(*faults, *pages)
    before = set(router.outbox)

    counts = []
    for second in range(91, 91 + 20):
        router.route_due(second)
        with embedded.connect() as connection:
            query = select(incident_notification.c.severity).where(incident_notification.c.is_told)
            counts.append(sorted(connection.scalars(query)))
    notified_per_turn = [
        len(after) - len(was) for was, after in zip([[], *counts], counts, strict=False)
    ]

    assert not before
    assert max(notified_per_turn) <= most
    assert len(counts[-1]) == 9
    assert counts[0] == ["page"] * min(most, 2) + ["ticket"] * max(0, most - 2)

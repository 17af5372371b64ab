"""What is result stands in the catalog, with what it tells of, and outlives the process."""

import msgspec
import pytest
from sqlalchemy import func, insert, select
from structlog.testing import capture_logs

from alerts.incidents.estate import MICROS
from alerts.incidents.life import step
from alerts.incidents.steps import Now
from alerts.notify import escalate, is_due, receive_webhook, route_incident_step, state_store
from alerts.notify.alertmanager_webhook import parse_webhook
from alerts.notify.message import Root
from lineage.catalog.engine import writing
from lineage.catalog.tables import (
    incident,
    incident_escalation,
    incident_telling,
    notification,
    notification_count,
)
from lineage.policy.model import EscalationStep, Owner, Policy
from tests.alerts.incidents.stories import found
from tests.alerts.notify.alertmanager_calls import BURN, alert, body
from tests.alerts.notify.memory_router import POLICY, SETTINGS, summary
from tests.alerts.notify.stored_router import StoredRouter

PAGE = {"owner": "shop", "level": "page"}


def count(engine, table):
    """Its rows."""
    with engine.connect() as connection:
        return connection.scalar(select(func.count()).select_from(table))


def test_a_fault_goes_its_way_on_both_kinds_of_catalog(catalog):
    """Opened, escalated once, resolved: each told in its time, from the catalog alone."""
    router = StoredRouter(catalog)
    router.opened(found("ab", **PAGE))
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
    assert (row.owner, row.step, row.told_at) == ("shop", 0, 930 * MICROS)
    assert row.channel == "slack:#boss, pagerduty:boss.key"


def test_a_change_that_is_undone_tells_nobody(embedded):
    """Letters are in the transaction of what they tell of."""
    first = step((), Now(0, (found("ab", **PAGE),)))
    done = step(first.incidents, Now(30 * MICROS, (found("ab", **PAGE),)))
    summaries = {own.id: summary(own) for own in done.changed}

    def die():
        with writing(embedded) as connection:
            route_incident_step(connection, done, summaries, POLICY, SETTINGS, 30 * MICROS)
            assert connection.scalar(select(func.count()).select_from(notification)) == 2
            raise RuntimeError

    with pytest.raises(RuntimeError):
        die()

    assert count(embedded, notification) == count(embedded, incident_telling) == 0


def test_the_incident_says_when_people_were_told(embedded):
    """Null while Alertmanager is waited for."""
    router = StoredRouter(embedded, mode="alertmanager")
    router.opened(found("ab", **PAGE))
    (own,) = router.incidents
    with writing(embedded) as connection:
        connection.execute(insert(incident).values(**_row(own)))

    router.route_due(149)
    assert released_at(embedded) is None
    router.route_due(150)
    assert released_at(embedded) == 150 * MICROS


def released_at(engine):
    """Of the only incident."""
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


def test_a_policy_that_changes_holds_for_what_is_open(embedded):
    """A step that was added is taken when its time has come."""
    router = StoredRouter(embedded)
    router.opened(found("ab", owner="pay", level="page"))
    router.route_due(400)
    step_ = EscalationStep(5, slack="#late")
    router.policy = Policy(owners=(Owner("pay", "#pay", "pay.key", (step_,)),))

    router.route_due(401)

    assert "slack:#late opened 2" in router.outbox


def test_nobody_to_tell_is_counted_as_a_notification_that_failed(embedded):
    """There is an alert on those."""
    StoredRouter(embedded, Policy(), tickets=None).opened(found("a"))

    with embedded.connect() as connection:
        row = connection.execute(select(notification_count)).one()
    assert tuple(row) == ("failed", "nobody", "no_way", 1.0)


def test_whatever_a_name_holds_can_be_kept(embedded):
    """A lone surrogate, which no catalog takes, becomes a question mark."""
    router = StoredRouter(embedded)

    router.opened(found("ab", **PAGE), what="bad \ud800 \x00", root=Root("job", "\ud800", "n"))

    (message,) = {msgspec.json.encode(each) for each in router.messages("opened")}
    assert b"bad ? \\u0000" in message


def test_a_person_escalates_through_the_catalog(embedded):
    """The step is taken, written down, and taken no second time."""
    router = StoredRouter(embedded)
    router.opened(found("ab", **PAGE))
    number = router.incidents[0].id

    with writing(embedded) as connection:
        asked = (number, "ada", POLICY, SETTINGS, 60 * MICROS)
        assert escalate(connection, *asked) == ("slack:#boss", "pagerduty:boss.key")
        assert escalate(connection, *asked) == ("slack:#platform", "pagerduty:platform.key")
        assert escalate(connection, *asked) == ()
        assert escalate(connection, "none", *asked[1:]) == ()

    assert "slack:#boss opened 2" in router.outbox
    assert count(embedded, incident_escalation) == 2


def test_what_ended_is_forgotten_and_what_stands_is_not(embedded):
    """By when it ended."""
    router = StoredRouter(embedded)
    router.opened(found("ab", **PAGE))
    router.at(60, found("cd", **PAGE))
    router.at(105, found("cd", **PAGE))

    with writing(embedded) as connection:
        assert state_store.prune_states(connection, 105 * MICROS) == 0
        assert state_store.prune_states(connection, 106 * MICROS) == 1
        (left,) = state_store.load_states_where(connection)
    assert left.is_bad


def test_a_quiet_second_has_nothing_to_do(embedded):
    """Whoever reads can tell, and need not take the lock of those who write."""
    router = StoredRouter(embedded, digest_hour=23)
    router.opened(found("ab", **PAGE))
    asked = (router.policy, router.settings)

    with embedded.connect() as connection:
        assert not is_due(connection, *asked, 929 * MICROS)
        assert is_due(connection, *asked, 930 * MICROS)
        assert is_due(connection, *asked, 23 * 3_600 * MICROS)
        assert is_due(connection, Policy(), router.settings, 60 * MICROS)
    router.route_due(930)
    with embedded.connect() as connection:
        assert not is_due(connection, *asked, 22 * 3_600 * MICROS)


def test_alerts_that_alertmanager_left_out_are_said(embedded):
    """Nobody hears of those: an operator finds it in the log."""
    call = parse_webhook(body(alert(BURN), truncatedAlerts=3))
    with capture_logs() as said, writing(embedded) as connection:
        receive_webhook(connection, call, POLICY, SETTINGS, 0)

    assert {"event": "alerts_left_out", "log_level": "warning", "count": 3} in said


@pytest.mark.parametrize("most", [1, 2, 4])
def test_a_turn_takes_a_bounded_number_of_incidents_pages_first(embedded, monkeypatch, most):
    """Seven tickets and two pages are due at once: nobody waits for all of them in one lock."""
    monkeypatch.setattr(state_store, "MAX_DUE", most)
    router = StoredRouter(embedded, mode="alertmanager", release_seconds=60)
    faults = [found(name, owner="shop") for name in "abcdefg"]
    pages = [found(name, **PAGE) for name in "yz"]
    router.opened(*faults, *pages)
    before = set(router.outbox)

    counts = []
    for second in range(91, 91 + 20):
        router.route_due(second)
        with embedded.connect() as connection:
            query = select(incident_telling.c.severity).where(incident_telling.c.is_told)
            counts.append(sorted(connection.scalars(query)))
    told_a_turn = [len(after) - len(was) for was, after in zip([[], *counts], counts, strict=False)]

    assert not before
    assert max(told_a_turn) <= most
    assert len(counts[-1]) == 9
    assert counts[0] == ["page"] * min(most, 2) + ["ticket"] * max(0, most - 2)

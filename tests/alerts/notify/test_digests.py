"""Digest of tickets, and summary of a planned window."""

from datetime import UTC, datetime

import msgspec
from sqlalchemy import insert, select, update

from alerts.notify.message import MessageRoot
from alerts.notify.router import is_route_due
from alerts.notify.sentences import field_lines, headline, summary_line
from alerts.notify.settings import RoutingSettings
from alerts.notify.ticket_caps import build_held_notices
from lineage.catalog.engine import write_transaction
from lineage.catalog.tables import digest, incident_notification, notification, suppression
from lineage.process.clock import SECOND_MICROS, to_micros
from tests.alerts.incidents.scenarios import make_fault
from tests.alerts.notify.memory_router import POLICY
from tests.alerts.notify.stored_router import StoredRouter

MIDNIGHT = to_micros(datetime(2026, 11, 21, tzinfo=UTC)) // SECOND_MICROS
HOUR = 3_600
BERLIN = msgspec.structs.replace(POLICY, time_zone="Europe/Berlin")


def digests(router):
    """Return owner, title and lines of each."""
    return [
        (each["owner"], each["what"], len(each["lines"]))
        for each in router.messages("notice")
        if each["incident_id"].startswith("digest-")
    ]


def test_owner_gets_open_tickets_once_a_day(embedded):
    """Send at nine in the policy's time zone; send none where there are none."""
    router = StoredRouter(embedded, BERLIN)
    tickets = [make_fault(name, owner="shop") for name in "ab"] + [make_fault("c", owner="pay")]
    router.opened(*tickets, make_fault("d", owner="boss", level="page"), at=MIDNIGHT)

    router.route_due(MIDNIGHT + 8 * HOUR - 1)
    assert digests(router) == []
    for second in range(3):
        router.route_due(MIDNIGHT + 8 * HOUR + second)
    first = [("pay", "1 open ticket", 1), ("shop", "2 open tickets", 2)]
    assert sorted(digests(router)) == first
    router.at(MIDNIGHT + 10 * HOUR, tickets[0])
    router.at(MIDNIGHT + 10 * HOUR + 45, tickets[0])
    router.route_due(MIDNIGHT + 32 * HOUR)
    assert sorted(digests(router)) == sorted([*first, ("shop", "1 open ticket", 1)])


def test_ticket_of_the_afternoon_waits_for_the_next_day(embedded):
    """Send one digest a day."""
    router = StoredRouter(embedded)
    router.route_due(MIDNIGHT + 9 * HOUR)
    router.opened(make_fault("a", owner="shop"), at=MIDNIGHT + 15 * HOUR)

    router.route_due(MIDNIGHT + 15 * HOUR + 60)
    assert digests(router) == []
    router.route_due(MIDNIGHT + 33 * HOUR)
    assert digests(router) == [("shop", "1 open ticket", 1)]
    assert not router.messages("notice")[0]["is_answerable"]


def test_digest_lists_ten_and_counts_the_rest(embedded):
    """List the oldest first, in Slack."""
    router = StoredRouter(embedded)
    faults = [make_fault(name, owner="shop", onset=ord(name) * 60) for name in "abcdefghijkl"]
    router.opened(*faults, at=MIDNIGHT)

    router.route_due(MIDNIGHT + 9 * HOUR)

    (digest_message,) = router.messages("notice")
    assert (len(digest_message["lines"]), digest_message["note"]) == (10, "and 2 more")
    assert not digest_message["has_root"]
    assert digest_message["lines"][0] == "a: failed a (began at 1970-01-01 01:37 UTC)"
    assert digest_message["links"]["full_list"] == "https://lineward.test/incidents"


def test_incident_that_ended_long_ago_is_pruned_with_its_messages(embedded):
    """Prune once a day; keep all of open incidents."""
    router = StoredRouter(embedded, keep_days=1)
    over, stands = make_fault("a", owner="shop"), make_fault("b", owner="pay")
    router.opened(over, stands, at=MIDNIGHT)
    router.at(MIDNIGHT + 100, stands)
    router.at(MIDNIGHT + 145, stands)

    router.route_due(MIDNIGHT + 9 * HOUR)
    assert len(rows(router, incident_notification)) == 2
    with write_transaction(embedded) as connection:
        connection.execute(update(notification).values(state="sent"))
    router.route_due(MIDNIGHT + 33 * HOUR)
    (left,) = rows(router, incident_notification)
    assert left.addressee == "pay"
    kept = {(each.channel, each.kind) for each in rows(router, notification)}
    assert kept == {
        ("slack:#pay", "opened"),
        ("webhook:tickets", "opened"),
        ("slack:#pay", "notice"),
    }
    assert {each.day for each in rows(router, digest)} == {"2026-11-21", "2026-11-22"}


def rows(router, table):
    """Return all rows."""
    with router.engine.connect() as connection:
        return connection.execute(select(table)).all()


def suppress(name, **fields):  # noqa: ANN003
    """Suppress an incident for an hour by the planned window `move`."""
    until = (MIDNIGHT + HOUR) * SECOND_MICROS
    return make_fault(name, hidden_by="move", hidden_until=until, **fields)


def windows(router):
    """Return owner and title of each summary."""
    sent = router.messages("notice")
    return sorted((each["owner"], each["what"], len(each["lines"])) for each in sent)


def test_window_is_summarized_when_it_ends(embedded):
    """List each owner's own datasets once, and open what is still bad."""
    router = StoredRouter(embedded)
    faults = (suppress("a", owner="shop"), suppress("b", owner="shop"), suppress("c", owner="pay"))
    router.opened(*faults, at=MIDNIGHT, hidden_by="move")
    router.at(MIDNIGHT + 100, *faults[1:], hidden_by="move")
    router.at(MIDNIGHT + 145, *faults[1:], hidden_by="move")
    router.route_due(MIDNIGHT + HOUR - 1)
    assert router.outbox == []

    for second in (0, 1):
        router.at(
            MIDNIGHT + HOUR + second, make_fault("b", owner="shop"), make_fault("c", owner="pay")
        )
        router.route_due(MIDNIGHT + HOUR + second)

    summary = "The window has ended. Suppressed: {}; still bad: {}"
    expected = {("pay", summary.format(1, 1), 1), ("shop", summary.format(2, 1), 2)}
    assert set(windows(router)) == expected
    assert {each for each in router.outbox if "#shop" in each} == {
        "slack:#shop notice 1",
        "slack:#shop opened 2",
    }


def test_prolonged_window_is_summarized_at_its_end(embedded):
    """Wait while it suppresses."""
    router = StoredRouter(embedded)
    router.opened(suppress("a", owner="shop"), at=MIDNIGHT, hidden_by="move")

    router.route_due(MIDNIGHT + 2 * HOUR)

    assert windows(router) == []


def test_notice_of_held_tickets_is_not_an_incident():
    """Leave it without buttons: `lineward ack` does not know its id."""
    (notice,) = build_held_notices({"slack:C0000001": 3}, RoutingSettings(), MIDNIGHT)

    assert not notice.message.is_answerable
    assert summary_line(notice.message) == "Notice: 3 more new tickets: see the full list"
    assert headline(notice.message) == "Notice: new tickets of slack:C0000001"
    assert not any(line.startswith("Root: ") for line in field_lines(notice.message))


def window(router, **given):  # noqa: ANN003
    """Return a row of the table, for the first hour."""
    fields = {"name": "move", "pattern": "*", "by": "ada", "via": "cli", "reason": ""}
    times = {
        "from_at": MIDNIGHT * SECOND_MICROS,
        "until_at": (MIDNIGHT + HOUR) * SECOND_MICROS,
        "created_at": MIDNIGHT * SECOND_MICROS,
    }
    with write_transaction(router.engine) as connection:
        connection.execute(insert(suppression).values(**fields, **(times | given)))


def summarized_at(router):
    """Return when that window was summarized."""
    with router.engine.connect() as connection:
        return connection.scalar(select(suppression.c.told_at))


def test_window_that_suppressed_nothing_sends_nothing(embedded):
    """Mark it all the same."""
    router = StoredRouter(embedded)
    window(router)

    router.route_due(MIDNIGHT + HOUR - 1)
    assert summarized_at(router) is None
    router.route_due(MIDNIGHT + HOUR)
    assert summarized_at(router) == (MIDNIGHT + HOUR) * SECOND_MICROS
    assert router.outbox == []


def test_window_ended_by_a_person_is_summarized_then(catalog):
    """List also what recovered within it."""
    router = StoredRouter(catalog)
    window(router, ended_at=(MIDNIGHT + 600) * SECOND_MICROS)
    router.opened(suppress("a", owner="shop"), at=MIDNIGHT, hidden_by="move")
    router.at(MIDNIGHT + 100)
    router.at(MIDNIGHT + 145)

    router.route_due(MIDNIGHT + 599)
    assert (windows(router), summarized_at(router)) == ([], None)
    router.route_due(MIDNIGHT + 600)
    summary = "The window has ended. Suppressed: 1; still bad: 0"
    assert set(windows(router)) == {("shop", summary, 1)}
    assert not any(each["is_answerable"] for each in router.messages("notice"))
    assert not any(each["has_root"] for each in router.messages("notice"))
    assert summarized_at(router) == (MIDNIGHT + 600) * SECOND_MICROS


def test_window_of_a_reused_name_is_summarized_at_its_own_end(embedded):
    """Ignore that a person ended yesterday's window early."""
    router = StoredRouter(embedded)
    day = 24 * HOUR
    before = {"from_at": MIDNIGHT - day, "until_at": MIDNIGHT - day + HOUR}
    before |= {"ended_at": MIDNIGHT - day + 60, "told_at": MIDNIGHT - day + 60}
    window(router, **{name: second * SECOND_MICROS for name, second in before.items()})
    window(router)
    router.opened(suppress("a", owner="shop"), at=MIDNIGHT, hidden_by="move")
    router.at(MIDNIGHT + 100)
    router.at(MIDNIGHT + 145)

    router.route_due(MIDNIGHT + 600)
    assert windows(router) == []
    router.route_due(MIDNIGHT + HOUR)
    assert [owner for owner, *_ in set(windows(router))] == ["shop"]


def test_second_within_a_window_has_no_work(embedded):
    """Take no write lock until the window may have ended."""
    router = StoredRouter(embedded)
    window(router)
    router.opened(suppress("a", owner="shop"), at=MIDNIGHT, hidden_by="move")

    with embedded.connect() as connection:
        asked = (router.policy, router.settings)
        assert not is_route_due(connection, *asked, (MIDNIGHT + HOUR) * SECOND_MICROS - 1)
        assert is_route_due(connection, *asked, (MIDNIGHT + HOUR) * SECOND_MICROS)


def test_undeclared_inputs_without_a_producer_are_one_line_of_the_digest(embedded):
    """Send no message for 50 topics of one broker.

    Mutant: each a message, they stood above the failed job and held up its channel.
    """
    router = StoredRouter(embedded)
    topics = [make_fault(chr(500 + n), "standing_gap", owner=None) for n in range(50)]
    root = MessageRoot("dataset", "topic", "kafka://broker:9092")
    router.opened(*topics, at=MIDNIGHT, is_digest_only=True, root=root)
    router.at(MIDNIGHT + 60, *topics, make_fault("a", owner="shop"))
    router.at(MIDNIGHT + 90, *topics, make_fault("a", owner="shop"))
    router.route_due(MIDNIGHT + 8 * HOUR)

    assert router.outbox == ["slack:#shop opened 1", "webhook:tickets opened 1"]
    router.route_due(MIDNIGHT + 9 * HOUR)
    assert sorted(digests(router)) == [
        ("platform", "1 open ticket", 1),
        ("shop", "1 open ticket", 1),
    ]
    (lines,) = [each["lines"] for each in router.messages("notice") if each["owner"] == "platform"]
    assert lines[0].startswith("kafka://broker:9092: 50 datasets have no producer (began at ")


def test_gap_of_a_declared_dataset_is_sent(embedded):
    """Send one message once the dataset is declared or critical."""
    router = StoredRouter(embedded)
    gap = make_fault("a", "standing_gap", owner="shop")
    router.opened(gap, at=MIDNIGHT, is_digest_only=True)
    assert router.outbox == []

    changed = make_fault("ab", "standing_gap", owner="shop", faults=gap.faults)
    router.at(MIDNIGHT + 60, changed, is_digest_only=False)
    assert router.outbox == ["slack:#shop opened 2", "webhook:tickets opened 2"]


def test_channel_gets_20_tickets_an_hour_and_a_count_of_the_rest(embedded):
    """Send 20 of 50 and the number of the others, then 20 an hour later; send all pages.

    Mutant: without the cap, the channel gets every ticket.
    """
    router = StoredRouter(embedded)
    tickets = [make_fault(chr(500 + n), owner="chat") for n in range(50)]
    router.opened(*tickets, at=MIDNIGHT)
    page = make_fault("p", owner="chat", level="page")
    router.at(MIDNIGHT + 60, *tickets, page)
    router.at(MIDNIGHT + 90, *tickets, page)

    def openings():
        return sum(each.startswith("slack:#chat opened") for each in router.outbox)

    assert openings() == 20 + 1
    assert [each["what"] for each in router.messages("notice")] == [
        "30 more new tickets: see the full list"
    ]
    for seconds in (1_800, HOUR + 29):
        router.route_due(MIDNIGHT + seconds)
    assert openings() == 21
    router.route_due(MIDNIGHT + HOUR + 31)
    assert openings() == 41
    assert [each["what"] for each in router.messages("notice")] == [
        "30 more new tickets: see the full list",
        "10 more new tickets: see the full list",
    ]

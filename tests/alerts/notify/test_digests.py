"""The digest of tickets, and what a planned window hid."""

from datetime import UTC, datetime

import msgspec
from sqlalchemy import insert, select, update

from alerts.incidents.estate import MICROS
from alerts.notify import is_due
from alerts.notify.message import Root
from lineage.catalog.engine import writing
from lineage.catalog.tables import digest, incident_telling, notification, suppression
from lineage.clock import to_micros
from tests.alerts.incidents.stories import found
from tests.alerts.notify.memory_router import POLICY
from tests.alerts.notify.stored_router import StoredRouter

MIDNIGHT = to_micros(datetime(2026, 11, 21, tzinfo=UTC)) // MICROS
HOUR = 3_600
BERLIN = msgspec.structs.replace(POLICY, time_zone="Europe/Berlin")


def digests(router):
    """Owner, what and lines of each."""
    return [
        (each["owner"], each["what"], len(each["lines"]))
        for each in router.messages("notice")
        if each["incident_id"].startswith("digest-")
    ]


def test_each_owner_hears_of_open_tickets_once_a_day(embedded):
    """At nine in the policy's time zone, again the next day, and nothing when there are none."""
    router = StoredRouter(embedded, BERLIN)
    tickets = [found(name, owner="shop") for name in "ab"] + [found("c", owner="pay")]
    router.opened(*tickets, found("d", owner="boss", level="page"), at=MIDNIGHT)

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


def test_a_ticket_of_the_afternoon_waits_for_the_next_day(embedded):
    """The day's digest was due in the morning, whether there was any or not."""
    router = StoredRouter(embedded)
    router.route_due(MIDNIGHT + 9 * HOUR)
    router.opened(found("a", owner="shop"), at=MIDNIGHT + 15 * HOUR)

    router.route_due(MIDNIGHT + 15 * HOUR + 60)
    assert digests(router) == []
    router.route_due(MIDNIGHT + 33 * HOUR)
    assert digests(router) == [("shop", "1 open ticket", 1)]


def test_a_digest_lists_ten_and_counts_the_rest(embedded):
    """The oldest first; in Slack, and nobody is rung."""
    router = StoredRouter(embedded)
    faults = [found(name, owner="shop", onset=ord(name) * 60) for name in "abcdefghijkl"]
    router.opened(*faults, at=MIDNIGHT)

    router.route_due(MIDNIGHT + 9 * HOUR)

    (told,) = router.messages("notice")
    assert (len(told["lines"]), told["note"]) == (10, "and 2 more")
    assert told["lines"][0] == "a: failed a (began at 1970-01-01 01:37 UTC)"
    assert told["links"]["full_list"] == "https://lineward.test/incidents"


def test_what_ended_long_ago_is_forgotten_with_its_messages(embedded):
    """By the day's first turn; what stands open keeps all of its own."""
    router = StoredRouter(embedded, keep_days=1)
    over, stands = found("a", owner="shop"), found("b", owner="pay")
    router.opened(over, stands, at=MIDNIGHT)
    router.at(MIDNIGHT + 100, stands)
    router.at(MIDNIGHT + 145, stands)

    router.route_due(MIDNIGHT + 9 * HOUR)
    assert len(rows(router, incident_telling)) == 2
    with writing(embedded) as connection:
        connection.execute(update(notification).values(state="sent"))
    router.route_due(MIDNIGHT + 33 * HOUR)
    (left,) = rows(router, incident_telling)
    assert left.addressee == "pay"
    kept = {(each.channel, each.kind) for each in rows(router, notification)}
    assert kept == {
        ("slack:#pay", "opened"),
        ("webhook:tickets", "opened"),
        ("slack:#pay", "notice"),
    }
    assert {each.day for each in rows(router, digest)} == {"2026-11-21", "2026-11-22"}


def rows(router, table):
    """All of them."""
    with router.engine.connect() as connection:
        return connection.execute(select(table)).all()


def hidden(name, **said):  # noqa: ANN003
    """By the planned window `move`, for an hour."""
    until = (MIDNIGHT + HOUR) * MICROS
    return found(name, hidden_by="move", hidden_until=until, **said)


def windows(router):
    """Owner and what of each."""
    told = router.messages("notice")
    return sorted((each["owner"], each["what"], len(each["lines"])) for each in told)


def test_what_a_window_hid_is_listed_when_it_ends(embedded):
    """For each owner theirs, once; what is bad still opens beside it."""
    router = StoredRouter(embedded)
    faults = (hidden("a", owner="shop"), hidden("b", owner="shop"), hidden("c", owner="pay"))
    router.opened(*faults, at=MIDNIGHT, hidden_by="move")
    router.at(MIDNIGHT + 100, *faults[1:], hidden_by="move")
    router.at(MIDNIGHT + 145, *faults[1:], hidden_by="move")
    router.route_due(MIDNIGHT + HOUR - 1)
    assert router.outbox == []

    for second in (0, 1):
        router.at(MIDNIGHT + HOUR + second, found("b", owner="shop"), found("c", owner="pay"))
        router.route_due(MIDNIGHT + HOUR + second)

    said = "The window has ended. Suppressed: {}; still bad: {}"
    assert set(windows(router)) == {("pay", said.format(1, 1), 1), ("shop", said.format(2, 1), 2)}
    assert {each for each in router.outbox if "#shop" in each} == {
        "slack:#shop notice 1",
        "slack:#shop opened 2",
    }


def test_a_window_that_was_prolonged_is_listed_at_its_end(embedded):
    """What it hides still is no news yet."""
    router = StoredRouter(embedded)
    router.opened(hidden("a", owner="shop"), at=MIDNIGHT, hidden_by="move")

    router.route_due(MIDNIGHT + 2 * HOUR)

    assert windows(router) == []


def window(router, **given):  # noqa: ANN003
    """A row of the table, of the first hour."""
    fields = {"name": "move", "pattern": "*", "by": "ada", "via": "cli", "reason": ""}
    times = {
        "from_at": MIDNIGHT * MICROS,
        "until_at": (MIDNIGHT + HOUR) * MICROS,
        "created_at": MIDNIGHT * MICROS,
    }
    with writing(router.engine) as connection:
        connection.execute(insert(suppression).values(**fields, **(times | given)))


def told_at(router):
    """When that window was told of."""
    with router.engine.connect() as connection:
        return connection.scalar(select(suppression.c.told_at))


def test_a_window_that_hid_nothing_is_told_to_nobody(embedded):
    """It is done all the same."""
    router = StoredRouter(embedded)
    window(router)

    router.route_due(MIDNIGHT + HOUR - 1)
    assert told_at(router) is None
    router.route_due(MIDNIGHT + HOUR)
    assert told_at(router) == (MIDNIGHT + HOUR) * MICROS
    assert router.outbox == []


def test_a_window_that_a_person_ended_is_listed_then(catalog):
    """Before its time; what it hid and was good again is in it."""
    router = StoredRouter(catalog)
    window(router, ended_at=(MIDNIGHT + 600) * MICROS)
    router.opened(hidden("a", owner="shop"), at=MIDNIGHT, hidden_by="move")
    router.at(MIDNIGHT + 100)
    router.at(MIDNIGHT + 145)

    router.route_due(MIDNIGHT + 599)
    assert (windows(router), told_at(router)) == ([], None)
    router.route_due(MIDNIGHT + 600)
    said = "The window has ended. Suppressed: 1; still bad: 0"
    assert set(windows(router)) == {("shop", said, 1)}
    assert told_at(router) == (MIDNIGHT + 600) * MICROS


def test_a_window_of_a_name_that_was_used_before_is_listed_at_its_own_end(embedded):
    """A person ended yesterday's early; what today's hid, and is good again, is no news yet."""
    router = StoredRouter(embedded)
    day = 24 * HOUR
    before = {"from_at": MIDNIGHT - day, "until_at": MIDNIGHT - day + HOUR}
    before |= {"ended_at": MIDNIGHT - day + 60, "told_at": MIDNIGHT - day + 60}
    window(router, **{name: second * MICROS for name, second in before.items()})
    window(router)
    router.opened(hidden("a", owner="shop"), at=MIDNIGHT, hidden_by="move")
    router.at(MIDNIGHT + 100)
    router.at(MIDNIGHT + 145)

    router.route_due(MIDNIGHT + 600)
    assert windows(router) == []
    router.route_due(MIDNIGHT + HOUR)
    assert [owner for owner, *_ in set(windows(router))] == ["shop"]


def test_while_a_window_hides_something_a_second_has_nothing_to_do(embedded):
    """Until it may have ended: whoever writes is not held up for hours."""
    router = StoredRouter(embedded)
    window(router)
    router.opened(hidden("a", owner="shop"), at=MIDNIGHT, hidden_by="move")

    with embedded.connect() as connection:
        asked = (router.policy, router.settings)
        assert not is_due(connection, *asked, (MIDNIGHT + HOUR) * MICROS - 1)
        assert is_due(connection, *asked, (MIDNIGHT + HOUR) * MICROS)


def test_undeclared_inputs_without_a_producer_are_one_line_of_the_digest(embedded):
    """50 topics of a broker that nobody declared: no message of their own, one ticket a day.

    Mutant: each a message, they stood above the failed job and held up its channel.
    """
    router = StoredRouter(embedded)
    topics = [found(chr(500 + n), "standing_gap", owner=None) for n in range(50)]
    root = Root("dataset", "topic", "kafka://broker:9092")
    router.opened(*topics, at=MIDNIGHT, is_digest_only=True, root=root)
    router.at(MIDNIGHT + 60, *topics, found("a", owner="shop"))
    router.at(MIDNIGHT + 90, *topics, found("a", owner="shop"))
    router.route_due(MIDNIGHT + 8 * HOUR)

    assert router.outbox == ["slack:#shop opened 1", "webhook:tickets opened 1"]
    router.route_due(MIDNIGHT + 9 * HOUR)
    assert sorted(digests(router)) == [
        ("platform", "1 open ticket", 1),
        ("shop", "1 open ticket", 1),
    ]
    (lines,) = [each["lines"] for each in router.messages("notice") if each["owner"] == "platform"]
    assert lines[0].startswith("kafka://broker:9092: 50 datasets have no producer (began at ")


def test_a_gap_that_matters_is_sent_after_all(embedded):
    """Somebody declared the dataset or made it critical: a message of its own, once."""
    router = StoredRouter(embedded)
    gap = found("a", "standing_gap", owner="shop")
    router.opened(gap, at=MIDNIGHT, is_digest_only=True)
    assert router.outbox == []

    changed = found("ab", "standing_gap", owner="shop", faults=gap.faults)
    router.at(MIDNIGHT + 60, changed, is_digest_only=False)
    assert router.outbox == ["slack:#shop opened 2", "webhook:tickets opened 2"]


def test_a_channel_gets_20_tickets_an_hour_and_one_word_of_the_rest(embedded):
    """50 at once: 20 messages and "and 30 more"; the next 20 follow an hour later. Pages are sent.

    Mutant: without the cap, the channel gets every ticket.
    """
    router = StoredRouter(embedded)
    tickets = [found(chr(500 + n), owner="chat") for n in range(50)]
    router.opened(*tickets, at=MIDNIGHT)
    page = found("p", owner="chat", level="page")
    router.at(MIDNIGHT + 60, *tickets, page)
    router.at(MIDNIGHT + 90, *tickets, page)

    def openings():
        return sum(each.startswith("slack:#chat opened") for each in router.outbox)

    assert openings() == 20 + 1
    assert [each["what"] for each in router.messages("notice")] == ["and 30 more"]
    for seconds in (1_800, HOUR + 29):
        router.route_due(MIDNIGHT + seconds)
    assert openings() == 21
    router.route_due(MIDNIGHT + HOUR + 31)
    assert openings() == 41
    assert [each["what"] for each in router.messages("notice")] == ["and 30 more", "and 10 more"]

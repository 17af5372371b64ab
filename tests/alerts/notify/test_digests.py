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
from tests.alerts.notify.stored_router import Desk

MIDNIGHT = to_micros(datetime(2026, 11, 21, tzinfo=UTC)) // MICROS
HOUR = 3_600
BERLIN = msgspec.structs.replace(POLICY, time_zone="Europe/Berlin")


def digests(desk):
    """Owner, what and lines of each."""
    return [
        (each["owner"], each["what"], len(each["lines"]))
        for each in desk.messages("notice")
        if each["incident_id"].startswith("digest-")
    ]


def test_each_owner_hears_of_open_tickets_once_a_day(embedded):
    """At nine in the policy's time zone, again the next day, and nothing when there are none."""
    desk = Desk(embedded, BERLIN)
    tickets = [found(name, owner="shop") for name in "ab"] + [found("c", owner="pay")]
    desk.opened(*tickets, found("d", owner="boss", level="page"), at=MIDNIGHT)

    desk.turn(MIDNIGHT + 8 * HOUR - 1)
    assert digests(desk) == []
    for second in range(3):
        desk.turn(MIDNIGHT + 8 * HOUR + second)
    first = [("pay", "1 ticket is open", 1), ("shop", "2 tickets are open", 2)]
    assert sorted(digests(desk)) == first
    desk.at(MIDNIGHT + 10 * HOUR, tickets[0])
    desk.at(MIDNIGHT + 10 * HOUR + 45, tickets[0])
    desk.turn(MIDNIGHT + 32 * HOUR)
    assert sorted(digests(desk)) == sorted([*first, ("shop", "1 ticket is open", 1)])


def test_a_ticket_of_the_afternoon_waits_for_the_next_day(embedded):
    """The day's digest was due in the morning, whether there was any or not."""
    desk = Desk(embedded)
    desk.turn(MIDNIGHT + 9 * HOUR)
    desk.opened(found("a", owner="shop"), at=MIDNIGHT + 15 * HOUR)

    desk.turn(MIDNIGHT + 15 * HOUR + 60)
    assert digests(desk) == []
    desk.turn(MIDNIGHT + 33 * HOUR)
    assert digests(desk) == [("shop", "1 ticket is open", 1)]


def test_a_digest_lists_ten_and_counts_the_rest(embedded):
    """The oldest first; in Slack, and nobody is rung."""
    desk = Desk(embedded)
    faults = [found(name, owner="shop", onset=ord(name) * 60) for name in "abcdefghijkl"]
    desk.opened(*faults, at=MIDNIGHT)

    desk.turn(MIDNIGHT + 9 * HOUR)

    (told,) = desk.messages("notice")
    assert (len(told["lines"]), told["note"]) == (10, "and 2 more")
    assert told["lines"][0] == "a: failed a (began at 1970-01-01 01:37 UTC)"
    assert told["links"]["full_list"] == "https://lineward.test/incidents"


def test_what_ended_long_ago_is_forgotten_with_its_messages(embedded):
    """By the day's first turn; what stands open keeps all of its own."""
    desk = Desk(embedded, keep_days=1)
    over, stands = found("a", owner="shop"), found("b", owner="pay")
    desk.opened(over, stands, at=MIDNIGHT)
    desk.at(MIDNIGHT + 100, stands)
    desk.at(MIDNIGHT + 145, stands)

    desk.turn(MIDNIGHT + 9 * HOUR)
    assert len(rows(desk, incident_telling)) == 2
    with writing(embedded) as connection:
        connection.execute(update(notification).values(state="sent"))
    desk.turn(MIDNIGHT + 33 * HOUR)
    (left,) = rows(desk, incident_telling)
    assert left.addressee == "pay"
    kept = {(each.channel, each.kind) for each in rows(desk, notification)}
    assert kept == {
        ("slack:#pay", "opened"),
        ("webhook:tickets", "opened"),
        ("slack:#pay", "notice"),
    }
    assert {each.day for each in rows(desk, digest)} == {"2026-11-21", "2026-11-22"}


def rows(desk, table):
    """All of them."""
    with desk.engine.connect() as connection:
        return connection.execute(select(table)).all()


def hidden(name, **said):  # noqa: ANN003
    """By the planned window `move`, for an hour."""
    until = (MIDNIGHT + HOUR) * MICROS
    return found(name, hidden_by="move", hidden_until=until, **said)


def windows(desk):
    """Owner and what of each."""
    told = desk.messages("notice")
    return sorted((each["owner"], each["what"], len(each["lines"])) for each in told)


def test_what_a_window_hid_is_listed_when_it_ends(embedded):
    """For each owner theirs, once; what is bad still opens beside it."""
    desk = Desk(embedded)
    faults = (hidden("a", owner="shop"), hidden("b", owner="shop"), hidden("c", owner="pay"))
    desk.opened(*faults, at=MIDNIGHT, hidden_by="move")
    desk.at(MIDNIGHT + 100, *faults[1:], hidden_by="move")
    desk.at(MIDNIGHT + 145, *faults[1:], hidden_by="move")
    desk.turn(MIDNIGHT + HOUR - 1)
    assert desk.outbox == []

    for second in (0, 1):
        desk.at(MIDNIGHT + HOUR + second, found("b", owner="shop"), found("c", owner="pay"))
        desk.turn(MIDNIGHT + HOUR + second)

    said = "The window has ended. It hid {}; still bad: {}"
    assert set(windows(desk)) == {("pay", said.format(1, 1), 1), ("shop", said.format(2, 1), 2)}
    assert {each for each in desk.outbox if "#shop" in each} == {
        "slack:#shop notice 1",
        "slack:#shop opened 2",
    }


def test_a_window_that_was_prolonged_is_listed_at_its_end(embedded):
    """What it hides still is no news yet."""
    desk = Desk(embedded)
    desk.opened(hidden("a", owner="shop"), at=MIDNIGHT, hidden_by="move")

    desk.turn(MIDNIGHT + 2 * HOUR)

    assert windows(desk) == []


def window(desk, **given):  # noqa: ANN003
    """A row of the table, of the first hour."""
    fields = {"name": "move", "pattern": "*", "by": "ada", "via": "cli", "reason": ""}
    times = {
        "from_at": MIDNIGHT * MICROS,
        "until_at": (MIDNIGHT + HOUR) * MICROS,
        "created_at": MIDNIGHT * MICROS,
    }
    with writing(desk.engine) as connection:
        connection.execute(insert(suppression).values(**fields, **(times | given)))


def told_at(desk):
    """When that window was told of."""
    with desk.engine.connect() as connection:
        return connection.scalar(select(suppression.c.told_at))


def test_a_window_that_hid_nothing_is_told_to_nobody(embedded):
    """It is done all the same."""
    desk = Desk(embedded)
    window(desk)

    desk.turn(MIDNIGHT + HOUR - 1)
    assert told_at(desk) is None
    desk.turn(MIDNIGHT + HOUR)
    assert told_at(desk) == (MIDNIGHT + HOUR) * MICROS
    assert desk.outbox == []


def test_a_window_that_a_person_ended_is_listed_then(catalog):
    """Before its time; what it hid and was good again is in it."""
    desk = Desk(catalog)
    window(desk, ended_at=(MIDNIGHT + 600) * MICROS)
    desk.opened(hidden("a", owner="shop"), at=MIDNIGHT, hidden_by="move")
    desk.at(MIDNIGHT + 100)
    desk.at(MIDNIGHT + 145)

    desk.turn(MIDNIGHT + 599)
    assert (windows(desk), told_at(desk)) == ([], None)
    desk.turn(MIDNIGHT + 600)
    said = "The window has ended. It hid 1; still bad: 0"
    assert set(windows(desk)) == {("shop", said, 1)}
    assert told_at(desk) == (MIDNIGHT + 600) * MICROS


def test_a_window_of_a_name_that_was_used_before_is_listed_at_its_own_end(embedded):
    """A person ended yesterday's early; what today's hid, and is good again, is no news yet."""
    desk = Desk(embedded)
    day = 24 * HOUR
    before = {"from_at": MIDNIGHT - day, "until_at": MIDNIGHT - day + HOUR}
    before |= {"ended_at": MIDNIGHT - day + 60, "told_at": MIDNIGHT - day + 60}
    window(desk, **{name: second * MICROS for name, second in before.items()})
    window(desk)
    desk.opened(hidden("a", owner="shop"), at=MIDNIGHT, hidden_by="move")
    desk.at(MIDNIGHT + 100)
    desk.at(MIDNIGHT + 145)

    desk.turn(MIDNIGHT + 600)
    assert windows(desk) == []
    desk.turn(MIDNIGHT + HOUR)
    assert [owner for owner, *_ in set(windows(desk))] == ["shop"]


def test_while_a_window_hides_something_a_second_has_nothing_to_do(embedded):
    """Until it may have ended: whoever writes is not held up for hours."""
    desk = Desk(embedded)
    window(desk)
    desk.opened(hidden("a", owner="shop"), at=MIDNIGHT, hidden_by="move")

    with embedded.connect() as connection:
        asked = (desk.policy, desk.settings)
        assert not is_due(connection, *asked, (MIDNIGHT + HOUR) * MICROS - 1)
        assert is_due(connection, *asked, (MIDNIGHT + HOUR) * MICROS)


def test_undeclared_inputs_without_a_producer_are_one_line_of_the_digest(embedded):
    """50 topics of a broker that nobody declared: no message of their own, one ticket a day.

    Mutant: each a message, they stood above the failed job and held up its channel.
    """
    desk = Desk(embedded)
    topics = [found(chr(500 + n), "standing_gap", owner=None) for n in range(50)]
    root = Root("dataset", "topic", "kafka://broker:9092")
    desk.opened(*topics, at=MIDNIGHT, waits_for_digest=True, root=root)
    desk.at(MIDNIGHT + 60, *topics, found("a", owner="shop"))
    desk.at(MIDNIGHT + 90, *topics, found("a", owner="shop"))
    desk.turn(MIDNIGHT + 8 * HOUR)

    assert desk.outbox == ["slack:#shop opened 1", "webhook:tickets opened 1"]
    desk.turn(MIDNIGHT + 9 * HOUR)
    assert sorted(digests(desk)) == [
        ("platform", "1 ticket is open", 1),
        ("shop", "1 ticket is open", 1),
    ]
    (lines,) = [each["lines"] for each in desk.messages("notice") if each["owner"] == "platform"]
    assert lines[0].startswith("kafka://broker:9092: 50 datasets have no producer (began at ")


def test_a_gap_that_matters_is_sent_after_all(embedded):
    """Somebody declared the dataset or made it critical: a message of its own, once."""
    desk = Desk(embedded)
    gap = found("a", "standing_gap", owner="shop")
    desk.opened(gap, at=MIDNIGHT, waits_for_digest=True)
    assert desk.outbox == []

    changed = found("ab", "standing_gap", owner="shop", faults=gap.faults)
    desk.at(MIDNIGHT + 60, changed, waits_for_digest=False)
    assert desk.outbox == ["slack:#shop opened 2", "webhook:tickets opened 2"]


def test_a_channel_gets_20_tickets_an_hour_and_one_word_of_the_rest(embedded):
    """50 at once: 20 messages and "and 30 more"; the next 20 follow an hour later. Pages are sent.

    Mutant: without the cap, the channel gets every ticket.
    """
    desk = Desk(embedded)
    tickets = [found(chr(500 + n), owner="chat") for n in range(50)]
    desk.opened(*tickets, at=MIDNIGHT)
    page = found("p", owner="chat", level="page")
    desk.at(MIDNIGHT + 60, *tickets, page)
    desk.at(MIDNIGHT + 90, *tickets, page)

    def openings():
        return sum(each.startswith("slack:#chat opened") for each in desk.outbox)

    assert openings() == 20 + 1
    assert [each["what"] for each in desk.messages("notice")] == ["and 30 more"]
    for seconds in (1_800, HOUR + 29):
        desk.turn(MIDNIGHT + seconds)
    assert openings() == 21
    desk.turn(MIDNIGHT + HOUR + 31)
    assert openings() == 41
    assert [each["what"] for each in desk.messages("notice")] == ["and 30 more", "and 10 more"]

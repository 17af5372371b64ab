"""Windows that come again, over the days on which clocks are changed too."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.policy import parse
from lineage.policy.recurring import Recurring, problem_of

BERLIN = "Europe/Berlin"


def _window(cron, hours=2.0, zone=BERLIN):
    return Recurring(cron, timedelta(hours=hours), zone)


def _at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _spans(window, first, last):
    """Return the windows that hold in each minute between two instants, as UTC `HH:MM`."""
    found, at = [], _at(first)
    while at < _at(last):
        span = window.window_at(at)
        if span and span not in found:
            found.append(span)
        at += timedelta(minutes=1)
    return [tuple(f"{end:%d %H:%M}" for end in span) for span in found]


def test_a_window_holds_from_its_first_to_before_its_last_instant():
    """02:00 to 04:00 in Berlin is 01:00 to 03:00 UTC in winter."""
    window = _window("0 2 * * *")
    micro = timedelta(microseconds=1)
    begin, end = _at("2026-11-21T01:00"), _at("2026-11-21T03:00")

    held = [window.window_at(at) for at in (begin - micro, begin, end - micro, end)]

    assert held == [None, (begin, end), (begin, end), None]


@pytest.mark.parametrize(
    ("cron", "spans"),
    [
        ("0 1 * * *", [("29 00:00", "29 02:00")]),
        ("30 2 * * *", [("29 01:00", "29 03:00")]),  # 02:30 is left out: right after, at 03:00
        ("0 4 * * *", [("29 02:00", "29 04:00")]),
    ],
)
def test_in_spring_none_is_left_out_or_cut(cron, spans):
    """29 March 2026, 02:00 is followed by 03:00: two hours are two hours of the second hand."""
    assert _spans(_window(cron), "2026-03-28T23:30", "2026-03-29T12:00") == spans


@pytest.mark.parametrize(
    ("cron", "spans"),
    [
        ("0 1 * * *", [("24 23:00", "25 01:00")]),
        ("30 2 * * *", [("25 00:30", "25 02:30")]),  # 02:30 is there twice: begins once
        ("0 4 * * *", [("25 03:00", "25 05:00")]),
    ],
)
def test_in_autumn_none_comes_twice_or_lasts_longer(cron, spans):
    """25 October 2026, 03:00 is followed by 02:00 once more."""
    assert _spans(_window(cron), "2026-10-24T22:30", "2026-10-25T12:00") == spans


def test_hourly_windows_go_by_the_hours_that_there_are():
    """The repeated hour has one of its own, as cron's `*` does."""
    hourly = _window("0 * * * *", hours=0.5)

    assert _spans(hourly, "2026-10-24T23:45", "2026-10-25T02:45") == [
        ("25 00:00", "25 00:30"),
        ("25 01:00", "25 01:30"),
        ("25 02:00", "25 02:30"),
    ]


def test_the_next_window_is_the_first_that_begins_later():
    """Ask on a Sunday: the next Sunday's."""
    sundays = _window("0 2 * * sun", zone="UTC")

    assert sundays.next_window(_at("2026-11-22T02:00")) == (
        _at("2026-11-29T02:00"),
        _at("2026-11-29T04:00"),
    )


def test_of_windows_that_overlap_the_last_holds():
    """Friday 22:00 and Saturday 22:00 for 30 h: until Monday 04:00, from Saturday 22:00 on."""
    nights = _window("0 22 * * fri,sat", hours=30, zone="UTC")

    assert nights.window_at(_at("2026-11-21T21:00")) == (
        _at("2026-11-20T22:00"),
        _at("2026-11-22T04:00"),
    )
    assert nights.window_at(_at("2026-11-21T23:00")) == (
        _at("2026-11-21T22:00"),
        _at("2026-11-23T04:00"),
    )


@pytest.mark.parametrize(
    ("cron", "hours", "wrong"),
    [
        ("0 2 * * *", 23.5, None),
        ("0 0 29 2 *", 24, None),
        ("*/5 * * * *", 4 / 60, None),
        ("0 22 * * fri,sat", 30, None),
        ("0 2 * *", 1, "expected five fields"),
        ("0 0 2 * * *", 1, "expected five fields"),
        ("@daily", 1, "expected five fields"),
        ("60 2 * * *", 1, "bad minute in '60 2 * * *'"),
        ("0 2 31 2 *", 1, "bad day-of-month"),
        ("0 0 * 2 mon#5", 1, "comes in none of the next five years"),
        ("* * * * *", 1, "hides without a break"),
        ("0 0 * * *", 24, "hides without a break"),
        ("0 0 * 3-8 *", 24, "hides without a break"),
    ],
)
def test_what_never_comes_or_never_ends_is_rejected(cron, hours, wrong):
    """Daily windows that shrink by an hour in spring are none of those."""
    problem = problem_of(_window(cron, hours))

    assert problem is None if wrong is None else wrong in (problem or "")


@given(st.text("0123456789*/-,#LW MONSUN?x", max_size=25))
def test_any_text_is_accepted_or_rejected(cron):
    """Return one sentence, and no error of the library's own."""
    problem = problem_of(_window(cron))

    assert problem is None or problem[0].islower() or problem[0] == "'"


def test_the_policys_zone_holds_unless_a_window_names_its_own():
    """`for` is a duration as everywhere in the policy."""
    policy = parse(
        "time_zone: Europe/Berlin\nsuppressions:\n"
        "- {name: a, match: x, cron: 0 2 * * *, for: 90m}\n"
        "- {name: b, match: x, cron: 0 2 * * *, for: 60, time_zone: Asia/Tokyo}\n"
        "- {name: c, match: x, from: 2026-11-21T00:00:00Z, until: 2026-11-22T00:00:00Z}\n"
    )

    assert [one.recurring(policy.time_zone) for one in policy.suppressions] == [
        _window("0 2 * * *", 1.5),
        _window("0 2 * * *", 1 / 60, "Asia/Tokyo"),
        None,
    ]

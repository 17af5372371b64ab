"""Recurring windows, also on days of clock changes."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.policy import parse_policy
from lineage.policy.recurring import Recurring, window_problem

BERLIN = "Europe/Berlin"


def _window(cron, hours=2.0, zone=BERLIN):
    return Recurring(cron, timedelta(hours=hours), zone)


def _at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _spans(window, first, last):
    """Return the windows in force in each minute between two times, as UTC `HH:MM`."""
    found, at = [], _at(first)
    while at < _at(last):
        span = window.window_at(at)
        if span and span not in found:
            found.append(span)
        at += timedelta(minutes=1)
    return [tuple(f"{end:%d %H:%M}" for end in span) for span in found]


def test_a_window_includes_its_begin_and_excludes_its_end():
    """Begin 02:00 to 04:00 in Berlin at 01:00 UTC in winter, and end before 03:00."""
    window = _window("0 2 * * *")
    micro = timedelta(microseconds=1)
    begin, end = _at("2026-11-21T01:00"), _at("2026-11-21T03:00")

    held = [window.window_at(at) for at in (begin - micro, begin, end - micro, end)]

    assert held == [None, (begin, end), (begin, end), None]


@pytest.mark.parametrize(
    ("cron", "spans"),
    [
        ("0 1 * * *", [("29 00:00", "29 02:00")]),
        ("30 2 * * *", [("29 01:00", "29 03:00")]),  # 02:30 is skipped: right after, at 03:00
        ("0 4 * * *", [("29 02:00", "29 04:00")]),
    ],
)
def test_in_spring_no_window_is_skipped_or_cut(cron, spans):
    """Keep two elapsed hours on 29 March 2026, when 02:00 is followed by 03:00."""
    assert _spans(_window(cron), "2026-03-28T23:30", "2026-03-29T12:00") == spans


@pytest.mark.parametrize(
    ("cron", "spans"),
    [
        ("0 1 * * *", [("24 23:00", "25 01:00")]),
        ("30 2 * * *", [("25 00:30", "25 02:30")]),  # 02:30 occurs twice: begins once
        ("0 4 * * *", [("25 03:00", "25 05:00")]),
    ],
)
def test_in_autumn_no_window_repeats_or_lasts_longer(cron, spans):
    """Begin once on 25 October 2026, when 03:00 is followed by 02:00."""
    assert _spans(_window(cron), "2026-10-24T22:30", "2026-10-25T12:00") == spans


def test_hourly_windows_follow_real_hours():
    """Begin a window in the repeated hour too, as cron's `*` does."""
    hourly = _window("0 * * * *", hours=0.5)

    assert _spans(hourly, "2026-10-24T23:45", "2026-10-25T02:45") == [
        ("25 00:00", "25 00:30"),
        ("25 01:00", "25 01:30"),
        ("25 02:00", "25 02:30"),
    ]


def test_the_next_window_is_the_first_that_begins_later():
    """Return next Sunday's window on a Sunday."""
    sundays = _window("0 2 * * sun", zone="UTC")

    assert sundays.next_window(_at("2026-11-22T02:00")) == (
        _at("2026-11-29T02:00"),
        _at("2026-11-29T04:00"),
    )


def test_the_last_of_overlapping_windows_applies():
    """Prefer Saturday 22:00 for 30 h to Friday 22:00, until Monday 04:00."""
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
def test_a_window_that_never_begins_or_never_ends_is_rejected(cron, hours, wrong):
    """Accept daily windows, although spring shortens one by an hour."""
    problem = window_problem(_window(cron, hours))

    assert problem is None if wrong is None else wrong in (problem or "")


@given(st.text("0123456789*/-,#LW MONSUN?x", max_size=25))
def test_any_text_is_accepted_or_rejected(cron):
    """Return one message, and no error of the library's own."""
    problem = window_problem(_window(cron))

    assert problem is None or problem[0].islower() or problem[0] == "'"


def test_the_zone_of_a_window_overrides_that_of_the_policy():
    """Read `for` as a duration, as everywhere in the policy."""
    policy = parse_policy(
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

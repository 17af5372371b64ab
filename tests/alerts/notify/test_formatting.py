"""Text from events in messages: it notifies nobody, forges no line, and is cut."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.notify.formatting import (
    escape_slack,
    format_duration,
    format_time,
    plain_text,
    quote_link,
)
from tests.alerts.notify.messages import BEGAN

ANY_TEXT = st.one_of(
    st.text(max_size=300),
    st.lists(
        st.sampled_from(
            ["<!channel>", "<@U1>", "<#C1>", "&", "<", ">", "&lt;", "\n", "\u202e", "*"]
        ),
        max_size=60,
    ).map("".join),
)


@given(ANY_TEXT, st.integers(1, 200))
def test_escaped_text_has_whole_entities_only(text, limit):
    """Escape every `<`, `>` and `&`, also in a text that is cut."""
    shown = escape_slack(text, limit)

    assert len(shown) <= limit
    assert "<" not in shown
    assert ">" not in shown
    assert "&" not in shown.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "")


@given(ANY_TEXT)
def test_escaped_text_reads_as_the_plain_text(text):
    """Decode it as Slack does."""
    assert html.unescape(escape_slack(text, 100_000)) == plain_text(text, 100_000)


@given(ANY_TEXT, st.integers(1, 200))
def test_plain_text_is_one_printable_line(text, limit):
    """Leave out line breaks and marks of direction, and keep the limit."""
    shown = plain_text(text, limit)

    assert len(shown) <= limit
    assert all(character.isprintable() or character.isspace() for character in shown)
    assert len(shown.splitlines()) <= 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<!channel> done", "&lt;!channel&gt; done"),
        ("<@U1>&co", "&lt;@U1&gt;&amp;co"),
        ("*b* _i_ ~s~ `c`", "*b* _i_ ~s~ `c`"),  # literal in plain_text
        ("two\r\nlines\tand", "two  lines and"),
        ("orders\u202eyliad", "orders\\u202eyliad"),
        ("zero\u200bwidth\x00", "zero\\u200bwidth\\u0000"),
        ("Größe 数据", "Größe 数据"),
    ],
)
def test_name_is_shown_readable(text, shown):
    """Write invisible characters as their code."""
    assert escape_slack(text, 100) == shown


def test_long_name_is_cut():
    """Mark the cut."""
    assert plain_text("x" * 10_000, 5) == "xxxx…"
    assert escape_slack("&" * 10_000, 11) == "&amp;&amp;…"


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://a.test/x?y=1&z=2", "https://a.test/x?y=1&z=2"),
        ("https://a.test/<!channel>|x y", "https://a.test/%3C!channel%3E%7Cx%20y"),
        ("javascript:alert(1)", None),
        (None, None),
    ],
)
def test_link_cannot_end_early(url, link):
    """Quote what would end a Slack link; leave out what is no web link."""
    assert quote_link(url) == link


def test_times_have_minutes_and_durations_two_units():
    """Write times in UTC, and less than a minute in seconds."""
    assert format_time(BEGAN) == "2026-11-21 09:30 UTC"
    minutes = (0.75, 59, 61, 1_500)
    assert [format_duration(round(count * 60_000_000)) for count in minutes] == [
        "45 s",
        "59 min",
        "1 h 1 min",
        "1 d 1 h",
    ]

"""Text from events is data: it rings nobody, forges no line, and ends."""

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
def test_escaped_text_has_no_mark_up_and_no_half_entity(text, limit):
    """Every `<`, `>` and `&` is an entity that is whole, whatever is cut off."""
    shown = escape_slack(text, limit)

    assert len(shown) <= limit
    assert "<" not in shown
    assert ">" not in shown
    assert "&" not in shown.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "")


@given(ANY_TEXT)
def test_escaped_text_reads_as_the_plain_one(text):
    """What Slack decodes is what PagerDuty is sent."""
    assert html.unescape(escape_slack(text, 100_000)) == plain_text(text, 100_000)


@given(ANY_TEXT, st.integers(1, 200))
def test_plain_text_is_one_printable_line(text, limit):
    """No line breaks, no marks that turn the direction, no more than its limit."""
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
def test_what_is_shown_of_a_name(text, shown):
    """Names stay readable and can be copied; what cannot be seen is written out."""
    assert escape_slack(text, 100) == shown


def test_a_name_of_ten_thousand_characters_is_cut():
    """With a sign that it was."""
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
def test_a_link_cannot_end_early(url, link):
    """What would end a Slack link is quoted; what is no web link is left out."""
    assert quote_link(url) == link


def test_times_are_told_to_the_minute():
    """Write times in UTC, durations in two units, and less than a minute in seconds."""
    assert format_time(BEGAN) == "2026-11-21 09:30 UTC"
    minutes = (0.75, 59, 61, 1_500)
    assert [format_duration(round(count * 60_000_000)) for count in minutes] == [
        "45 s",
        "59 min",
        "1 h 1 min",
        "1 d 1 h",
    ]

"""Instants are kept as whole microseconds."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.clock import from_micros, is_tellable, to_micros


@given(st.datetimes(timezones=st.just(UTC)))
def test_an_instant_comes_back_to_the_microsecond(instant: datetime):
    """A float of seconds would lose microseconds, and two events would become one."""
    assert from_micros(to_micros(instant)) == instant


def test_an_instant_before_1970_is_a_negative_number():
    """A producer without a clock sends 1969; whole-number division must not round towards zero."""
    assert to_micros(datetime(1970, 1, 1, tzinfo=UTC) - timedelta(microseconds=1)) == -1


def test_an_instant_without_a_zone_is_refused():
    """Guessing a zone here would shift every age by hours, silently."""
    with pytest.raises(ValueError, match="without a time zone"):
        to_micros(datetime(2026, 11, 21))  # noqa: DTZ001 - the very mistake


@pytest.mark.parametrize(
    ("instant", "is_told"),
    [
        ("1969-12-31T23:59:59Z", False),
        ("1970-01-01T00:00:00Z", True),
        ("2999-12-31T23:59:59.999999Z", True),
        ("3000-01-01T00:00:00Z", False),
        ("0001-01-01T00:00:00+14:00", False),
        ("9999-12-31T23:59:59-14:00", False),
    ],
)
def test_what_no_calendar_holds_in_utc_is_told_by_nobody(instant, is_told):
    """The first and the last day there are have no date in UTC, and a year more is none at all."""
    assert is_tellable(datetime.fromisoformat(instant)) is is_told

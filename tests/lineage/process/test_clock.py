"""Times as whole microseconds."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.process.clock import from_micros, has_date, is_event_time, is_tellable, to_micros

_DATES = st.datetimes(
    min_value=datetime(1, 1, 2),  # noqa: DTZ001 - hypothesis adds the zone
    max_value=datetime(9999, 12, 30),  # noqa: DTZ001
    timezones=st.just(UTC),
)


@given(_DATES)
def test_a_time_is_restored_to_the_microsecond(instant: datetime):
    """Keep each microsecond: floats of seconds would make one of two events."""
    assert from_micros(to_micros(instant)) == instant


def test_a_time_before_1970_is_a_negative_number():
    """Divide without rounding towards zero: producers without a clock send 1969."""
    assert to_micros(datetime(1970, 1, 1, tzinfo=UTC) - timedelta(microseconds=1)) == -1


def test_a_time_without_a_zone_is_rejected():
    """Reject it: a guessed zone would shift every age by hours."""
    with pytest.raises(ValueError, match="without a time zone"):
        to_micros(datetime(2026, 11, 21))  # noqa: DTZ001 - the very mistake


@pytest.mark.parametrize(
    ("instant", "is_accepted"),
    [
        ("1969-12-31T23:59:59Z", False),
        ("1970-01-01T00:00:00Z", True),
        ("2999-12-31T23:59:59.999999Z", True),
        ("3000-01-01T00:00:00Z", False),
        ("0001-01-01T00:00:00+14:00", False),
        ("9999-12-31T23:59:59-14:00", False),
    ],
)
def test_times_outside_the_calendar_in_utc_are_rejected(instant, is_accepted):
    """Reject the first and last day, which have no date in UTC, and years beyond."""
    assert is_tellable(datetime.fromisoformat(instant)) is is_accepted


@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from(["Pacific/Kiritimati", "Etc/GMT+12"]))
def test_every_stored_number_has_a_date_in_every_time_zone(micros: int, zone: str):
    """Convert any BIGINT of a catalog without an error."""
    instant = from_micros(micros)

    assert instant.astimezone(ZoneInfo(zone)).isoformat()
    assert has_date(micros) is (to_micros(instant) == micros)


@pytest.mark.parametrize(
    ("instant", "is_one"),
    [
        ("1969-12-31T23:59:59Z", False),
        ("1970-01-01T00:30:00+01:00", False),
        ("1970-01-01T00:00:00", True),
        ("2199-12-31T23:59:59.999999Z", True),
        ("2200-01-01T00:00:00Z", False),
        ("0001-01-01T00:00:00+14:00", False),
        ("9999-12-31T23:59:59-14:00", False),
        ("0001-01-01T00:00:00", False),
    ],
)
def test_events_give_times_of_the_years_1970_to_2199(instant, is_one):
    """Bound times: a producer without a clock sends the year 1, which overflows in UTC."""
    assert is_event_time(datetime.fromisoformat(instant)) is is_one

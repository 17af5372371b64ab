"""Times as whole microseconds, and as Java writes them."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.process.clock import (
    from_micros,
    has_date,
    is_event_time,
    is_tellable,
    normalize_java_time,
    to_micros,
)

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


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("2026-11-25T00:28:18.969066Z[Europe/London]", "2026-11-25T00:28:18.969066Z"),
        ("2026-11-25T01:00:00+01:00[Europe/Berlin]", "2026-11-25T01:00:00+01:00"),
        ("2026-11-25T00:30Z", "2026-11-25T00:30:00Z"),
        ("2026-11-25T01:30+01:00", "2026-11-25T01:30:00+01:00"),
        ("2026-11-25T01:30", "2026-11-25T01:30:00"),
        ("2026-11-25T02:30:00[Europe/Berlin]", None),
        ("2026-11-25T02:30:00Z[Europe/Berlin]]", None),
        ("2026-11-25T02:30:00Z[]", None),
        ("2026-11-25", None),
        ("yesterday", None),
    ],
)
def test_a_time_of_java_is_read_and_another_text_left_alone(given, read):
    """Check that a zone without an offset is left alone: in autumn it names two instants."""
    assert normalize_java_time(given) == (given if read is None else read)


@given(st.datetimes(timezones=st.none() | st.timezones()))
def test_a_time_of_python_is_left_as_it_is(given):
    assert normalize_java_time(given.isoformat()) == given.isoformat()


def test_msgspec_reads_the_result():
    """Check both together: msgspec judges in the collector what this made of a time."""
    found = msgspec.convert(normalize_java_time("2026-11-25T01:30+01:00[Europe/Berlin]"), datetime)

    assert found.isoformat() == "2026-11-25T01:30:00+01:00"

from datetime import datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.process.zoned_times import normalize


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
    assert normalize(given) == (given if read is None else read)


@given(st.datetimes(timezones=st.none() | st.timezones()))
def test_a_time_of_python_is_left_as_it_is(given):
    assert normalize(given.isoformat()) == given.isoformat()


def test_msgspec_reads_the_result():
    """Check both together: msgspec judges in the collector what this made of a time."""
    found = msgspec.convert(normalize("2026-11-25T01:30+01:00[Europe/Berlin]"), datetime)

    assert found.isoformat() == "2026-11-25T01:30:00+01:00"

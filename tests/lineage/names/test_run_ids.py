"""Days in run ids: a function of the id alone."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.names.run_ids import day_of, made_at
from lineage.process.clock import DAY_MICROS

_LATEST = (1 << 48) - 1


def _uuid7(milliseconds, rest=0):
    """Return a UUID of version 7, made then."""
    low = 0b10 << 62 | rest & (1 << 62) - 1
    return str(uuid.UUID(int=milliseconds << 80 | 7 << 76 | (rest >> 62) << 64 | low))


@given(st.integers(0, _LATEST), st.integers(0, (1 << 74) - 1))
def test_a_uuid_of_version_7_has_the_time_at_which_it_was_made(milliseconds, rest):
    """Return its milliseconds, and the start of the day that they lie in, in any case."""
    made = _uuid7(milliseconds, rest)

    assert uuid.UUID(made).version == 7
    assert made_at(made) == made_at(made.upper()) == milliseconds * 1_000
    assert day_of(made) == milliseconds * 1_000 - milliseconds * 1_000 % DAY_MICROS


@given(st.uuids().filter(lambda made: made.version != 7).map(str) | st.text())
def test_another_id_has_no_time(run_id):
    """Return day 0 for UUIDs of other versions, and for texts."""
    assert (made_at(run_id), day_of(run_id)) == (None, 0)


@pytest.mark.parametrize(
    "run_id",
    [
        None,
        "",
        "01993a3b-0000-7000-c000-000000000000",  # another variant
        "01993a3b00007000800000000000000",
        "{01993a3b-0000-7000-8000-000000000000}",
        "01993a3b-0000-7000-8000-000000000000\n",
        "01993a3b-0000-7000-8000-00000000000\u0660",
    ],
)
def test_texts_like_uuids_have_no_time(run_id):
    """Return day 0 for other forms, whatever Python reads as a UUID."""
    assert day_of(run_id) == 0

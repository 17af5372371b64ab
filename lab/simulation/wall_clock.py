"""Wall time of the simulated zone: schedules are kept in it, writes happen in UTC."""

from datetime import UTC, date, datetime

import numpy as np
import numpy.typing as npt
import pandas as pd

from slis.cadence.working_week import Floats, Micros

ZONE = "Europe/Berlin"
# A Monday. Both changes of the clocks, Christmas, New Year and Easter lie in the 180 days after it.
FIRST_DAY = date(2026, 10, 5)
DAYS = 180
HOLIDAYS = tuple(
    date.fromisoformat(day) for day in ("2026-12-25", "2027-01-01", "2027-03-26", "2027-03-29")
)
DAY_SECONDS, WEEK_SECONDS = 86_400.0, 604_800.0
NEVER_DUE = np.iinfo(np.int64).max  # µs


def utc_micros(wall: Floats) -> Micros:
    """Return seconds of wall time since the first day's midnight as µs UTC, in the same shape.

    A schedule in the hour that is left out runs when that hour is over.
    """
    start = pd.Timestamp(FIRST_DAY)
    whole = np.round(wall.ravel()).astype("int64").astype("timedelta64[s]")
    local = pd.DatetimeIndex(start.to_datetime64().astype("datetime64[s]") + whole)
    found = local.tz_localize(ZONE, ambiguous=False, nonexistent="shift_forward")
    micros: Micros = found.tz_convert("UTC").as_unit("us").asi8.reshape(wall.shape)
    return micros


def midnight_after(number: float) -> datetime:
    """Return the instant that many days after the first midnight."""
    micros = int(utc_micros(np.array([number * DAY_SECONDS]))[0])
    return datetime.fromtimestamp(micros / 1e6, UTC)


def is_holiday(wall: Floats) -> npt.NDArray[np.bool_]:
    """Return whether nobody works on that day."""
    days = np.array([(holiday - FIRST_DAY).days for holiday in HOLIDAYS])
    return np.isin(wall // DAY_SECONDS, days)

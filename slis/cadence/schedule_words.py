"""Learned schedule in words: `Updated daily at about 00:34 (± 2 min); late after 03:45`."""

import numpy as np
import pandas as pd

from lineage.process.clock import SECOND_MICROS, from_micros
from slis.cadence.cadence import hours_of
from slis.cadence.profile import BURSTY, EVENT_DRIVEN, PERIODIC, STREAMING
from slis.cadence.wide_limits import FEW, WIDE
from slis.cadence.working_week import WEEK_HOURS, Hours

_DAY, _HOUR, _MINUTE = 86_400.0, 3_600.0, 60.0
_DAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_REST_HOURS = 6
_UNITS = ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"))
_NAMED = {_DAY: "daily", 7 * _DAY: "weekly", _HOUR: "hourly"}


def explain_limit(  # type: ignore[no-untyped-def]
    row,  # noqa: ANN001 - a pandas tuple of `cadence_limits.with_tails`
    *,
    slot: int,
    due: int,
    zone: str,
    own_margin: float | None,
) -> str:
    """Return the schedule and the deadline in words, and the figures that they rest on.

    Args:
        row: the profile.
        slot: when the next write is expected, in microseconds.
        due: when it is late, in microseconds.
        zone: of the wall clock.
        own_margin: share of a cadence beyond the own largest gap; None where that binds nothing.
    """
    if row.cadence_class == FEW:
        after = rough_duration((due - row.newest_micros) / SECOND_MICROS)
        return f"{learning_text(row.gaps)}; late {after} after a write"
    hours = hours_of(row.hours)
    words = describe_schedule(row, slot=slot, due=due, hours=hours, zone=zone)
    return f"{words}. {_figures(row, hours, own_margin)}"


def learning_text(gaps: int) -> str:
    """Return how much is known of a cadence that has no limit of its own yet."""
    return f"learning: {gaps} of 8 gaps between writes"


def describe_schedule(  # type: ignore[no-untyped-def]
    row,  # noqa: ANN001 - a pandas tuple of `cadence_limits.with_tails`
    *,
    slot: int,
    due: int,
    hours: Hours,
    zone: str,
) -> str:
    """Return the schedule and the deadline in words; the arguments are those of `explain_limit`."""
    if row.cycle_seconds is not None and not pd.isna(row.cycle_seconds):
        return _of_slots(row, slot, due, hours, zone)
    after = rough_duration((due - row.newest_micros) / SECOND_MICROS)
    return f"{_of_gaps(row)}; late {after} after a write"


def _of_slots(row, slot: int, due: int, hours: Hours, zone: str) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001
    cycle, spread = row.cycle_seconds, rough_duration(row.spread)
    usual = _NAMED.get(cycle, f"every {rough_duration(cycle)}")
    if cycle < _DAY:
        beyond = rough_duration((due - slot) / SECOND_MICROS)
        return f"Updated {usual}{_days(hours)} (± {spread}); late {beyond} after its time"
    expected, late = _local(slot, zone), _local(due, zone)
    day = f" on {_DAYS[expected.weekday()]}" if cycle == 7 * _DAY else _days(hours)
    later = (late.normalize() - expected.normalize()).days
    added = f" ({later} d later)" if later else ""
    return (
        f"Updated {usual}{day} at about {expected:%H:%M} (± {spread}); "
        f"late after {late:%H:%M}{added}"
    )


def _of_gaps(row) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001
    usual = rough_duration(row.usual_gap)
    if row.cadence_class == BURSTY:
        return f"Updated in bursts about {usual} apart"
    if row.cadence_class == STREAMING:
        return f"Updated all the time, about every {usual}"
    if row.cadence_class == EVENT_DRIVEN:
        return f"Updated at irregular times, every {usual} on average"
    return f"Updated about every {usual} (± {rough_duration(row.spread)})"


def _days(hours: Hours) -> str:
    """Name the days of the week of which next to nothing counts: a pause ends at a usual hour."""
    days_off = np.flatnonzero(hours.reshape(7, 24).sum(axis=1) <= _REST_HOURS)
    names = ", ".join(_WEEKDAYS[day] for day in days_off.tolist())
    return f" except {names}" if names else ""


def _local(micros: int, zone: str) -> pd.Timestamp:
    return pd.Timestamp(from_micros(micros)).tz_convert(zone)


def rough_duration(seconds: float) -> str:
    """Return a duration in its largest fitting unit: `1.5 d`, `40 s`."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{seconds:.0f} s"


def _figures(row, hours: Hours, own_margin: float | None) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """Return the figures that the limit follows from, as sentences."""
    usual = f"{rough_duration(row.usual_gap)} (± {rough_duration(row.spread)})"
    paused = WEEK_HOURS - int(hours.sum())
    sentences = (
        f"Learned from {row.gaps} gaps between writes: usually {usual}, {_extreme(row)}",
        None
        if pd.isna(row.recurring)
        else f"Five gaps were {rough_duration(row.recurring)} or longer",
        f"{paused} hours of the week do not count" if paused else None,
        f"The limit is {rough_duration(row.limit)} after {_start(row)}, {_basis(row, own_margin)}",
    )
    return ". ".join(filter(None, sentences))


def _extreme(row) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001
    if row.cadence_class == PERIODIC:
        return f"the latest write {rough_duration(row.largest)} after its time"
    return f"the longest {rough_duration(row.largest)}"


def _start(row) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001
    return "the usual time of a write" if row.cadence_class == PERIODIC else "the newest write"


def _basis(row, own_margin: float | None) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001
    if row.cadence_class in WIDE:
        return "from the gaps of this dataset alone"
    # A class whose datasets have no score yet has no pool.
    pooled = 0 if pd.isna(row.pooled) else int(row.pooled)
    pool = f"from {pooled} gaps of all {row.cadence_class} datasets"
    if own_margin is None:
        return pool
    own = "latest write" if row.cadence_class == PERIODIC else "longest gap"
    return f"{pool}; it is at least {100 * own_margin:.0f} % of a cadence beyond the {own}"

"""Instants that events give as text, within the years that an event may be of."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from lineage.clock import LAST_EVENT_MICROS


def instant(text: Column) -> Column:
    """Return the time that a text gives, as a UTC timestamp.

    Null where the text is no time, or one outside the years that an event may give.
    """
    at = _timestamp(text)
    return F.when(is_event_time(at), at)


def is_event_time(at: Column) -> Column:
    """Whether an event may give this time, as `lineage.clock.is_event_time` has it."""
    return at.between(F.timestamp_micros(F.lit(0)), F.timestamp_micros(F.lit(LAST_EVENT_MICROS)))


def _timestamp(text: Column) -> Column:
    """Return the timestamp that a text gives; null where it is no date with a time.

    1 to 9 fraction digits (cut to microseconds), `Z`, `z` and offsets, the zone's name in brackets
    behind these; without a zone it is UTC, as Marquez reads it too; seconds may be missing, as
    `lineage.zoned_times` has it. Never compared as text: the listener drops trailing zeros.
    """
    upper = F.regexp_replace(F.upper(text), r"(Z|[+-]\d\d:?\d\d)\[[\w+/-]+\]$", "$1")
    # A bare time of day would be read as today's, and a bare year as its first second.
    is_instant = upper.like("____-__-__%")
    without_seconds = F.regexp_replace(
        upper, r"^([0-9-]{10}[T ][0-9]{2}:[0-9]{2})(Z|[+-].*)?$", "$1:00$2"
    )
    return F.when(
        is_instant, F.coalesce(upper.try_cast("timestamp"), without_seconds.try_cast("timestamp"))
    )

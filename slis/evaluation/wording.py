"""Timestamps, durations and names in the words of the evidence that people read."""

from pyspark.sql import Column
from pyspark.sql import functions as F

BY_EVENT_LOG = "as the Spark event log says and its events do not: "  # before an error's text
_UNITS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"))


def instant_column(instant: Column) -> Column:
    """Return `2026-11-21 09:00:00 UTC`."""
    return F.date_format(instant, "yyyy-MM-dd HH:mm:ss 'UTC'")


def duration_text(seconds: Column) -> Column:
    """Format seconds in their largest fitting unit, with one decimal at most: `26 h`, `1.5 d`."""
    text = _amount(seconds, "s")
    for size, unit in reversed(_UNITS):
        text = F.when(seconds >= size, _amount(seconds / size, unit)).otherwise(text)
    return text


def _amount(value: Column, unit: str) -> Column:
    number = F.regexp_replace(F.format_string("%.1f", value), r"\.0$", "")
    return F.concat(number, F.lit(f" {unit}"))


def join_words(*parts: str | Column) -> Column:
    """Join the parts to one text; a part that is null reads `unknown`."""
    return F.concat(
        *(
            F.lit(part) if isinstance(part, str) else F.coalesce(part, F.lit("unknown"))
            for part in parts
        )
    )


def near_key_column(name: Column) -> Column:
    """Return what spellings of one dataset share: the last two parts, letters and digits only.

    `/lake/core.db/Orders`, `core.orders` and `core/orders` agree; `orders` alone says too little,
    and has none.
    """
    # No function of arrays: each would keep Spark from compiling the stage that it is in.
    joined = F.regexp_replace(F.lower(name), r"\.db(?=[/.])", "")
    joined = F.regexp_replace(joined, "[^a-z0-9/.]", "")
    joined = F.btrim(F.regexp_replace(joined, "[/.]+", "."), F.lit("."))
    return F.when(F.contains(joined, F.lit(".")), F.substring_index(joined, ".", -2))

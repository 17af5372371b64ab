"""Limits by which several parts judge, count and keep: each has one home here, with its reason."""

from typing import Final

# A stream without a limit of its own: data comes all the time, so an hour without is an outage.
STREAM_LIMIT_SECONDS: Final = 3_600.0
# Time that one evaluation answers for: of a longer pause of evaluations the rest is unknown.
MAX_COUNTED_SECONDS: Final = 60.0
# Cadences are learned from the writes of half a year.
HISTORY_DAYS: Final = 180
# What is written less often than this has too few writes in that time: of two years it has enough.
# Retention keeps those writes as long.
SLOW_CADENCE_SECONDS: Final = 6 * 86_400.0
SLOW_HISTORY_DAYS: Final = 730

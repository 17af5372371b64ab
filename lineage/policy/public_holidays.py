"""Public holidays of countries, parts of countries and exchanges, by the `holidays` library.

Those of a country may explain the days on which a dataset was not written.
"""

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from functools import lru_cache
from math import comb
from types import ModuleType
from typing import Final

import msgspec

# The years for which limits are learned and deadlines are set.
YEARS: Final = range(2015, 2051)

_EPOCH: Final = date(1970, 1, 1)
_WEEK: Final = 7
_LEAST_DAYS: Final = 60  # less shows too few holidays
_USED: Final = 0.75  # share of a weekday's dates with a write: fewer, and none was expected
_LEAST_HOLIDAYS: Final = 3
_KEPT: Final = 0.75  # share of a country's holidays without a write
# Some 200 countries are tried on a dataset: so improbable that 1 in 50 datasets fits one by chance.
_CHANCE: Final = 1e-4
_DAYS_LATER: Final = (0, 1)

_Days = frozenset[int]


class UnknownHolidaysError(ValueError):
    """Name that is neither a country or a part of one, nor an exchange."""


@lru_cache(maxsize=256)
def dates_of(place: str, years: range = YEARS) -> tuple[date, ...]:
    """Return the public holidays of a place, in order.

    Args:
        place: `DE` (ISO 3166-1), `DE-BE` (ISO 3166-2) or an exchange, as `XNYS` (ISO 10383).
        years: those to name.

    Raises:
        UnknownHolidaysError: there is no such place.
    """
    country, dash, part = place.partition("-")
    library = _library()
    parts = library.list_supported_countries().get(country)
    if parts is not None and (not dash or part in parts):
        found = library.country_holidays(country, subdiv=part or None, years=years)
    elif place in library.list_supported_financial():
        found = library.financial_holidays(place, years=years)
    else:
        raise UnknownHolidaysError(
            f"no public holidays are known of {place!r}: name a country (DE), a part of one"
            " (DE-BE) or an exchange (XNYS)"
        )
    return tuple(sorted(found))


def countries() -> list[str]:
    """Return the countries whose holidays are known; those with the most parts first."""
    parts = _library().list_supported_countries(include_aliases=False)
    return sorted(parts, key=lambda country: (-len(parts[country]), country))


def _library() -> ModuleType:
    import holidays  # noqa: PLC0415 - 70 ms, for the policies that name a place

    return holidays


class Fit(msgspec.Struct, frozen=True):
    """Public holidays that a dataset keeps.

    Attributes:
        country: of ISO 3166-1.
        days_later: how many days after the holiday the write is missing.
        kept: holidays without a write.
        holidays: all on weekdays that usually have a write.
        alike: other countries that have the same holidays in this time.
    """

    country: str
    days_later: int
    kept: int
    holidays: int
    alike: tuple[str, ...] = ()


def fit(written: Iterable[int]) -> Fit | None:
    """Return what explains the days without a write best; None where nothing does.

    Args:
        written: days since 1970 (UTC) with a write.
    """
    days = frozenset(written)
    if not days or max(days) - min(days) < _LEAST_DAYS:
        return None
    expected = _expected(days)
    missed = expected - days
    found = [one for one in _fits(expected, missed) if _is_no_chance(one, expected, missed)]
    if not found:
        return None
    best = max(found, key=_worth)
    alike = (one.country for one in found if one != best and _worth(one) == _worth(best))
    return msgspec.structs.replace(best, alike=tuple(alike))


def _expected(days: _Days) -> _Days:
    """Return the days between the first and the last write whose weekday is usually written."""
    span = range(min(days), max(days) + 1)
    found: set[int] = set()
    for first in span[:_WEEK]:
        same_weekday = range(first, span.stop, _WEEK)
        if len(days.intersection(same_weekday)) >= _USED * len(same_weekday):
            found.update(same_weekday)
    return frozenset(found)


def _fits(expected: _Days, missed: _Days) -> Iterator[Fit]:
    if len(missed) < _LEAST_HOLIDAYS:
        return
    years = range(_year(min(expected)) - 1, _year(max(expected)) + 1)
    for country in countries():
        for days_later in _DAYS_LATER:
            own = expected & _holidays(country, years, days_later)
            yield Fit(country, days_later, len(own & missed), len(own))


def _is_no_chance(one: Fit, expected: _Days, missed: _Days) -> bool:
    is_kept = one.kept >= max(_LEAST_HOLIDAYS, _KEPT * one.holidays)
    return is_kept and _chance(one, len(expected), len(missed)) < _CHANCE


def _chance(one: Fit, expected: int, missed: int) -> float:
    """Return how probable so many of the missed days are holidays by chance (hypergeometric)."""
    others = expected - one.holidays
    ways = (
        comb(one.holidays, kept) * comb(others, missed - kept)
        for kept in range(one.kept, min(one.holidays, missed) + 1)
    )
    return sum(ways) / comb(expected, missed)


def _worth(one: Fit) -> int:
    return 2 * one.kept - one.holidays


@lru_cache(maxsize=2048)
def _holidays(country: str, years: range, days_later: int) -> _Days:
    return frozenset((day - _EPOCH).days + days_later for day in dates_of(country, years))


def _year(day: int) -> int:
    return (_EPOCH + timedelta(days=day)).year

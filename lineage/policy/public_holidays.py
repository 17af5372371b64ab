"""Public holidays of countries, parts of countries and exchanges, by the `holidays` library."""

from datetime import date
from functools import lru_cache
from types import ModuleType
from typing import Final

# The years for which limits are learned and deadlines are set.
YEARS: Final = range(2015, 2051)


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

"""Figures and instants as people read them."""

from datetime import datetime

from service.answers.budgets import DAYS, BudgetLeft
from service.answers.dataset import duration
from service.answers.slis import sli_name

NOTHING = "\N{EN DASH}"
_MOST_SHOWN = 160  # characters of a name: its page has all of them


def percent(ratio: float | None) -> str:
    """`99.25 %`; never rounded up to 100."""
    if ratio is None:
        return NOTHING
    shown = f"{ratio * 100:.4g}"
    return f"{ratio * 100:.6g} %" if shown == "100" and ratio < 1 else f"{shown} %"


def budget_text(budget: BudgetLeft) -> str:
    """Return what is left of an error budget: `47 % left`, or `used up`.

    What is not all of it is never `100 %`, what is left never `0 %`.
    """
    left = budget.ratio
    if left is None:
        return f"too early: {duration(budget.observed_seconds)} of {DAYS} d"
    if left <= 0:
        return "used up"
    if 0.995 <= left < 1:  # noqa: PLR2004 - would be rounded up
        return "99 % left"
    return "< 1 % left" if 0 < left < 0.005 else f"{left * 100:.0f} % left"  # noqa: PLR2004 - down


def count(number: float | None) -> str:
    """With its thousands told apart."""
    return NOTHING if number is None else f"{number:,.0f}"


def seconds(length: float | None) -> str:
    """A length of time in its two largest units."""
    return NOTHING if length is None else duration(length)


def ago(instant: str | None, now: datetime) -> str:
    """How long before now, as `5 min ago`; what is to come is `in 2 h`."""
    if instant is None:
        return NOTHING
    length = (now - datetime.fromisoformat(instant)).total_seconds()
    told = duration(abs(round(length)))
    return f"{told} ago" if length >= 0 else f"in {told}"


def at(instant: str | None) -> str:
    """`21 Nov 2026 12:00:05 UTC`: where the reader is, the server does not know."""
    if instant is None:
        return NOTHING
    return datetime.fromisoformat(instant).strftime("%-d %b %Y %H:%M:%S UTC")


def short(text: str) -> str:
    """The beginning and the end of a long name: both tell it from others."""
    if len(text) <= _MOST_SHOWN:
        return text
    half = _MOST_SHOWN // 2 - 1
    return f"{text[:half]} … {text[-half:]}"


def because(reason: str | None, sli: str | None) -> str:
    """Why a dataset is what it is: its reason, or else what of it was judged."""
    return plain(reason or (sli_name(sli) if sli else ""))


def plain(word: str) -> str:
    """A word of a set of ours, as `upstream late`."""
    return word.replace("_", " ")

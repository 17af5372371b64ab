"""Recorded series: what was counted, what of it was bad, and what no open incident explains.

Each counter is increased over by itself and summed after that, so that a new epoch, tier origin
or address of the service is a start and never a fall. The ratio of two such sums is the error
ratio of a window as Sloth and the SRE workbook have it ("Alerting on SLOs": bad over total).
"""

from collections.abc import Iterable, Iterator
from typing import Final

from alerts.rules.budgets import Budget, plain
from alerts.rules.model import Record
from alerts.rules.promql import selector
from alerts.rules.windows import BUDGET_WINDOW, BURN_WINDOWS, ESCALATION_WINDOW, PAGE, TICKET

TOTAL: Final = "lineage_sli_total"
GOOD: Final = "lineage_sli_good_total"
EXPLAINED: Final = "lineage_sli_explained_total"
_LEVEL = "sli_tier"
BUDGET_LEFT: Final = f"{_LEVEL}:lineage_error_budget_left:ratio{BUDGET_WINDOW}"

PAGING_WINDOWS: Final = tuple(
    dict.fromkeys(
        span for one in BURN_WINDOWS if one.severity == PAGE for span in (one.short, one.long)
    )
)
_QUICK = (*PAGING_WINDOWS, ESCALATION_WINDOW.short, ESCALATION_WINDOW.long)
QUICK_WINDOWS: Final = tuple(dict.fromkeys(_QUICK))
SLOW_WINDOWS: Final = tuple(
    dict.fromkeys(
        span
        for one in BURN_WINDOWS
        if one.severity == TICKET
        for span in (one.short, one.long)
        if span not in QUICK_WINDOWS
    )
)


def all_of(window: str) -> str:
    """Name of the series of all that was counted, in the SLI's unit."""
    return f"{_LEVEL}:lineage_sli:increase{window}"


def bad_of(window: str) -> str:
    """Name of the series of what was bad of it."""
    return f"{_LEVEL}:lineage_sli_bad:increase{window}"


def unexplained_of(window: str) -> str:
    """Name of the series of what was bad, and in no open incident."""
    return f"{_LEVEL}:lineage_sli_unexplained:increase{window}"


def bad_ratio(window: str) -> str:
    """Name of the series of bad over all; without a sample there is none."""
    return f"{_LEVEL}:lineage_sli_bad:ratio_rate{window}"


def unexplained_ratio(window: str) -> str:
    """Name of the series of unexplained over all."""
    return f"{_LEVEL}:lineage_sli_unexplained:ratio_rate{window}"


def _increase(counter: str, window: str) -> str:
    return f"sum by (sli, tier) (increase({counter}[{window}]))"


def counted(window: str) -> Iterator[Record]:
    """All and bad of one window, and their ratio."""
    yield Record(all_of(window), _increase(TOTAL, window))
    bad = f"clamp_min({all_of(window)} - {_increase(GOOD, window)}, 0)"
    yield Record(bad_of(window), bad)
    yield Record(bad_ratio(window), f"{bad_of(window)} / ({all_of(window)} > 0)")


def explained(window: str) -> Iterator[Record]:
    """What is bad beyond the open incidents; all of it where nothing exports what they explain."""
    nothing = f"0 * {bad_of(window)}"
    left = f"{bad_of(window)} - ({_increase(EXPLAINED, window)} or {nothing})"
    yield Record(unexplained_of(window), f"clamp_min({left}, 0)")
    yield Record(unexplained_ratio(window), f"{unexplained_of(window)} / ({all_of(window)} > 0)")


def quick_records() -> list[Record]:
    """For pages and escalations."""
    found = [record for window in QUICK_WINDOWS for record in counted(window)]
    return found + [record for window in PAGING_WINDOWS for record in explained(window)]


def slow_records() -> list[Record]:
    """For tickets."""
    return [record for window in SLOW_WINDOWS for record in counted(window)]


def budget_records(asked: Iterable[Budget]) -> list[Record]:
    """How much of each error budget is left: 1 untouched, 0 gone, below 0 overdrawn."""
    found = list(counted(BUDGET_WINDOW))
    for one in asked:
        if one.allowed:
            spent = selector(bad_ratio(BUDGET_WINDOW), **one.labels)
            found.append(Record(BUDGET_LEFT, f"1 - {spent} / {plain(one.allowed)}", one.labels))
    return found

"""Recorded series: events counted, bad events, and those that no incident explains.

Each counter is increased over by itself and summed after that, so that a new epoch, tier origin
or address of the service is a start and never a fall. The ratio of two such sums is the error
ratio of a window as Sloth and the SRE workbook have it ("Alerting on SLOs": bad over total).
"""

from collections.abc import Iterable, Iterator
from typing import Final

from alerts.own_parts import OUTAGE_PARTS
from alerts.rules.budgets import Budget, format_ratio
from alerts.rules.burn_windows import (
    BUDGET_WINDOW,
    BURN_WINDOWS,
    ESCALATION,
    ESCALATION_WINDOW,
    LEAST_OBSERVED,
    PACE_WINDOW,
    AlertSeverity,
    subquery_steps,
)
from alerts.rules.incident_alerts import OPEN_SERIES
from alerts.rules.model import RecordingRule
from alerts.rules.promql import selector
from lineage.states import INGESTION_LAG, PAGE, TICKET

TOTAL: Final = "lineage_sli_total"
GOOD_SERIES: Final = "lineage_sli_good_total"
EXPLAINED: Final = "lineage_sli_explained_total"
_LEVEL = "sli_tier"
BUDGET_LEFT: Final = f"{_LEVEL}:lineage_error_budget_left:ratio{BUDGET_WINDOW}"
# Events that waited for a part of Lineward arrive late within minutes after its incident closed.
_LATE_BEHIND: Final = "30m"

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
    """Return the name of the series of all events, in the SLI's unit."""
    return f"{_LEVEL}:lineage_sli:increase{window}"


def bad_of(window: str) -> str:
    """Return the name of the series of bad events."""
    return f"{_LEVEL}:lineage_sli_bad:increase{window}"


def unexplained_of(window: str) -> str:
    """Return the name of the series of bad events that no open incident explained."""
    return f"{_LEVEL}:lineage_sli_unexplained:increase{window}"


def bad_ratio(window: str) -> str:
    """Return the name of the series of bad over all; it has no sample where nothing was counted."""
    return f"{_LEVEL}:lineage_sli_bad:ratio_rate{window}"


def unexplained_ratio(window: str) -> str:
    """Return the name of the series of unexplained over all."""
    return f"{_LEVEL}:lineage_sli_unexplained:ratio_rate{window}"


def observed_series(window: str) -> str:
    """Return the name of the series of the share of a window that has data."""
    return f"{_LEVEL}:lineage_sli_observed:ratio{window}"


def is_observed(window: str, labels: dict[str, str]) -> str:
    """Return the condition that a window has enough data to be judged."""
    return f"{selector(observed_series(window), **labels)} >= {format_ratio(LEAST_OBSERVED)}"


def _increase(counter: str, window: str) -> str:
    return f"sum by (sli, tier) (increase({counter}[{window}]))"


def count_records(window: str) -> Iterator[RecordingRule]:
    """Yield the rules for all and bad of one window, and their ratio."""
    yield RecordingRule(all_of(window), _increase(TOTAL, window))
    bad = f"clamp_min({all_of(window)} - {_increase(GOOD_SERIES, window)}, 0)"
    yield RecordingRule(bad_of(window), bad)
    yield RecordingRule(bad_ratio(window), f"{bad_of(window)} / ({all_of(window)} > 0)")


def observed_record(window: str) -> RecordingRule:
    """Return the rule that counts in how many steps of a window there was a sample."""
    count, step = subquery_steps(window)
    samples = f"count_over_time(sum by (sli, tier) ({TOTAL})[{window}:{step}])"
    return RecordingRule(observed_series(window), f"{samples} / {count}")


def unexplained_records(window: str) -> Iterator[RecordingRule]:
    """Return the rules for what is bad, and in no incident that was open in this window.

    Where nothing exports what incidents explain, all of it is.
    """
    parts = (_increase(EXPLAINED, window), _late_after_outages(window), f"0 * {bad_of(window)}")
    left = f"{bad_of(window)} - ({' or '.join(parts)})"
    yield RecordingRule(unexplained_of(window), f"clamp_min({left}, 0)")
    yield RecordingRule(
        unexplained_ratio(window), f"{unexplained_of(window)} / ({all_of(window)} > 0)"
    )


def _late_after_outages(window: str) -> str:
    """Return the query for late events that an incident of Lineward itself explains.

    No catalog counts these: the bad of each five minutes is summed where such an incident was open.
    """
    late = selector(bad_of(PACE_WINDOW), sli=INGESTION_LAG.name)
    outage = f'{OPEN_SERIES}{{root_kind=~"{"|".join(OUTAGE_PARTS)}"}}'
    behind = f"{late} and on () max(max_over_time({outage}[{_LATE_BEHIND}])) > 0"
    return f"sum_over_time(({behind})[{window}:{PACE_WINDOW}])"


def quick_records() -> list[RecordingRule]:
    """Return the rules for pages and escalations."""
    found = [record for window in QUICK_WINDOWS for record in count_records(window)]
    found += [record for window in PAGING_WINDOWS for record in unexplained_records(window)]
    return found + [observed_record(window) for window in _long(PAGE, ESCALATION)]


def slow_records() -> list[RecordingRule]:
    """Return the rules for tickets."""
    found = [record for window in SLOW_WINDOWS for record in count_records(window)]
    found += [record for window in SLOW_WINDOWS for record in unexplained_records(window)]
    return found + [observed_record(window) for window in _long(TICKET)]


def _long(*severities: AlertSeverity) -> tuple[str, ...]:
    every = (*BURN_WINDOWS, ESCALATION_WINDOW)
    return tuple(dict.fromkeys(one.long for one in every if one.severity in severities))


def budget_records(budgets: Iterable[Budget]) -> list[RecordingRule]:
    """Return the rules for what is left of each error budget: 1 is all, below 0 is overdrawn.

    While the period has too little data there is no such series: minutes are no month.
    """
    found = [*count_records(BUDGET_WINDOW), observed_record(BUDGET_WINDOW)]
    for one in budgets:
        if one.allowed:
            spent = selector(bad_ratio(BUDGET_WINDOW), **one.labels)
            left = f"1 - {spent} / {format_ratio(one.allowed)}"
            enough = is_observed(BUDGET_WINDOW, one.labels)
            found.append(RecordingRule(BUDGET_LEFT, f"{left}\nand\n{enough}", one.labels))
    return found

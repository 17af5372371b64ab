"""Recorded burn rates: one series for each window that burns, none while it does not."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from alerts.rules.budgets import Budget, format_ratio
from alerts.rules.burn_windows import (
    BURN_WINDOWS,
    ESCALATION,
    ESCALATION_WINDOW,
    PACE_WINDOW,
    TICKET,
    BurnWindow,
    Severity,
    pace_count,
)
from alerts.rules.model import RecordingRule
from alerts.rules.promql import selector
from alerts.rules.recordings import (
    all_of,
    bad_of,
    bad_ratio,
    is_observed,
    unexplained_of,
    unexplained_ratio,
)

_BURN_RATE: Final = "sli_tier_window:lineage_error_budget_burn:rate"
_SeriesOf = Callable[[str], str]  # by the window


def burn_rate(budget: Budget, severity: Severity, **window: str) -> str:
    """Return the selector of the windows of this severity that burn, or of one of them."""
    return selector(_BURN_RATE, **budget.labels, severity=severity, **window)


def active_windows(budget: Budget, severity: Severity) -> list[BurnWindow]:
    """Return the windows of a severity that can burn; empty where nobody asks for them."""
    if not budget.allowed or (severity == ESCALATION and not budget.subject.escalates):
        return []
    every = (*BURN_WINDOWS, ESCALATION_WINDOW)
    return [one for one in every if one.severity == severity and one.can_fire(budget.allowed)]


def burn_records(budgets: Iterable[Budget], *severities: Severity) -> Iterator[RecordingRule]:
    """Return the rules of all windows of these severities."""
    for budget in budgets:
        for severity in severities:
            for window in active_windows(budget, severity):
                labels = {**budget.labels, "severity": severity, "window": window.long}
                yield RecordingRule(_BURN_RATE, _burn_condition(budget, window), labels)


def burn_series(window: BurnWindow) -> tuple[_SeriesOf, _SeriesOf]:
    """Return the series of what burns, as a share and as an amount."""
    if window.severity == ESCALATION:
        return bad_ratio, bad_of
    return unexplained_ratio, unexplained_of


def _burn_condition(budget: Budget, window: BurnWindow) -> str:
    own, (ratio, amount) = budget.labels, burn_series(window)
    allowed, factor = format_ratio(budget.allowed), format_ratio(window.factor)
    terms = [
        f"{selector(ratio(span), **own)} / {allowed} > {factor}"
        for span in (window.long, window.short)
    ]
    terms.append(is_observed(window.long, own))
    if window.least_events and not budget.subject.is_time:
        events = selector(amount(window.long), **own)
        # Increases are extrapolated: ten events may be 9.9.
        terms.append(f"round({events}) >= {window.least_events}")
    if budget.subject.is_time and window.severity != TICKET:
        terms.append(_spent_condition(budget, window))
    return "\nand\n".join(terms)


def _spent_condition(budget: Budget, window: BurnWindow) -> str:
    """Return the condition that so much of the budget is gone indeed.

    Where Prometheus has less than the long window, a ratio is of the little that there is. It is
    held against what the whole window has at the present pace; where there is a whole window, that
    is the ratio itself.
    """
    own, (_, amount) = budget.labels, burn_series(window)
    share = format_ratio(window.factor * budget.allowed * pace_count(window.long))
    pace = selector(all_of(PACE_WINDOW), **own)
    return f"{selector(amount(window.long), **own)} > {share} * {pace}"

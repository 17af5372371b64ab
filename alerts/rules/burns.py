"""Alerts on burn rates of error budgets: one for each SLI, tier and severity.

The burn rate is the ratio of bad over what the objective allows to be bad: at 1, the budget of
30 days lasts 30 days. A window burns when the rate is too high over a long and a short span
(SRE workbook, "Alerting on SLOs", multiwindow, multi-burn-rate). All windows of a severity are one
alert, which lists those that burn: two windows of one fault are one message. Pages and tickets
count what no incident explains: an incident has its own notification. Escalations count all
that is bad.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from alerts.rules.budgets import Budget, format_percent
from alerts.rules.burn_records import active_windows, burn_rate
from alerts.rules.burn_texts import budget_left, describe_window, list_windows
from alerts.rules.burn_windows import BUDGET_WINDOW, ESCALATION, TICKET, Severity
from alerts.rules.model import AlertRule, since
from alerts.rules.promql import query_template, selector
from alerts.rules.recordings import BUDGET_LEFT, bad_ratio

ESCALATED: Final = "ErrorBudgetEscalation"
EXHAUSTED: Final = "ErrorBudgetExhausted"
_LEFT_FOR = "1h"


def burn_name(budget: Budget) -> str:
    """Return the name of a burn alert, such as `DatasetFreshnessBurn`."""
    return f"{budget.subject.stem}Burn"


def burn_alerts(budgets: Iterable[Budget], severity: Severity, owner: str) -> Iterator[AlertRule]:
    """Return the alerts of one severity that can fire."""
    for budget in budgets:
        if active_windows(budget, severity):
            yield _burn_alert(budget, severity, burn_name(budget), owner)


def escalation_alerts(budgets: Iterable[Budget], engineering: str) -> Iterator[AlertRule]:
    """Return the alerts on coverage and completeness for the engineering owner."""
    for budget in budgets:
        if active_windows(budget, ESCALATION):
            yield _burn_alert(budget, ESCALATION, ESCALATED, engineering)


def exhausted_alerts(budgets: Iterable[Budget], owner: str) -> Iterator[AlertRule]:
    """Return the alerts on used-up budgets whose burn alerts could never fire."""
    for budget in budgets:
        if budget.allowed and budget.unreachable():
            yield _exhausted_alert(budget, owner)


def _exhausted_alert(budget: Budget, owner: str) -> AlertRule:
    own = budget.labels
    bad = query_template(
        selector(bad_ratio(BUDGET_WINDOW), **own), "humanizePercentage", "an unknown share"
    )
    text = (
        f"{bad} of the {budget.subject.unit} of {budget.name} were bad in {BUDGET_WINDOW}. The"
        f" objective of {budget.objective} allows {format_percent(budget.allowed)} to be bad. The"
        f" error budget is used up, since {since(EXHAUSTED, **own)}."
    )
    return AlertRule(
        name=EXHAUSTED,
        expr=f"{selector(BUDGET_LEFT, **own)} <= 0",
        hold=_LEFT_FOR,
        severity=TICKET,
        owner=owner,
        about=budget.about,
        summary=f"{budget.name}: the error budget of {BUDGET_WINDOW} is used up",
        description=text,
    )


def _burn_alert(budget: Budget, severity: Severity, name: str, owner: str) -> AlertRule:
    return AlertRule(
        name=name,
        expr=f"max by (sli, tier) ({burn_rate(budget, severity)})",
        severity=severity,
        owner=owner,
        about=budget.about,
        summary=_summary(budget, severity),
        description=_description(budget, severity, name),
    )


def _summary(budget: Budget, severity: Severity) -> str:
    prefix = "for engineering: " if severity == ESCALATION else ""
    windows = list_windows(burn_rate(budget, severity))
    return f"{prefix}{budget.name}: the error budget burns too fast: {windows}"


def _description(budget: Budget, severity: Severity, name: str) -> str:
    windows = "".join(describe_window(budget, each) for each in active_windows(budget, severity))
    began = since(name, **budget.labels, severity=severity)
    return (
        f"{windows}The objective of {budget.objective} allows {format_percent(budget.allowed)} to"
        f" be bad. {budget_left(budget)} Burning since {began}."
    )

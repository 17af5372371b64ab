"""Burn rates of error budgets: a series for each window that burns, and alerts on them.

The burn rate is the ratio of bad over what the objective allows to be bad: at 1, the budget of
30 days lasts 30 days. A window burns when the rate is too high over a long and a short span
(SRE workbook, "Alerting on SLOs", multiwindow, multi-burn-rate). All windows of a severity are one
alert for each SLI and tier, which lists those that burn: two windows of one fault are one message.
Pages and tickets count what no incident explains: an incident has its own notification. Escalations
count all that is bad.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from alerts.rules.budgets import Budget, format_percent, format_ratio
from alerts.rules.burn_windows import (
    BUDGET_WINDOW,
    BURN_WINDOWS,
    ESCALATION,
    ESCALATION_WINDOW,
    LEAST_OBSERVED,
    PACE_WINDOW,
    AlertSeverity,
    BurnWindow,
    pace_count,
    promql_seconds,
    subquery_steps,
)
from alerts.rules.model import AlertRule, RecordingRule, since
from alerts.rules.promql import list_template, query_template, quote, selector
from alerts.rules.recordings import (
    BUDGET_LEFT,
    all_of,
    bad_of,
    bad_ratio,
    is_observed,
    observed_series,
    unexplained_of,
    unexplained_ratio,
)
from lineage.states import TICKET

_BURN_RATE: Final = "sli_tier_window:lineage_error_budget_burn:rate"
_SeriesOf = Callable[[str], str]  # by the window

ESCALATED: Final = "ErrorBudgetEscalation"
EXHAUSTED: Final = "ErrorBudgetExhausted"
_LEFT_FOR = "1h"

_AS_TIMES: Final = 'printf "%.1f"'
_EACH_WINDOW: Final = (
    f"{{{{ .Value | {_AS_TIMES} }}}} times the allowed rate in the last {{{{ .Labels.window }}}}"
)
_LEAST_DATA: Final = f"{LEAST_OBSERVED * promql_seconds(BUDGET_WINDOW) / 86_400:.0f}d"


def burn_rate(budget: Budget, severity: AlertSeverity, **window: str) -> str:
    """Return the selector of the windows of this severity that burn, or of one of them."""
    return selector(_BURN_RATE, **budget.labels, severity=severity, **window)


def active_windows(budget: Budget, severity: AlertSeverity) -> list[BurnWindow]:
    """Return the windows of a severity that can burn; empty where nobody asks for them."""
    if not budget.allowed or (severity == ESCALATION and not budget.subject.escalates):
        return []
    every = (*BURN_WINDOWS, ESCALATION_WINDOW)
    return [one for one in every if one.severity == severity and one.can_fire(budget.allowed)]


def burn_records(budgets: Iterable[Budget], *severities: AlertSeverity) -> Iterator[RecordingRule]:
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


def burn_name(budget: Budget) -> str:
    """Return the name of a burn alert, such as `DatasetFreshnessBurn`."""
    return f"{budget.subject.stem}Burn"


def burn_alerts(
    budgets: Iterable[Budget], severity: AlertSeverity, owner: str
) -> Iterator[AlertRule]:
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
        f" error budget is used up, since {since(EXHAUSTED, **own)}. {budget.subject.advice}"
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


def _burn_alert(budget: Budget, severity: AlertSeverity, name: str, owner: str) -> AlertRule:
    return AlertRule(
        name=name,
        expr=f"max by (sli, tier) ({burn_rate(budget, severity)})",
        severity=severity,
        owner=owner,
        about=budget.about,
        summary=_summary(budget, severity),
        description=_description(budget, severity, name),
    )


def _summary(budget: Budget, severity: AlertSeverity) -> str:
    prefix = "for engineering: " if severity == ESCALATION else ""
    windows = list_template(f"sort_desc({burn_rate(budget, severity)})", _EACH_WINDOW)
    return f"{prefix}{budget.name}: the error budget burns too fast: {windows}"


def _description(budget: Budget, severity: AlertSeverity, name: str) -> str:
    windows = "".join(_describe_window(budget, each) for each in active_windows(budget, severity))
    began = since(name, **budget.labels, severity=severity)
    return (
        f"{windows}The objective of {budget.objective} allows {format_percent(budget.allowed)} to"
        f" be bad. {_budget_left(budget)} Burning since {began}. {budget.subject.advice}"
    )


def _describe_window(budget: Budget, window: BurnWindow) -> str:
    """Return a template: the figures of one window, or nothing while it does not burn."""
    own, (ratio, amount) = budget.labels, burn_series(window)
    share = query_template(
        selector(ratio(window.long), **own), "humanizePercentage", "an unknown share"
    )
    much = query_template(selector(amount(window.long), **own), "humanize", "an unknown number")
    is_cut = budget.is_explained and window.severity != ESCALATION
    where = " and not explained by an incident" if is_cut else ""
    burn = burn_rate(budget, window.severity, window=window.long)
    return (
        f"{{{{ with query {quote(burn)} }}}}In the last {window.long}, {share} of the"
        f" {budget.subject.unit} of {budget.name} were bad{where}: {much}. That uses the error"
        f" budget of {BUDGET_WINDOW} {{{{ . | first | value | {_AS_TIMES} }}}} times as fast as"
        f" allowed. The threshold of this {window.severity} is a burn rate of"
        f" {format_ratio(window.factor)} in the last {window.long} and in the last {window.short}."
        f" {{{{ end }}}}"
    )


def _budget_left(budget: Budget) -> str:
    """Return a template: what is left of the budget, or that it is too early to know."""
    left = f"clamp_min({selector(BUDGET_LEFT, **budget.labels)}, 0)"
    observed = selector(observed_series(BUDGET_WINDOW), **budget.labels)
    known = f"{observed} * {promql_seconds(BUDGET_WINDOW)}"
    _, step = subquery_steps(BUDGET_WINDOW)
    early = query_template(known, "humanizeDuration", f"less than {step}")
    share = "{{ . | first | value | humanizePercentage }}"
    return (
        f"{{{{ with query {quote(left)} }}}}{share} of the"
        f" budget is left.{{{{ else }}}}It is too early to know how much of the budget is left:"
        f" Prometheus has {early} of data and needs {_LEAST_DATA}.{{{{ end }}}}"
    )

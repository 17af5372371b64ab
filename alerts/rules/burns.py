"""Alerts on how fast an error budget burns.

Burn is the ratio of bad over what the objective lets be bad: at 1 the budget of 30 days lasts 30
days. It is told when a long and a short window both have it (SRE workbook, "Alerting on SLOs",
multiwindow, multi-burn-rate). Pages burn over what no open incident explains: an incident that is
open has paged by itself. Tickets and escalations burn over all that is bad.
"""

from collections.abc import Callable, Iterable, Iterator

from alerts.rules.budgets import Budget, percent, plain
from alerts.rules.model import Alert, since
from alerts.rules.promql import asked, selector
from alerts.rules.recordings import (
    BUDGET_LEFT,
    all_of,
    bad_of,
    bad_ratio,
    unexplained_of,
    unexplained_ratio,
)
from alerts.rules.windows import (
    BURN_WINDOWS,
    ESCALATION,
    ESCALATION_WINDOW,
    PACE_WINDOW,
    PAGE,
    TICKET,
    BurnWindow,
    paces,
)

ESCALATED = "ErrorBudgetEscalation"
EXHAUSTED = "ErrorBudgetExhausted"
_LEFT_FOR = "1h"
_TIMES = 'printf "%.1f"'
_SeriesOf = Callable[[str], str]  # by the window


def burn_name(budget: Budget) -> str:
    """`DatasetFreshnessBurn`."""
    return f"{budget.subject.stem}Burn"


def burns(budgets: Iterable[Budget], severity: str, owner: str) -> Iterator[Alert]:
    """The alerts of one severity that can fire at all."""
    for budget in budgets:
        for window in BURN_WINDOWS:
            if budget.allowed and window.severity == severity and window.can_fire(budget.allowed):
                yield _burn(budget, window, burn_name(budget), owner)


def escalations(budgets: Iterable[Budget], engineering: str) -> Iterator[Alert]:
    """To the engineering owner, of coverage and completeness."""
    for budget in budgets:
        is_asked = budget.subject.escalates and budget.allowed
        if is_asked and ESCALATION_WINDOW.can_fire(budget.allowed):
            yield _burn(budget, ESCALATION_WINDOW, ESCALATED, engineering)


def exhausted(budgets: Iterable[Budget], owner: str) -> Iterator[Alert]:
    """In place of rules that could never fire: the budget is gone."""
    for budget in budgets:
        if budget.allowed and budget.unreachable():
            yield _exhausted(budget, owner)


def _exhausted(budget: Budget, owner: str) -> Alert:
    own = budget.labels
    bad = asked(selector(bad_ratio("30d"), **own), "humanizePercentage", "an unknown share")
    text = (
        f"{bad} of the {budget.subject.unit} of {budget.name} were bad in 30d. The objective of"
        f" {budget.objective} lets {percent(budget.allowed)} be bad. Of the error budget"
        f" {{{{ $value | humanizePercentage }}}} is left, since {since(EXHAUSTED, **own)}."
    )
    return Alert(
        name=EXHAUSTED,
        expr=f"{selector(BUDGET_LEFT, **own)} <= 0",
        hold=_LEFT_FOR,
        severity=TICKET,
        owner=owner,
        about=budget.about,
        summary=f"{budget.name}: the error budget of 30d is gone",
        description=text,
    )


def _burn(budget: Budget, window: BurnWindow, name: str, owner: str) -> Alert:
    return Alert(
        name=name,
        expr=_burning(budget, window),
        severity=window.severity,
        owner=owner,
        about={**budget.about, "window": window.long},
        summary=_summary(budget, window),
        description=_description(budget, window, name),
    )


def _burnt(window: BurnWindow) -> tuple[_SeriesOf, _SeriesOf]:
    """What burns, as a share and as an amount: to a page what no open incident explains."""
    is_page = window.severity == PAGE
    return (unexplained_ratio, unexplained_of) if is_page else (bad_ratio, bad_of)


def _burning(budget: Budget, window: BurnWindow) -> str:
    own, (ratio, amount) = budget.labels, _burnt(window)
    terms = [
        f"{selector(ratio(span), **own)} / {plain(budget.allowed)} > {plain(window.factor)}"
        for span in (window.long, window.short)
    ]
    if window.least_events and not budget.subject.is_time:
        events = selector(amount(window.long), **own)
        # Increases are extrapolated: ten events may be 9.9.
        terms.append(f"round({events}) >= {window.least_events}")
    if budget.subject.is_time and window.severity != TICKET:
        terms.append(_spent(budget, window))
    return "\nand\n".join(terms)


def _spent(budget: Budget, window: BurnWindow) -> str:
    """So much of the budget is gone indeed.

    Where Prometheus has less than the long window, a ratio is of the little that there is: an
    estate of ten minutes would page for one bad minute. It is held against what the whole window
    has at the present pace; where there is a whole window, that is the ratio itself.
    """
    own, (_, amount) = budget.labels, _burnt(window)
    share = plain(window.factor * budget.allowed * paces(window.long))
    pace = selector(all_of(PACE_WINDOW), **own)
    return f"{selector(amount(window.long), **own)} > {share} * {pace}"


def _summary(budget: Budget, window: BurnWindow) -> str:
    burn = f"{{{{ $value | {_TIMES} }}}}"
    told = "engineering is asked: " if window.severity == ESCALATION else ""
    return f"{told}{budget.name}: the error budget burns {burn} times too fast over {window.long}"


def _description(budget: Budget, window: BurnWindow, name: str) -> str:
    own, (ratio, amount) = budget.labels, _burnt(window)
    share = asked(selector(ratio(window.long), **own), "humanizePercentage", "an unknown share")
    much = asked(selector(amount(window.long), **own), "humanize", "unknown")
    left = asked(selector(BUDGET_LEFT, **own), "humanizePercentage", "an unknown share")
    where = " and in no open incident" if window.severity == PAGE else ""
    began = since(name, **own, severity=window.severity, window=window.long)
    return (
        f"In the last {window.long}, {share} of the {budget.subject.unit} of {budget.name} were"
        f" bad{where}: {much}. The objective of"
        f" {budget.objective} lets {percent(budget.allowed)} be bad. That burns the error budget of"
        f" 30d {{{{ $value | {_TIMES} }}}} times as fast as it lasts; {window.severity} above"
        f" {plain(window.factor)} over {window.long} and {window.short}. {left} of the budget is"
        f" left. Burning since {began}."
    )

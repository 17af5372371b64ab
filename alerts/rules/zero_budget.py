"""Alerts where the objective is 1: there is no error budget, so each bad event alerts.

Counters of events are compared by their values and not by `increase`, which extrapolates: it would
report a fraction of an event where there was none.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from alerts.rules.budgets import Budget
from alerts.rules.model import AlertRule, RecordingRule, since
from alerts.rules.promql import bridge, selector
from alerts.rules.recordings import EXPLAINED, GOOD_SERIES, TOTAL, unexplained_ratio
from lineage.states import PAGE, UNAUTHORIZED_ACCESS

UNAUTHORIZED_ALERT: Final = "UnauthorizedAccess"
OBJECTIVE_BROKEN: Final = "ObjectiveBroken"
UNEXPLAINED: Final = "sli_tier_epoch:lineage_sli_unexplained:sum"
_SHOWN_FOR = "1h"  # how long one event fires
_LOOK_BACK = "1d"
_HOLD = "5m"  # an incident opens within it, and explains
_NOISE_RATIO = "0.001"
_COUNT = '{{ $value | printf "%.0f" }}'
_SHARE = "{{ $value | humanizePercentage }}"


def without_budget(budgets: Iterable[Budget]) -> list[Budget]:
    """Return the budgets whose objective allows nothing bad."""
    return [budget for budget in budgets if not budget.allowed]


def zero_budget_records(budgets: Iterable[Budget]) -> list[RecordingRule]:
    """Return the rules for bad events that no open incident explains, by epoch of the counters."""
    return [
        RecordingRule(UNEXPLAINED, _unexplained(one.labels))
        for one in without_budget(budgets)
        if not one.subject.is_time
    ]


def _unexplained(own: dict[str, str]) -> str:
    # Several services, or one that got another address, export the same counters: the highest.
    each = "max by (sli, tier, tier_origin, epoch)"
    total, good, explained = (
        bridge(selector(one, **own)) for one in (TOTAL, GOOD_SERIES, EXPLAINED)
    )
    bad = f"sum by (sli, tier, epoch) ({each} ({total} - {good}))"
    in_incidents = f"sum by (sli, tier, epoch) ({each} ({explained}))"
    return f"{bad}\n- ({in_incidents} or 0 * {bad})"


def zero_budget_alerts(budgets: Iterable[Budget], owner: str) -> Iterator[AlertRule]:
    """Return a page for each budget that allows nothing bad."""
    for budget in without_budget(budgets):
        yield (_time_alert if budget.subject.is_time else _event_alert)(budget, owner)


def _event_alert(budget: Budget, owner: str) -> AlertRule:
    own = budget.labels
    now = selector(UNEXPLAINED, **own)
    # Counters that begin with a bad event have no earlier value from which they rose.
    before = f"last_over_time({selector(TOTAL, **own)}[{_LOOK_BACK}] offset {_SHOWN_FOR})"
    expr = (
        f"sum by (sli, tier) ({now} - min_over_time({now}[{_SHOWN_FOR}])) > 0.5\n"
        f"or\n(sum by (sli, tier) ({now}) > 0.5 unless on (sli, tier) {before})"
    )
    name = UNAUTHORIZED_ALERT if budget.sli == UNAUTHORIZED_ACCESS else OBJECTIVE_BROKEN
    return AlertRule(
        name=name,
        expr=expr,
        severity=PAGE,
        owner=owner,
        about=budget.about,
        summary=f"{budget.breach}: {_COUNT}",
        description=(
            f"{budget.breach}: {_COUNT} in the last {_SHOWN_FOR}. The objective is"
            f" {budget.objective}: there is no error budget, so each one alerts. Firing since"
            f" {since(name, **own)}. {budget.subject.advice}"
        ),
    )


def _time_alert(budget: Budget, owner: str) -> AlertRule:
    own = budget.labels
    explained = ", and no open incident explains them" if budget.is_explained else ""
    return AlertRule(
        name=OBJECTIVE_BROKEN,
        expr=f"{selector(unexplained_ratio('5m'), **own)} > {_NOISE_RATIO}",
        hold=_HOLD,
        severity=PAGE,
        owner=owner,
        about=budget.about,
        summary=f"{budget.name}: {_SHARE} bad, and the objective allows none",
        description=(
            f"{_SHARE} of the {budget.subject.unit} of {budget.name} were bad in the last 5m, for"
            f" {_HOLD} or longer{explained}. The objective is"
            f" {budget.objective}: there is no error budget. Bad since"
            f" {since(OBJECTIVE_BROKEN, **own)}. {budget.subject.advice}"
        ),
    )

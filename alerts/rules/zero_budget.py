"""Alerts where the objective is 1: there is no budget to burn, whatever is bad is told.

Counters of events are compared as they stand and never by `increase`, whose extrapolation would
make a fraction of an event out of none.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from alerts.rules.budgets import Budget
from alerts.rules.burn_windows import PAGE
from alerts.rules.model import Alert, Record, since
from alerts.rules.promql import bridge, selector
from alerts.rules.recordings import EXPLAINED, GOOD, TOTAL, unexplained_ratio
from lineage.states import UNAUTHORIZED_ACCESS

UNAUTHORIZED: Final = "UnauthorizedAccess"
OBJECTIVE_BROKEN: Final = "ObjectiveBroken"
UNEXPLAINED: Final = "sli_tier_epoch:lineage_sli_unexplained:sum"
_SHOWN_FOR = "1h"  # how long one event is shown
_LOOK_BACK = "1d"
_HOLD = "5m"  # an incident opens within it, and explains
_NOISE_RATIO = "0.001"


def without_budget(budgets: Iterable[Budget]) -> list[Budget]:
    """Those without a budget."""
    return [budget for budget in budgets if not budget.allowed]


def zero_budget_records(budgets: Iterable[Budget]) -> list[Record]:
    """Bad events that no open incident explains, ever since each epoch of the counters began."""
    return [
        Record(UNEXPLAINED, _unexplained(one.labels))
        for one in without_budget(budgets)
        if not one.subject.is_time
    ]


def _unexplained(own: dict[str, str]) -> str:
    # Several services, or one that got another address, show the same counters: the highest.
    each = "max by (sli, tier, tier_origin, epoch)"
    total, good, explained = (bridge(selector(one, **own)) for one in (TOTAL, GOOD, EXPLAINED))
    bad = f"{total} - {good}"
    summed = f"sum by (sli, tier, epoch) ({each} ({bad}))"
    told = f"sum by (sli, tier, epoch) ({each} ({explained}))"
    return f"{summed}\n- ({told} or 0 * {summed})"


def zero_budget_alerts(budgets: Iterable[Budget], owner: str) -> Iterator[Alert]:
    """A page for each."""
    for budget in without_budget(budgets):
        yield (_time_alert if budget.subject.is_time else _event_alert)(budget, owner)


def _event_alert(budget: Budget, owner: str) -> Alert:
    own = budget.labels
    now = selector(UNEXPLAINED, **own)
    # Counters that begin with a bad event have nothing before it that they could have risen from.
    before = f"last_over_time({selector(TOTAL, **own)}[{_LOOK_BACK}] offset {_SHOWN_FOR})"
    expr = (
        f"sum by (sli, tier) ({now} - min_over_time({now}[{_SHOWN_FOR}])) > 0.5\n"
        f"or\n(sum by (sli, tier) ({now}) > 0.5 unless on (sli, tier) {before})"
    )
    name = UNAUTHORIZED if budget.sli == UNAUTHORIZED_ACCESS else OBJECTIVE_BROKEN
    count = '{{ $value | printf "%.0f" }}'
    return Alert(
        name=name,
        expr=expr,
        severity=PAGE,
        owner=owner,
        about=budget.about,
        summary=f"{budget.name}: bad {budget.subject.unit} where none may be: {count}",
        description=(
            f"Bad {budget.subject.unit} of {budget.name} in the last {_SHOWN_FOR}, in no open"
            f" incident: {count}. The objective is {budget.objective}: there is no error budget,"
            f" so that each is told at once. Told since {since(name, **own)}."
        ),
    )


def _time_alert(budget: Budget, owner: str) -> Alert:
    own = budget.labels
    return Alert(
        name=OBJECTIVE_BROKEN,
        expr=f"{selector(unexplained_ratio('5m'), **own)} > {_NOISE_RATIO}",
        hold=_HOLD,
        severity=PAGE,
        owner=owner,
        about=budget.about,
        summary=f"{budget.name}: {{{{ $value | humanizePercentage }}}} is bad where nothing may be",
        description=(
            f"{{{{ $value | humanizePercentage }}}} of the {budget.subject.unit} of {budget.name}"
            f" were bad in the last 5m and in no open incident, for {_HOLD} or longer. The"
            f" objective is {budget.objective}: there is no error budget. Bad since"
            f" {since(OBJECTIVE_BROKEN, **own)}."
        ),
    )

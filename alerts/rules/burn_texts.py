"""Texts of burn alerts: templates that list the windows above their threshold."""

from typing import Final

from alerts.rules.budgets import Budget, format_ratio
from alerts.rules.burn_records import burn_rate, burn_series
from alerts.rules.burn_windows import (
    BUDGET_WINDOW,
    ESCALATION,
    LEAST_OBSERVED,
    BurnWindow,
    seconds_of,
    subquery_steps,
)
from alerts.rules.promql import query_template, quote, selector
from alerts.rules.recordings import BUDGET_LEFT, observed

_TIMES: Final = 'printf "%.1f"'
_EACH: Final = (
    f"{{{{ .Value | {_TIMES} }}}} times the allowed rate in the last {{{{ .Labels.window }}}}"
)
_LEAST_DATA: Final = f"{LEAST_OBSERVED * seconds_of(BUDGET_WINDOW) / 86_400:.0f}d"


def list_windows(selected: str) -> str:
    """Return a template: each window that burns and how fast, the fastest first."""
    query = quote(f"sort_desc({selected})")
    comma = "{{ if $i }}, {{ end }}"
    return f"{{{{ range $i, $each := query {query} }}}}{comma}{_EACH}{{{{ end }}}}"


def describe_window(budget: Budget, window: BurnWindow) -> str:
    """Return a template: the figures of one window, or nothing while it does not burn."""
    own, (ratio, amount) = budget.labels, burn_series(window)
    share = query_template(
        selector(ratio(window.long), **own), "humanizePercentage", "an unknown share"
    )
    much = query_template(selector(amount(window.long), **own), "humanize", "an unknown number")
    where = "" if window.severity == ESCALATION else " and not explained by an incident"
    burn = burn_rate(budget, window.severity, window=window.long)
    return (
        f"{{{{ with query {quote(burn)} }}}}In the last {window.long}, {share} of the"
        f" {budget.subject.unit} of {budget.name} were bad{where}: {much}. That uses the error"
        f" budget of {BUDGET_WINDOW} {{{{ . | first | value | {_TIMES} }}}} times as fast as"
        f" allowed. The threshold of this {window.severity} is a burn rate of"
        f" {format_ratio(window.factor)} in the last {window.long} and in the last {window.short}."
        f" {{{{ end }}}}"
    )


def budget_left(budget: Budget) -> str:
    """Return a template: what is left of the budget, or that it is too early to know."""
    left = f"clamp_min({selector(BUDGET_LEFT, **budget.labels)}, 0)"
    known = f"{selector(observed(BUDGET_WINDOW), **budget.labels)} * {seconds_of(BUDGET_WINDOW)}"
    _, step = subquery_steps(BUDGET_WINDOW)
    early = query_template(known, "humanizeDuration", f"less than {step}")
    share = "{{ . | first | value | humanizePercentage }}"
    return (
        f"{{{{ with query {quote(left)} }}}}{share} of the"
        f" budget is left.{{{{ else }}}}It is too early to know how much of the budget is left:"
        f" Prometheus has {early} of data and needs {_LEAST_DATA}.{{{{ end }}}}"
    )

"""Rows of the executive dashboard on what the policy asks for: coverage, error budgets."""

from alerts.rules.recordings import BUDGET_LEFT
from dashboards.grafana import links
from dashboards.grafana.objectives import Objectives
from dashboards.grafana.queries import TIER, once
from dashboards.grafana.spec import BUDGET_STEPS, Panel, Query, least


def coverage(asked: Objectives) -> tuple[Panel, ...]:
    """Return the coverage of critical datasets, as measured and as corrected."""
    critical = 'sli="coverage",tier="critical"'
    return (
        Panel(
            kind="trend",
            title="Coverage against its objective",
            description=(
                "M1 coverage of tier critical, and its objective. A gap means that coverage was"
                " unknown, not that it was good."
            ),
            unit="percentunit",
            queries=(
                Query(once("lineage_coverage_ratio", where='tier="critical"'), "coverage"),
                Query(once("lineage_sli_objective_ratio", where=critical), "objective"),
            ),
            no_value="no data",
            steps=least(asked("coverage", "critical")),
            width=16,
            back="30d",
            highest=1,
            links=(links.on_call(), links.runbook("LineageCoverageBurn")),
        ),
        Panel(
            kind="bars",
            title="Coverage after correction",
            description=(
                "Coverage over a day, a week and 30 days, with late events counted in the hour"
                " of their event time (lineage_sli_corrected_ratio). Below the objective for a"
                " week: a recurring problem; talk to the owners below."
            ),
            unit="percentunit",
            queries=(
                Query(once("lineage_sli_corrected_ratio", "window", where=critical), "{{window}}"),
            ),
            no_value="no data",
            steps=least(asked("coverage", "critical")),
            width=8,
            lowest=0,
            highest=1,
            links=(links.on_call(),),
        ),
    )


def budgets() -> tuple[Panel, ...]:
    """Return panels of error budgets and their history."""
    words = (
        "Remaining 30-day error budget of each SLO and tier: 1 - bad / allowed, from the"
        " recording rules of `lineward render rules`. Too early: less than 15 days of data."
    )
    by = once(BUDGET_LEFT, "sli", "tier", where=TIER)
    return (
        Panel(
            kind="bars",
            title="Error budget left",
            description=f"{words} At 0 see the alert ErrorBudgetExhausted.",
            unit="percentunit",
            queries=(Query(f"sort({by})", "{{sli}} ({{tier}})"),),
            no_value="too early",
            steps=BUDGET_STEPS,
            width=12,
            height=10,
            lowest=0,
            highest=1,
            links=(links.on_call(), links.runbook("ErrorBudgetExhausted")),
        ),
        Panel(
            kind="trend",
            title="Error budget over time",
            description=f"{words} A steep fall is an incident; a slow fall is a recurring problem.",
            unit="percentunit",
            queries=(Query(by, "{{sli}} ({{tier}})"),),
            no_value="too early",
            steps=BUDGET_STEPS,
            width=12,
            height=10,
            links=(links.on_call(), links.runbook("burn-rates")),
        ),
    )

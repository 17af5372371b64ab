"""Rows of the executive dashboard on what the policy asks for: coverage, error budgets."""

from alerts.rules.recordings import BUDGET_LEFT
from dashboards.grafana import links
from dashboards.grafana.objectives import Objectives
from dashboards.grafana.queries import TIER, once
from dashboards.grafana.spec import BUDGET_STEPS, Panel, Query, least


def coverage(asked: Objectives) -> tuple[Panel, ...]:
    """Of critical datasets, as it is and as it was corrected."""
    critical = 'sli="coverage",tier="critical"'
    return (
        Panel(
            kind="trend",
            title="Coverage against its objective",
            description=(
                "M1 coverage of tier critical and what the policy asks for. A gap is a time without"
                " a figure of now, not one in which all was well."
            ),
            unit="percentunit",
            queries=(
                Query(once("lineage_coverage_ratio", where='tier="critical"'), "coverage"),
                Query(once("lineage_sli_objective_ratio", where=critical), "objective"),
            ),
            no_value="no sample",
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
                "The same over a day, a week and 30 days, late events counted in the hour that they"
                " belong to (lineage_sli_corrected_ratio). Below the objective for a week: not an"
                " incident but a habit; talk to the owners below."
            ),
            unit="percentunit",
            queries=(
                Query(once("lineage_sli_corrected_ratio", "window", where=critical), "{{window}}"),
            ),
            no_value="no sample",
            steps=least(asked("coverage", "critical")),
            width=8,
            lowest=0,
            highest=1,
            links=(links.on_call(),),
        ),
    )


def budgets() -> tuple[Panel, ...]:
    """What is left of each, and how it went."""
    words = (
        "Of each SLO and tier, what is left of what may be bad in 30 days: 1 - bad / allowed, from"
        " the recorded series of `lineward render rules`. Too early: there is no data of 15 days."
    )
    by = once(BUDGET_LEFT, "sli", "tier", where=TIER)
    return (
        Panel(
            kind="bars",
            title="Error budget left",
            description=f"{words} Gone at 0: ErrorBudgetExhausted says what then.",
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
            title="How it was spent",
            description=f"{words} A steep fall is an incident, a slow one a habit.",
            unit="percentunit",
            queries=(Query(by, "{{sli}} ({{tier}})"),),
            no_value="too early",
            steps=BUDGET_STEPS,
            width=12,
            height=10,
            links=(links.on_call(), links.runbook("burn-rates")),
        ),
    )

"""The first row of the executive dashboard: are we all right?"""

from alerts.rules.recordings import BUDGET_LEFT
from dashboards.grafana import links
from dashboards.grafana.objectives import Objectives
from dashboards.grafana.queries import WITHOUT_LINEAGE, evaluation_age, once, open_incidents
from dashboards.grafana.spec import BUDGET_STEPS, GREEN, RED, YELLOW, Panel, Query, least, most


def today(asked: Objectives) -> tuple[Panel, ...]:
    """Six figures that need no scrolling."""
    return (
        Panel(
            kind="stat",
            title="Critical datasets with lineage",
            description=(
                "M1 coverage of tier critical, now: expected and active datasets whose newest write"
                " was reported with its inputs, over all. Below the objective: see what is missing"
                " on the on-call dashboard. No sample: nothing to count, or over 5 % of the day"
                " unknown."
            ),
            unit="percentunit",
            queries=(Query(once("lineage_coverage_ratio", where='tier="critical"')),),
            no_value="no sample",
            steps=least(asked("coverage", "critical")),
            width=4,
            height=5,
            links=(links.on_call(), links.runbook("LineageCoverageBurn")),
        ),
        Panel(
            kind="stat",
            title="Least error budget left",
            description=(
                "Of all SLOs and tiers the one with the least of its 30 days' budget: 100 % is"
                " untouched, 0 % is gone. Below 25 %: put reliability before new work, by"
                " the budgets below."
            ),
            unit="percentunit",
            queries=(Query(f"min({BUDGET_LEFT})"),),
            no_value="too early",
            steps=BUDGET_STEPS,
            width=4,
            height=5,
            links=(links.on_call(), links.runbook("ErrorBudgetExhausted")),
        ),
        Panel(
            kind="stat",
            title="Open incidents that page",
            description=(
                "Incidents that are open or acknowledged and page: a critical dataset is bad, or"
                " will be before anybody could mend it. Above 0 somebody was called: whom, and who"
                " is on it, stands on the on-call dashboard."
            ),
            unit="short",
            queries=(Query(open_incidents("page")),),
            no_value="not known",
            steps=most(1),
            width=4,
            height=5,
            links=(links.on_call(), links.page("Incidents", "/incidents")),
        ),
        Panel(
            kind="stat",
            title="Datasets without lineage",
            description=(
                "Expected datasets, active in the last 7 days, whose newest write is not known from"
                " its own events with inputs (bad in M1). Each has an owner in the row below."
            ),
            unit="short",
            queries=(Query(f"sum({WITHOUT_LINEAGE})"),),
            no_value="not known",
            steps=((None, GREEN), (1, YELLOW)),
            width=4,
            height=5,
            links=(links.on_call(), links.page("All bad datasets", "/datasets?state=bad")),
        ),
        Panel(
            kind="stat",
            title="Unauthorized accesses, 30 days",
            description=(
                "M10: requests that were let in and should not have been, or were not audited."
                " One is too many. Not audited: the policy has no access section."
            ),
            unit="short",
            queries=(
                Query('max(sli_tier:lineage_sli_bad:increase30d{sli="unauthorized_access"})'),
            ),
            no_value="not audited",
            steps=((None, GREEN), (0.5, RED)),
            width=4,
            height=5,
            links=(links.on_call(), links.runbook("UnauthorizedAccess")),
        ),
        Panel(
            kind="stat",
            title="Figures are this old",
            description=(
                "Since the last evaluation. Over 60 s the pipeline is dead or behind, and figures"
                " of now are left out: nothing here is good because nothing is known."
            ),
            unit="s",
            queries=(Query(evaluation_age()),),
            no_value="no evaluation",
            steps=most(60),
            width=4,
            height=5,
            links=(links.debug(), links.runbook("LineageEvaluationStale")),
        ),
    )

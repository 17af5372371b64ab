"""First row of the executive dashboard: the overall state."""

from alerts.rules.recordings import BUDGET_LEFT
from dashboards.grafana import links
from dashboards.grafana.objectives import Objectives
from dashboards.grafana.queries import WITHOUT_LINEAGE, evaluation_age, once, open_incidents
from dashboards.grafana.spec import BUDGET_STEPS, GREEN, RED, YELLOW, Panel, Query, least, most


def today(asked: Objectives) -> tuple[Panel, ...]:
    """Return six figures that need no scrolling."""
    return (
        Panel(
            kind="stat",
            title="Critical datasets with lineage",
            description=(
                "M1 coverage of tier critical, now: expected and active datasets whose newest"
                " write was reported with inputs, over all. Below the objective: the on-call"
                " dashboard lists the missing ones. No data: no datasets, or over 5 % of the day"
                " unknown."
            ),
            unit="percentunit",
            queries=(Query(once("lineage_coverage_ratio", where='tier="critical"')),),
            no_value="no data",
            steps=least(asked("coverage", "critical")),
            width=4,
            height=5,
            links=(links.on_call(), links.runbook("LineageCoverageBurn")),
        ),
        Panel(
            kind="stat",
            title="Lowest error budget left",
            description=(
                "The lowest remaining 30-day error budget of all SLOs and tiers: 100 % is"
                " unused, 0 % is used up. Below 25 %: put reliability before new work. The"
                " budgets are below."
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
            title="Open incidents (page)",
            description=(
                "Open or acknowledged incidents with severity page: a critical dataset is bad,"
                " or will be before it can be fixed. The on-call dashboard shows who was paged"
                " and who acknowledged."
            ),
            unit="short",
            queries=(Query(open_incidents("page")),),
            no_value="unknown",
            steps=most(1),
            width=4,
            height=5,
            links=(links.on_call(), links.page("Incidents", "/incidents")),
        ),
        Panel(
            kind="stat",
            title="Datasets without lineage",
            description=(
                "Expected datasets, active in the last 7 days, whose newest write was not"
                " reported with inputs (bad in M1). The row below shows the owners."
            ),
            unit="short",
            queries=(Query(f"sum({WITHOUT_LINEAGE})"),),
            no_value="unknown",
            steps=((None, GREEN), (1, YELLOW)),
            width=4,
            height=5,
            links=(links.on_call(), links.page("All bad datasets", "/datasets?state=bad")),
        ),
        Panel(
            kind="stat",
            title="Unauthorized accesses, 30 days",
            description=(
                "M10: requests that were allowed against the policy, or not audited. One is too"
                " many. Not audited: the policy has no access section."
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
            title="Age of figures",
            description=(
                "Time since the last evaluation. Over 60 s: the pipeline is down or behind, and"
                " current figures are hidden, because they are unknown."
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

"""Executive dashboard: whether lineage can be trusted, and the work on what cannot."""

from alerts.rules.recordings import BUDGET_LEFT
from dashboards.grafana import links
from dashboards.grafana.executive_compliance import compliance_panels, provenance_panels
from dashboards.grafana.executive_incidents import changes_panel, incident_panels
from dashboards.grafana.queries import (
    SELECTED_TIER,
    WITHOUT_LINEAGE,
    evaluation_age,
    open_incidents,
    service_max,
)
from dashboards.grafana.spec import (
    BUDGET_STEPS,
    GREEN,
    RED,
    YELLOW,
    Board,
    ObjectiveLookup,
    Panel,
    PanelRow,
    Query,
    bad_from,
    good_from,
)


def executive_dashboard(asked: ObjectiveLookup) -> Board:
    """Return the dashboard; its thresholds are the policy's objectives."""
    return Board(
        uid=links.EXECUTIVE,
        title="Lineage: overview",
        description="For data owners and managers: coverage, error budgets, gaps and incidents.",
        since="now-30d",
        refresh="1m",
        rows=(
            PanelRow("Current state", today(asked)),
            PanelRow("Coverage of critical datasets", coverage(asked)),
            PanelRow("Error budgets of 30 days", budgets()),
            PanelRow("Datasets without lineage", provenance_panels(asked)),
            PanelRow("Regulation and compliance", compliance_panels(asked)),
            PanelRow("Incidents", incident_panels()),
            PanelRow("Recent changes", (changes_panel(),)),
        ),
    )


def today(asked: ObjectiveLookup) -> tuple[Panel, ...]:
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
            queries=(Query(service_max("lineage_coverage_ratio", where='tier="critical"')),),
            no_value="no data",
            steps=good_from(asked("coverage", "critical")),
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
                " or will be before it can be fixed. Incidents of the kinds `ingestion` and"
                " `access` always page. The on-call dashboard shows who was paged and who"
                " acknowledged."
            ),
            unit="short",
            queries=(Query(open_incidents("page")),),
            no_value="unknown",
            steps=bad_from(1),
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
            steps=bad_from(60),
            width=4,
            height=5,
            links=(links.debug(), links.runbook("LineageEvaluationStale")),
        ),
    )


def coverage(asked: ObjectiveLookup) -> tuple[Panel, ...]:
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
                Query(service_max("lineage_coverage_ratio", where='tier="critical"'), "coverage"),
                Query(service_max("lineage_sli_objective_ratio", where=critical), "objective"),
            ),
            no_value="no data",
            steps=good_from(asked("coverage", "critical")),
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
                Query(
                    service_max("lineage_sli_corrected_ratio", "window", where=critical),
                    "{{window}}",
                ),
            ),
            no_value="no data",
            steps=good_from(asked("coverage", "critical")),
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
    by = service_max(BUDGET_LEFT, "sli", "tier", where=SELECTED_TIER)
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

"""Executive dashboard: whether lineage can be trusted, and the work on what cannot."""

from dashboards.grafana import links
from dashboards.grafana.executive_course import changes_panel, incidents
from dashboards.grafana.executive_gaps import compliance, provenance
from dashboards.grafana.executive_today import today
from dashboards.grafana.executive_trust import budgets, coverage
from dashboards.grafana.objectives import Objectives
from dashboards.grafana.spec import Board, PanelRow


def executive(asked: Objectives) -> Board:
    """Thresholds are the policy's objectives."""
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
            PanelRow("Datasets without lineage", provenance(asked)),
            PanelRow("Regulation and compliance", compliance(asked)),
            PanelRow("Incidents", incidents()),
            PanelRow("Recent changes", (changes_panel(),)),
        ),
    )

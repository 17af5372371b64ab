"""Executive dashboard: whether lineage can be trusted, and the work on what cannot."""

from dashboards.grafana import links
from dashboards.grafana.executive_course import changes_panel, incidents
from dashboards.grafana.executive_gaps import compliance, provenance
from dashboards.grafana.executive_today import today
from dashboards.grafana.executive_trust import budgets, coverage
from dashboards.grafana.objectives import Objectives
from dashboards.grafana.spec import Board, Row


def executive(asked: Objectives) -> Board:
    """Thresholds are the policy's objectives."""
    return Board(
        uid=links.EXECUTIVE,
        title="Lineage: overview",
        description="For data owners and managers: coverage, error budgets, gaps and incidents.",
        since="now-30d",
        refresh="1m",
        rows=(
            Row("Current state", today(asked)),
            Row("Coverage of critical datasets", coverage(asked)),
            Row("Error budgets of 30 days", budgets()),
            Row("Datasets without lineage", provenance(asked)),
            Row("Regulation and compliance", compliance(asked)),
            Row("Incidents", incidents()),
            Row("Recent changes", (changes_panel(),)),
        ),
    )

"""Error budgets of a policy, and their names in alerts."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final, Literal

import msgspec

from alerts.rules.burn_windows import BURN_WINDOWS, ESCALATION_WINDOW, BurnWindow
from lineage import states
from lineage.policy.model import Policy
from lineage.states import ALL_TIERS, SLIS, Sli

Area = Literal["datasets", "service", "access"]


class AlertSubject(msgspec.Struct, frozen=True):
    """Words of alerts on an SLI.

    Attributes:
        stem: of the alert's name.
        unit: of its counters.
        area: datasets, or Lineward itself.
        escalates: its burn is sent to the engineering owner.
        advice: sentence with the first command for a person.
        breach: what happened, where the objective allows nothing bad; empty: bad units.
    """

    stem: str
    unit: str
    area: Area = "datasets"
    escalates: bool = False
    advice: str = "`lineward datasets --state bad` lists the bad datasets with their reasons."
    breach: str = ""

    @property
    def is_time(self) -> bool:
        """Return whether it counts seconds and not events."""
        return self.unit.endswith("-seconds")


SUBJECTS: Final = {  # by the SLI's id
    states.COVERAGE.id: AlertSubject("LineageCoverage", "dataset-seconds", escalates=True),
    states.FRESHNESS.id: AlertSubject("DatasetFreshness", "dataset-seconds"),
    states.NODE_COMPLETENESS.id: AlertSubject("NodeCompleteness", "field-seconds", escalates=True),
    states.EDGE_COMPLETENESS.id: AlertSubject("EdgeCompleteness", "edge-seconds", escalates=True),
    states.ACCURACY.id: AlertSubject("LineageAccuracy", "checked edges"),
    states.MISSING_PROVENANCE.id: AlertSubject("LineageProvenance", "reads"),
    states.INGESTION_LAG.id: AlertSubject(
        "IngestionLag",
        "events",
        "service",
        advice="`lineward status` shows the backlog of the pipeline.",
    ),
    states.QUERY_LATENCY.id: AlertSubject(
        "QueryLatency",
        "lineage queries",
        "service",
        advice="`lineward status` shows whether the service or the catalog fails.",
    ),
    states.IMPACT_ANALYSIS.id: AlertSubject(
        "ImpactAnalysis",
        "pages",
        "service",
        advice="`lineward incidents` shows when each incident opened.",
    ),
    states.ERROR_RATE.id: AlertSubject(
        "LineageErrorRate",
        "events",
        "service",
        advice="`lineward rejected` and `lineward pipeline-errors` list the failed events.",
    ),
    states.UNAUTHORIZED_ACCESS.id: AlertSubject(
        "UnauthorizedAccess",
        "accesses",
        "access",
        advice=(
            "Inform security now. `lineward runbook UnauthorizedAccess` prints how to find the"
            " accesses."
        ),
        breach="The API allowed accesses against the policy, or did not audit them",
    ),
}


class Budget(msgspec.Struct, frozen=True):
    """Error budget of one SLI in one tier.

    Attributes:
        objective: ratio above 0 and up to 1, as the policy has it.
    """

    sli: Sli
    tier: str
    objective: Decimal

    @property
    def subject(self) -> AlertSubject:
        """Return the words of alerts on its SLI."""
        return SUBJECTS[self.sli.id]

    @property
    def allowed(self) -> Decimal:
        """Return the ratio that may be bad; 0 means that there is no budget."""
        return 1 - self.objective

    @property
    def name(self) -> str:
        """Return a name: `coverage (critical)`, or `error_rate` where tiers do not matter."""
        return self.sli.name if self.tier == ALL_TIERS else f"{self.sli.name} ({self.tier})"

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels of its series."""
        return {"sli": self.sli.name, "tier": self.tier}

    @property
    def about(self) -> dict[str, str]:
        """Return the labels of its alerts; the area decides what mutes them."""
        return {**self.labels, "area": self.subject.area}

    @property
    def is_explained(self) -> bool:
        """Return whether bad time in an incident is left out, because the incident notifies."""
        return self.sli in states.EXPLAINED_SLIS

    @property
    def breach(self) -> str:
        """Return what happened, where the objective allows nothing bad: a text for a number."""
        units = f"Bad {self.subject.unit} of {self.name} (the objective allows none)"
        return self.subject.breach or units

    def unreachable(self) -> list[BurnWindow]:
        """Return the windows whose alerts cannot fire, even if everything is bad."""
        windows = [*BURN_WINDOWS, ESCALATION_WINDOW] if self.subject.escalates else BURN_WINDOWS
        return [window for window in windows if not window.can_fire(self.allowed)]


def load_budgets(policy: Policy) -> list[Budget]:
    """Return the budget of every SLI and tier that has an objective."""
    budgets = ((sli, tier, policy.objective(sli, tier)) for sli in SLIS for tier in sli.tiers)
    return [Budget(sli, tier, ratio) for sli, tier, ratio in budgets if ratio is not None]


def format_ratio(ratio: Decimal) -> str:
    """Return a ratio as a person writes it: `0.01`, not `0.010` or `1E-2`."""
    return format(ratio.normalize(), "f")


def format_percent(ratio: Decimal) -> str:
    """Return a ratio as `1%`, as Prometheus writes other figures."""
    return f"{format_ratio(ratio * 100)}%"


def explain_unrendered(budgets: list[Budget]) -> Iterator[str]:
    """Return a sentence for each budget with an alert that could never fire."""
    for budget in budgets:
        if never := budget.unreachable():
            windows = ", ".join(
                f"{one.severity} {format_ratio(one.factor)}x over {one.long}" for one in never
            )
            yield (
                f"{budget.name}: not rendered: {windows}. The objective {budget.objective} allows"
                f" {format_percent(budget.allowed)} to be bad: these alerts could never fire."
                " ErrorBudgetExhausted fires when the budget is used up"
            )

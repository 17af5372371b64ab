"""The error budgets that a policy asks for, and what people call them."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final, Literal

import msgspec

from alerts.rules.burn_windows import BURN_WINDOWS, ESCALATION_WINDOW, BurnWindow
from lineage import states
from lineage.policy.model import Policy
from lineage.states import ALL_TIERS, SLIS, Sli

Area = Literal["datasets", "service", "access"]


class Subject(msgspec.Struct, frozen=True):
    """What alerts say of an SLI.

    Attributes:
        stem: of the alert's name.
        unit: that its counters count.
        area: whether it tells of datasets, or of Lineward itself.
        escalates: its burn goes to the engineering owner.
    """

    stem: str
    unit: str
    area: Area = "datasets"
    escalates: bool = False

    @property
    def is_time(self) -> bool:
        """Whether it counts seconds and not events."""
        return self.unit.endswith("-seconds")


SUBJECTS: Final = {  # by the SLI's id
    states.COVERAGE.id: Subject("LineageCoverage", "dataset-seconds", escalates=True),
    states.FRESHNESS.id: Subject("DatasetFreshness", "dataset-seconds"),
    states.NODE_COMPLETENESS.id: Subject("NodeCompleteness", "field-seconds", escalates=True),
    states.EDGE_COMPLETENESS.id: Subject("EdgeCompleteness", "edge-seconds", escalates=True),
    states.ACCURACY.id: Subject("LineageAccuracy", "checked edges"),
    states.MISSING_PROVENANCE.id: Subject("LineageProvenance", "reads"),
    states.INGESTION_LAG.id: Subject("IngestionLag", "events", "service"),
    states.QUERY_LATENCY.id: Subject("QueryLatency", "lineage queries", "service"),
    states.IMPACT_ANALYSIS.id: Subject("ImpactAnalysis", "pages", "service"),
    states.ERROR_RATE.id: Subject("LineageErrorRate", "events", "service"),
    states.UNAUTHORIZED_ACCESS.id: Subject("UnauthorizedAccess", "accesses", "access"),
}


class Budget(msgspec.Struct, frozen=True):
    """What may be bad of one SLI in one tier.

    Attributes:
        objective: ratio above 0 and up to 1, as the policy has it.
    """

    sli: Sli
    tier: str
    objective: Decimal

    @property
    def subject(self) -> Subject:
        """What alerts say of its SLI."""
        return SUBJECTS[self.sli.id]

    @property
    def allowed(self) -> Decimal:
        """Ratio that may be bad; 0 leaves no budget to burn."""
        return 1 - self.objective

    @property
    def name(self) -> str:
        """For people: `coverage (critical)`, or `error_rate` where tiers make no difference."""
        return self.sli.name if self.tier == ALL_TIERS else f"{self.sli.name} ({self.tier})"

    @property
    def labels(self) -> dict[str, str]:
        """Of its series."""
        return {"sli": self.sli.name, "tier": self.tier}

    @property
    def about(self) -> dict[str, str]:
        """Labels of its alerts: muting goes by the area."""
        return {**self.labels, "area": self.subject.area}

    def unreachable(self) -> list[BurnWindow]:
        """The windows of which even an outage of everything burns too little."""
        windows = [*BURN_WINDOWS, ESCALATION_WINDOW] if self.subject.escalates else BURN_WINDOWS
        return [window for window in windows if not window.can_fire(self.allowed)]


def load_budgets(policy: Policy) -> list[Budget]:
    """The budget of every SLI and tier for which somebody asks for an objective."""
    asked = ((sli, tier, policy.objective(sli, tier)) for sli in SLIS for tier in sli.tiers)
    return [Budget(sli, tier, ratio) for sli, tier, ratio in asked if ratio is not None]


def format_ratio(ratio: Decimal) -> str:
    """As a person writes it: `0.01`, not `0.010` or `1E-2`."""
    return format(ratio.normalize(), "f")


def format_percent(ratio: Decimal) -> str:
    """`1%`, as Prometheus writes the figures beside it."""
    return f"{format_ratio(ratio * 100)}%"


def explain_unrendered(asked: list[Budget]) -> Iterator[str]:
    """A sentence for each budget of which some rule could never fire."""
    for budget in asked:
        if never := budget.unreachable():
            told = ", ".join(
                f"{one.severity} {format_ratio(one.factor)}x over {one.long}" for one in never
            )
            yield (
                f"{budget.name}: not rendered: {told}: its objective {budget.objective} lets"
                f" {format_percent(budget.allowed)} be bad, and that times the factor is 1 or more."
                " ErrorBudgetExhausted tells when the budget is gone"
            )

"""Words for states of runs and datasets, the SLIs, and their default objectives."""

from decimal import Decimal
from typing import Final, Literal, get_args

import msgspec

_RunState = Literal["COMPLETE", "FAIL", "RUNNING", "OTHER", "LOST"]
COMPLETE: Final = "COMPLETE"
FAIL: Final = "FAIL"
RUNNING: Final = "RUNNING"
OTHER: Final = "OTHER"
LOST: Final = "LOST"
LOST_AFTER_DURATIONS: Final = 3  # a run that has not ended after so many usual ones is lost

DatasetState = Literal["good", "learning", "unknown", "bad"]
GOOD: Final = "good"
LEARNING: Final = "learning"
UNKNOWN: Final = "unknown"
BAD: Final = "bad"
DATASET_STATES: tuple[DatasetState, ...] = get_args(
    DatasetState
)  # from the least to the most grave
# Shown instead of good or learning while the last run failed. No SLI counts it.
FAILING: Final = "failing"

Tier = Literal["critical", "important", "optional"]
CRITICAL: Final = "critical"
IMPORTANT: Final = "important"
OPTIONAL: Final = "optional"
TIERS: tuple[Tier, ...] = get_args(Tier)  # from the highest
TIER_RANKS: dict[str, int] = {tier: rank for rank, tier in enumerate(TIERS)}

# `default`: nobody declared a tier and nothing that is made of the dataset has one.
# `tag`: a tags facet lowers the inherited one.
TierOrigin = Literal["declared", "inherited", "tag", "default"]

# Why a dataset is bad or unknown. The order decides only between reasons of `facts`;
# `slis.evaluation.reasons` has the order of the others.
Reason = Literal[
    "pipeline_lag",
    "ingestion_gap",
    "limit_failed",
    "naming_mismatch",
    "job_failed",
    "lost_run",
    "upstream_late",
    "lineage_missing",
    "job_missing",
    "silent",
    "never_reported",
    "no_inputs",
    "edge_missing",
    "edge_stale",
    "edge_wrong",
    "unexpected_source",
    "schema_mismatch",
    "assertion_failed",
    "metadata_missing",
    "foreign_claim",
    "late",
]
REASONS: tuple[Reason, ...] = get_args(Reason)

# Beside the SLIs, in no ratio: results of tests of a dataset, and its schema.
FACTS: Final = "facts"
ALL_TIERS: Final = "all"  # of an SLI that counts events, to which tiers make no difference
REGULATED: Final = "regulated"  # held to more than its tier is, by completeness alone


class Sli(msgspec.Struct, frozen=True):
    """Definition of an SLI.

    Attributes:
        id: as in `docs/slis.md` and in the catalog.
        name: as in metrics, the policy and what people read.
        objectives: ratio 0-1 by tier; under `all` where tiers make no difference.
    """

    id: str
    name: str
    objectives: dict[str, Decimal]

    def objective(self, tier: str) -> Decimal | None:
        """Return the ratio to reach, or None where this tier has no objective."""
        return self.objectives.get(tier, self.objectives.get(ALL_TIERS))

    @property
    def tiers(self) -> tuple[str, ...]:
        """Return the tiers by which it is counted."""
        if ALL_TIERS in self.objectives:
            return (ALL_TIERS,)
        return (REGULATED, *TIERS) if REGULATED in self.objectives else TIERS


def _by_tier(critical: str, important: str, optional: str) -> dict[str, Decimal]:
    ratios = Decimal(critical), Decimal(important), Decimal(optional)
    return dict(zip(TIERS, ratios, strict=True))


COVERAGE = Sli("M1", "coverage", _by_tier("0.99", "0.80", "0.50"))
FRESHNESS = Sli("M2", "freshness", _by_tier("0.99", "0.95", "0.90"))
NODE_COMPLETENESS = Sli("M3a", "node_completeness", {REGULATED: Decimal("0.95")})
EDGE_COMPLETENESS = Sli("M3b", "edge_completeness", {REGULATED: Decimal("0.95")})
ACCURACY = Sli("M4", "accuracy", {CRITICAL: Decimal("0.98")})
MISSING_PROVENANCE = Sli("M5", "missing_provenance", {CRITICAL: Decimal("0.99")})
INGESTION_LAG = Sli("M6", "ingestion_lag", {ALL_TIERS: Decimal("0.99")})
QUERY_LATENCY = Sli("M7", "query_latency", {ALL_TIERS: Decimal("0.95")})
IMPACT_ANALYSIS = Sli("M8", "impact_analysis", {ALL_TIERS: Decimal("0.99")})
ERROR_RATE = Sli("M9", "error_rate", {ALL_TIERS: Decimal("0.999")})
UNAUTHORIZED_ACCESS = Sli("M10", "unauthorized_access", {ALL_TIERS: Decimal(1)})
SLIS = (
    *(COVERAGE, FRESHNESS, NODE_COMPLETENESS, EDGE_COMPLETENESS, ACCURACY, MISSING_PROVENANCE),
    *(INGESTION_LAG, QUERY_LATENCY, IMPACT_ANALYSIS, ERROR_RATE, UNAUTHORIZED_ACCESS),
)
# Bad time in an open incident is counted apart: the incident has its own notification.
EXPLAINED_SLIS: Final = (COVERAGE, FRESHNESS, NODE_COMPLETENESS)
# Severities of incidents and of alerts.
PAGE: Final = "page"
TICKET: Final = "ticket"
# Directions of `run_io`.
READ: Final = "read"
WRITE: Final = "write"
# Oracles of `edge_check` that are independent of a run's own facets.
EVENT_LOG: Final = "event_log"
SQL_TEXT: Final = "sql"
# Error of a run without an end whose root run has ended.
NEVER_ENDED: Final = "it has no end, though its root run ended"
FAILED_RUN = "run "  # how evidence of a failed run begins; see `reports_failed_run`
SUBMITTED: Final = " was submitted "  # in evidence of a SparkApplication; see `repeats_message`
SLI_BY_ID = {sli.id: sli for sli in SLIS}
SLI_BY_NAME = {sli.name: sli for sli in SLIS}


def reports_failed_run(evidence: str) -> bool:
    """Return whether the evidence of a state is a failed run and its error."""
    return evidence.startswith(FAILED_RUN)


def repeats_message(evidence: str) -> bool:
    """Return whether evidence repeats a message of a run or Kubernetes: it may name anything."""
    return reports_failed_run(evidence) or SUBMITTED in evidence


def run_state(
    *, started_at: int | None, completed_at: int | None, failed_at: int | None
) -> _RunState:
    """Return the state of a run by its events; a FAIL outlives the COMPLETE that follows it.

    Whether a run that never ended is lost depends on its usual duration: an evaluation decides it.
    """
    if failed_at is not None:
        return FAIL
    if completed_at is not None:
        return COMPLETE
    return OTHER if started_at is None else RUNNING

"""Objectives and requirements of a policy: ratios to reach, and mandatory facts of a dataset."""

from decimal import Decimal
from typing import Literal

import msgspec

from lineage.states import Tier

DatasetField = Literal["owner", "schema", "version", "checksum"]
RunField = Literal[
    "job_id", "job_version", "code_version", "engine_version", "parameters", "nominal_time"
]
RequiredFields = tuple[DatasetField | RunField, ...]


class TierObjectives(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ratios to reach, above 0 and up to 1.

    `all` for an SLI that tiers make no difference to.
    """

    critical: Decimal | None = None
    important: Decimal | None = None
    optional: Decimal | None = None
    regulated: Decimal | None = None
    all: Decimal | None = None


class Objectives(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Objectives that differ from the usual ones, by SLI."""

    coverage: TierObjectives = TierObjectives()
    freshness: TierObjectives = TierObjectives()
    node_completeness: TierObjectives = TierObjectives()
    edge_completeness: TierObjectives = TierObjectives()
    accuracy: TierObjectives = TierObjectives()
    missing_provenance: TierObjectives = TierObjectives()
    ingestion_lag: TierObjectives = TierObjectives()
    query_latency: TierObjectives = TierObjectives()
    impact_analysis: TierObjectives = TierObjectives()
    error_rate: TierObjectives = TierObjectives()
    unauthorized_access: TierObjectives = TierObjectives()


class Requirements(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Mandatory facts of a dataset and of the run that wrote it last, by tier.

    A regulated dataset needs what its tier needs as well.
    """

    regulated: RequiredFields = ("owner", "schema", "code_version")
    critical: RequiredFields = ()
    important: RequiredFields = ()
    optional: RequiredFields = ()

    def of_tier(self, tier: Tier) -> RequiredFields:
        """Return the fields that this tier needs, regulated or not."""
        return getattr(self, tier)  # type: ignore[no-any-return]

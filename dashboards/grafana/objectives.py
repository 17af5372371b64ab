"""Objectives of the policy as thresholds of panels."""

from collections.abc import Callable
from decimal import Decimal
from typing import Final

from lineage.policy.model import Policy
from lineage.states import SLI_BY_NAME

Objectives = Callable[[str, str], Decimal]  # by the SLI's name and tier
_ALL: Final = Decimal(1)


def objectives(policy: Policy) -> Objectives:
    """Return the objective of an SLI and tier, or 1 without one, so that any loss is shown."""

    def _of(sli: str, tier: str) -> Decimal:
        found = policy.objective(SLI_BY_NAME[sli], tier)
        return _ALL if found is None else found

    return _of

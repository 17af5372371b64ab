"""The objective of each SLI and tier, as the policy in force declares it."""

from typing import TYPE_CHECKING

from lineage.states import SLIS
from service.queries.slis import Objectives
from service.runtime.settings import Settings

if TYPE_CHECKING:
    from lineage.policy import Policy


def objectives(settings: Settings) -> Objectives:
    """Return the objectives for a command, which asks once and reads the file by itself.

    Raises:
        RejectedInputError: the policy file is wrong.
    """
    if settings.policy is None:
        return objectives_of(None)
    from service.runtime.policies import policy_for  # noqa: PLC0415 - YAML only where a policy is

    return objectives_of(policy_for(settings))


def objectives_of(policy: "Policy | None") -> Objectives:
    """Return the ratio 0-1 by SLI and tier; what nobody asks for is left out."""
    asked = [(sli, tier) for sli in SLIS for tier in sli.tiers]
    found = {
        (sli.id, tier): sli.objective(tier) if policy is None else policy.objective(sli, tier)
        for sli, tier in asked
    }
    return {id_: float(ratio) for id_, ratio in found.items() if ratio is not None}

"""The objective of each SLI and tier, as the policy in force declares it."""

from collections.abc import Callable
from decimal import Decimal

from lineage.states import SLIS, Sli
from service.answers.slis import Objectives
from service.settings import Settings

_Objective = Callable[[Sli, str], Decimal | None]


def objectives(settings: Settings) -> Objectives:
    """Ratio 0-1 by SLI and tier; what nobody asks for is left out.

    Raises:
        RefusedInputError: the policy file is wrong.
    """
    objective = _objective(settings)
    asked = [(sli, tier) for sli in SLIS for tier in sli.tiers]
    found = {(sli.id, tier): objective(sli, tier) for sli, tier in asked}
    return {id_: float(ratio) for id_, ratio in found.items() if ratio is not None}


def _objective(settings: Settings) -> _Objective:
    if settings.policy is None:
        return Sli.objective
    from service.policies import policy_of  # noqa: PLC0415 - YAML only where a policy is

    return policy_of(settings.policy).objective

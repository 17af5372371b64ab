"""Service policy of a game day on the real clock, the same for every day."""

from lab.gameday.live.estate import NAMESPACE, PACE, TEAMS, WritePace
from lineage.policy.model import DatasetRule, JobRule, Owner, Policy
from lineage.states import TIERS


def fragment(pace: WritePace = PACE) -> Policy:
    """Owners with channels of Slack alone; folders, tiers and a limit by patterns.

    None names a dataset outright: that would be missed on every other day.
    """
    return Policy(
        owners=tuple(Owner(team, f"#{team}") for team in TEAMS),
        datasets=(
            DatasetRule(f"{NAMESPACE}/*", limit=f"{pace.limit_seconds}s"),
            *(DatasetRule(f"{NAMESPACE}/*/{team}/*", owner=team) for team in TEAMS),
            *(DatasetRule(f"{NAMESPACE}/*/{tier}/*", tier=tier) for tier in TIERS),
        ),
        jobs=tuple(JobRule(f"{team}/*", team) for team in TEAMS),
        sources=(f"{NAMESPACE}/*/landing/*",),
    )

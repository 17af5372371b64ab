"""Estate of a game day on the real clock: chains that are independent of each other.

A chain is source, raw, core and one mart or two; each job begins when its input is new. It has a
namespace of its own, and each day names of its own, so that nothing of another day is remembered.
"""

import random
import string
from datetime import UTC, datetime
from typing import Final

import msgspec

from lab.gameday.model import Estate, Region, SimulatedDataset, SimulatedJob, Team
from lab.gameday.traits import two_word_names
from lineage.policy.model import DatasetRule, JobRule, Owner, Policy
from lineage.process.clock import SECOND_MICROS
from lineage.states import OPTIONAL, TIERS, Tier

NAMESPACE: Final = "s3://lineward-gameday"
LIVE_TEAMS: Final = ("gameday-orders", "gameday-payments", "gameday-search")
_FOLDERS: Final = ("landing", "raw", "core", "mart")
_VERBS: Final = ("land", "load", "clean", "build")
_USUAL_SECONDS: Final = 4.0
_NOWHERE: Final = Region("utc", "UTC", ())
_LISTENER_SECONDS: Final = 9  # a listener reports that late


class WritePace(msgspec.Struct, frozen=True):
    """Interval of each source's writes. A busy machine needs a slower pace."""

    period_seconds: int = 12

    @property
    def limit_seconds(self) -> int:
        """Return the declared limit of each dataset: three slots, and the listener's delay."""
        return 3 * self.period_seconds + _LISTENER_SECONDS


PACE: Final = WritePace()


def chains(seed: int, count: int, begins_at: int, pace: WritePace = PACE) -> Estate:
    """Build that many chains, of tiers and owners in turn.

    Args:
        seed: of all that is drawn by lot.
        count: of chains.
        begins_at: of the day, µs UTC: no two days have a name in common.
        pace: of the sources.
    """
    built = _Builder(seed, day_name(begins_at), pace)
    for number in range(count):
        built.add_chain(number)
    first_day = datetime.fromtimestamp(begins_at // SECOND_MICROS, UTC).date()
    teams = tuple(Team(name, _NOWHERE) for name in LIVE_TEAMS)
    return Estate(seed, first_day, 1, teams, tuple(built.datasets), tuple(built.jobs))


def day_name(begins_at: int) -> str:
    """Return a day's name, of letters: digits would be folded as dates are."""
    letters, rest = "", begins_at // SECOND_MICROS
    while rest:
        rest, place = divmod(rest, len(string.ascii_lowercase))
        letters = string.ascii_lowercase[place] + letters
    return letters


class _Builder:
    def __init__(self, seed: int, day: str, pace: WritePace) -> None:
        self._day, self._pace = day, pace
        self._names = two_word_names(random.Random(f"{seed} {day}"))  # noqa: S311 - made up, no secret
        self.datasets: list[SimulatedDataset] = []
        self.jobs: list[SimulatedJob] = []

    def add_chain(self, number: int) -> None:
        team, reader = number % len(LIVE_TEAMS), (number + 1) % len(LIVE_TEAMS)
        above: tuple[int, ...] = ()
        for layer in range(3):
            above = self._add(number, layer, team, above)
        self._add(number, 3, reader, above, TIERS[number % len(TIERS)])
        if number % 2:
            self._add(number, 3, team, above, OPTIONAL)

    def _add(
        self, chain: int, layer: int, team: int, above: tuple[int, ...], tier: Tier | None = None
    ) -> tuple[int, ...]:
        """Add a job and its output; return the outputs."""
        number, word = len(self.datasets), next(self._names)
        folder = f"{self._day}/{_FOLDERS[layer]}/{LIVE_TEAMS[team]}"
        path = f"{folder}/{tier}/{word}" if tier else f"{folder}/{word}"
        self.datasets.append(
            SimulatedDataset(number, NAMESPACE, path, layer, team, "quarter", tier)
        )
        self.jobs.append(
            SimulatedJob(
                number=len(self.jobs),
                name=f"{_VERBS[layer]}_{word}",
                team=team,
                inputs=above,
                outputs=(number,),
                cadence="quarter",
                at_seconds=chain % self._pace.period_seconds,
                waits=bool(above),
                reporting="listener",
                usual_seconds=_USUAL_SECONDS,
                spread=0.1,
            )
        )
        return (number,)


def policy_fragment(pace: WritePace = PACE) -> Policy:
    """Return the policy: owners with Slack alone; folders, tiers and a limit by patterns.

    None names a dataset outright: that would be missed on every other day.
    """
    return Policy(
        owners=tuple(Owner(team, f"#{team}") for team in LIVE_TEAMS),
        datasets=(
            DatasetRule(f"{NAMESPACE}/*", limit=f"{pace.limit_seconds}s"),
            *(DatasetRule(f"{NAMESPACE}/*/{team}/*", owner=team) for team in LIVE_TEAMS),
            *(DatasetRule(f"{NAMESPACE}/*/{tier}/*", tier=tier) for tier in TIERS),
        ),
        jobs=tuple(JobRule(f"{team}/*", team) for team in LIVE_TEAMS),
        sources=(f"{NAMESPACE}/*/landing/*",),
    )

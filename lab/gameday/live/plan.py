"""Plan of a game day on the real clock: which fault, to which chain, and when."""

import random
from collections.abc import Sequence
from typing import Final

import msgspec

from lab.gameday.live.estate import PACE, WritePace
from lab.gameday.model import Estate, SimulatedJob
from lab.gameday.truth_shapes import INJECTED_KINDS, InjectedKind

PLAYED_KINDS: Final[tuple[InjectedKind, ...]] = (
    "killed_job",
    "silent_listener",
    "late_source",
    "schema_drift",
)
QUIET_KINDS: Final[tuple[InjectedKind, ...]] = ("retried_run", "retired_job")
_QUICK_SECONDS: Final = 30  # a run that is good again later than that is a ticket before
NOT_PLAYED: Final[dict[InjectedKind, str]] = {
    "renamed_dataset": "its first name would stay behind, and not be dropped at the end",
    "spark_upgrade": "it shows in many jobs of one pool, and each chain stands by itself",
    "collector_outage": "everybody's lineage would stop, not the game day's alone",
    "clock_skew": "hours are beyond limits of seconds: it would be a silent listener",
    "flapping_job": "it is known by what comes back for an hour",
    "provenance_leak": "an input is missed after a week at the earliest",
    "backfill": "where jobs run every few seconds no run is for a time long gone",
    "holiday": "it takes a day",
    "rerun_by_hand": "a run every few seconds is what a rerun is there",
    "planned_deployment": "its window would be the policy's, or of `lineward suppress`",
}
_GAP_SECONDS: Final = (2.0, 12.0)  # from one fault's beginning to the next: all phases of a clock
_QUIET_SHARE: Final = 5
# The layer of a chain in which it is done.
_LAYERS: Final[dict[InjectedKind, tuple[int, ...]]] = {
    "killed_job": (1, 2),
    "silent_listener": (1, 2),
    "late_source": (0,),
    "schema_drift": (1,),
    "retried_run": (1, 2),
    "retired_job": (3,),
}


class PlannedFault(msgspec.Struct, frozen=True):
    """Fault: its kind, its chain, its seconds after the first one, and its variant."""

    kind: InjectedKind
    job: int
    after_seconds: float
    variant: str = ""


def kinds_of(names: Sequence[str]) -> tuple[InjectedKind, ...]:
    """Return the faults of these names, or all possible ones without names.

    Raises:
        ValueError: there is none of a name, or it cannot be played on the real clock.
    """
    known = (*INJECTED_KINDS, *QUIET_KINDS)
    for name in names:
        if name not in known:
            raise ValueError(f"--kind {name}: there are {', '.join(PLAYED_KINDS)}")
        if name in QUIET_KINDS:
            raise ValueError(f"--kind {name}: it is played beside the others, always")
        if name in NOT_PLAYED:
            raise ValueError(f"--kind {name}: not on the real clock: {NOT_PLAYED[name]}")
    return tuple(each for each in PLAYED_KINDS if not names or each in names)


def chains_for(faults: int) -> int:
    """Return how many chains a plan needs: for each fault and silent kind, and one without."""
    return faults + _quiet(faults) + 1


def plan_live_faults(
    estate: Estate, faults: int, kinds: Sequence[InjectedKind], pace: WritePace = PACE
) -> list[PlannedFault]:
    """Plan that many faults of these kinds, each in its own chain, and the silent kinds.

    What is silent stands between the others. At a slow pace no retried run is: its next run is due
    after the ticket.
    """
    chance = random.Random(f"{estate.seed} faults")  # noqa: S311 - made up, no secret
    wanted = [kinds[at % len(kinds)] for at in range(faults)]
    silent = QUIET_KINDS if pace.period_seconds < _QUICK_SECONDS else QUIET_KINDS[1:]
    quiet = [silent[at % len(silent)] for at in range(_quiet(faults))]
    for each in quiet:
        wanted.insert(chance.randint(0, len(wanted)), each)
    found, after = [], 0.0
    for kind, chain in zip(wanted, _chains(estate), strict=False):
        fitting = [job for job in chain if estate.datasets[job.number].layer in _LAYERS[kind]]
        variant = chance.choice(("fail", "lost")) if kind == "killed_job" else ""
        found.append(PlannedFault(kind, chance.choice(fitting).number, after, variant))
        after += chance.uniform(*_GAP_SECONDS)
    return found


def _quiet(faults: int) -> int:
    return max(len(QUIET_KINDS), faults // _QUIET_SHARE)


def _chains(estate: Estate) -> list[list[SimulatedJob]]:
    """Return the jobs of each chain; a source begins one."""
    found: list[list[SimulatedJob]] = []
    for job in estate.jobs:
        if not job.inputs:
            found.append([])
        found[-1].append(job)
    return found

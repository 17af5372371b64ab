"""What failing runs have in common that the others have not: then they are one fault."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Final

import msgspec

from alerts.diagnosis.fisher import by_chance

FEWEST: Final = 2  # that fail: whether so few may be chance is for the counts to say
# Of naming any by chance, so each thing that is compared has its share of it. Few are: only what
# changed for two failing jobs or more since they were well.
UNLIKELY: Final = 1e-2

Attributes = Mapping[str, str]  # what a run says of itself, such as `Spark` → `4.3.1`


class Failing(msgspec.Struct, frozen=True):
    """A job whose newest run failed.

    Attributes:
        now: what that run says of itself.
        before: what its last good run said; none: there is none.
    """

    job_key: int
    now: Attributes
    before: Attributes | None


class Common(msgspec.Struct, frozen=True):
    """What failing runs share, with counts on both sides.

    Attributes:
        job_keys: those that fail with it.
        failing: all jobs that fail, but those of a cause that is less likely to be chance.
        good_with: jobs that are well with it, of `good`.
        chance: that it goes with failing by chance, 0-1.
    """

    what: str
    value: str
    before: str | None
    job_keys: frozenset[int]
    failing: int
    good_with: int
    good: int
    chance: float

    @property
    def name(self) -> str:
        """Of the cause: the same for as long as it stands, whoever joins."""
        return f"{self.what} {self.value}"

    @property
    def words(self) -> str:
        """The counts, for people."""
        was = f" (was {self.before})" if self.before else ""
        return (
            f"{self.name}{was}: {len(self.job_keys)} of {self.failing} jobs that fail have it, and"
            f" {self.good_with} of {self.good} that do not"
        )


def common_causes(failing: Collection[Failing], good: Iterable[Attributes]) -> tuple[Common, ...]:
    """What changed for jobs when they began to fail, and is rarer among those that do not.

    Two upgrades in one night are two causes: whose jobs have one of them says nothing of the next.

    Args:
        failing: each job once.
        good: what the newest runs of all other jobs say.

    Returns:
        The least likely to be chance first, of those that are unlikely to; each job in one.
    """
    others = list(good)
    with_it = Counter(pair for each in others for pair in each.items())
    found: list[Common] = []
    left = [*failing]
    while (cause := _common_cause(left, with_it, len(others))) is not None:
        found.append(cause)
        left = [each for each in left if each.job_key not in cause.job_keys]
    return tuple(found)


def _common_cause(
    failing: Collection[Failing], with_it: Counter[tuple[str, str]], good: int
) -> Common | None:
    """The least likely to be chance; none: nothing is unlikely enough."""
    found = [
        _common(pair, jobs, len(failing), with_it[pair], good)
        for pair, jobs in _fresh(failing).items()
        if len(jobs) >= FEWEST
    ]
    unlikely = [each for each in found if each.chance < UNLIKELY / len(found)]
    return min(unlikely, key=lambda each: (each.chance, each.name), default=None)


def _fresh(failing: Iterable[Failing]) -> dict[tuple[str, str], list[Failing]]:
    """What each job that fails says now and did not say when it was well."""
    found: dict[tuple[str, str], list[Failing]] = {}
    for each in failing:
        for what, value in each.now.items():
            if each.before is not None and each.before.get(what) != value:
                found.setdefault((what, value), []).append(each)
    return found


def _common(
    pair: tuple[str, str], jobs: list[Failing], failing: int, good_with: int, good: int
) -> Common:
    before = {each.before.get(pair[0]) for each in jobs if each.before is not None}
    return Common(
        *pair,
        before=before.pop() if len(before) == 1 else None,
        job_keys=frozenset(each.job_key for each in jobs),
        failing=failing,
        good_with=good_with,
        good=good,
        chance=by_chance(len(jobs), failing, good_with, good),
    )

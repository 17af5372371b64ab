"""Attributes that failing jobs share and good jobs lack: the failures are then one fault."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Final

import msgspec

MIN_FAILING: Final = 2  # that fail: whether so few may be chance is for the counts to say
# Of naming any by chance, so each thing that is compared has its share of it. Few are: only what
# changed for two failing jobs or more since they were well.
MAX_CHANCE: Final = 1e-2
# A version that others come to is named sooner: who would be paged first has not changed anything.
MAX_CHANCE_ROLLOUT: Final = 2.5e-2

Attributes = Mapping[str, str]  # of a run, such as `Spark` → `4.3.1`
Attribute = tuple[str, str]  # one of them


class FailingJob(msgspec.Struct, frozen=True):
    """Job whose newest run failed.

    Attributes:
        now: attributes of that run.
        before: attributes of its last good run; None: there is none.
        versions: names of attributes that are versions, as that of Spark.
    """

    job_key: int
    now: Attributes
    before: Attributes | None
    versions: frozenset[str] = frozenset()


class CommonCause(msgspec.Struct, frozen=True):
    """Attribute that failing jobs share, with counts of failing and good jobs.

    Attributes:
        job_keys: those that fail with it.
        failing: all jobs that fail, but those of a cause that is less likely to be chance.
        good_with: good jobs that have it, of `good`.
        chance: that it goes with failing by chance, 0-1.
        is_rollout: other teams adopt it too: no single team owns it.
    """

    attribute: str
    value: str
    before: str | None
    job_keys: frozenset[int]
    failing: int
    good_with: int
    good: int
    chance: float
    is_rollout: bool = False

    @property
    def name(self) -> str:
        """Return the name of the cause."""
        return cause_name((self.attribute, self.value))

    @property
    def description(self) -> str:
        """Return the cause with its counts, for people."""
        was = f" (was {self.before})" if self.before else ""
        return (
            f"{self.name}{was}: {len(self.job_keys)} of {self.failing} failing jobs have it, and"
            f" {self.good_with} of {self.good} good jobs"
        )


def find_common_causes(
    failing: Collection[FailingJob],
    good: Iterable[Attributes],
    rollouts: Collection[Attribute] = frozenset(),
    notified: Collection[str] = frozenset(),
) -> tuple[CommonCause, ...]:
    """Return attributes that changed when jobs began to fail, and are rarer among good jobs.

    Two upgrades in one night are two causes: each is tested without the jobs of the other.

    Args:
        failing: each job once.
        good: attributes of the newest runs of all other jobs.
        rollouts: versions that other teams adopt too (`cause_merging.find_rollouts`): one
            failing job is enough for these.
        notified: names of causes that people were notified of. Such a cause is kept while a job
            fails with it, though other jobs are good with it: the incident keeps its owner.

    Returns:
        Causes notified before first, then the least likely to be chance; each job in one.
    """
    others = list(good)
    with_it = Counter(pair for each in others for pair in each.items())
    found: list[CommonCause] = []
    left = [*failing]
    while candidates := _candidates(left, with_it, len(others), rollouts, notified):
        cause = min(
            candidates, key=lambda each: (each.name not in notified, each.chance, each.name)
        )
        found.append(cause)
        left = [each for each in left if each.job_key not in cause.job_keys]
    return tuple(found)


def _candidates(
    failing: Collection[FailingJob],
    with_it: Counter[Attribute],
    good: int,
    rollouts: Collection[Attribute],
    notified: Collection[str],
) -> list[CommonCause]:
    """Return the attributes that are unlikely to be chance, or were notified before."""
    found = [
        _build_cause(pair, jobs, (len(failing), with_it[pair], good), is_rollout=pair in rollouts)
        for pair, jobs in new_attributes(failing).items()
        if len(jobs) >= MIN_FAILING or pair in rollouts or cause_name(pair) in notified
    ]
    return [each for each in found if _is_unlikely(each, len(found)) or each.name in notified]


def _is_unlikely(each: CommonCause, candidates: int) -> bool:
    """Return whether it is unlikely to go with failing by chance."""
    return each.chance < (MAX_CHANCE_ROLLOUT if each.is_rollout else MAX_CHANCE / candidates)


def cause_name(pair: Attribute) -> str:
    """Return the name of a cause, which stays the same whichever jobs join."""
    return " ".join(pair)


def new_attributes(failing: Iterable[FailingJob]) -> dict[Attribute, list[FailingJob]]:
    """Return the attributes that failing jobs have now and did not have when they were good."""
    found: dict[Attribute, list[FailingJob]] = {}
    for each in failing:
        for what, value in each.now.items():
            if each.before is not None and each.before.get(what) != value:
                found.setdefault((what, value), []).append(each)
    return found


def _build_cause(
    pair: Attribute, jobs: list[FailingJob], counts: tuple[int, int, int], *, is_rollout: bool
) -> CommonCause:
    """Build a cause; `counts` are of failing jobs, of good jobs with it, and of good jobs."""
    before = {each.before.get(pair[0]) for each in jobs if each.before is not None}
    failing, good_with, good = counts
    return CommonCause(
        *pair,
        before=before.pop() if len(before) == 1 else None,
        job_keys=frozenset(each.job_key for each in jobs),
        failing=failing,
        good_with=good_with,
        good=good,
        chance=fisher_exact_p(len(jobs), failing, good_with, good),
        is_rollout=is_rollout,
    )


def fisher_exact_p(bad_with: int, bad: int, good_with: int, good: int) -> float:
    """Return the chance that at least `bad_with` of `bad` have an attribute, if drawn at random.

    Fisher's exact test, one-sided: the hypergeometric tail over the tables with these margins.

    Args:
        bad_with: bad ones that have it.
        bad: all bad ones.
        good_with: good ones that have it.
        good: all good ones.

    Raises:
        ValueError: more have it than there are.
    """
    if not (0 <= bad_with <= bad and 0 <= good_with <= good):
        raise ValueError(f"{bad_with} of {bad} and {good_with} of {good} are no counts")
    having, every = bad_with + good_with, bad + good
    tables = math.comb(every, bad)
    most = min(bad, having)
    ways = (
        math.comb(having, count) * math.comb(every - having, bad - count)
        for count in range(bad_with, most + 1)
    )
    return sum(ways) / tables

"""What failing runs have in common that the others have not: then they are one fault."""

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

Attributes = Mapping[str, str]  # what a run says of itself, such as `Spark` → `4.3.1`
Attribute = tuple[str, str]  # one of them


class FailingJob(msgspec.Struct, frozen=True):
    """A job whose newest run failed.

    Attributes:
        now: what that run says of itself.
        before: what its last good run said; none: there is none.
        versions: of what is said, the names of those that are of a fleet, as that of Spark.
    """

    job_key: int
    now: Attributes
    before: Attributes | None
    versions: frozenset[str] = frozenset()


class CommonCause(msgspec.Struct, frozen=True):
    """What failing runs share, with counts on both sides.

    Attributes:
        job_keys: those that fail with it.
        failing: all jobs that fail, but those of a cause that is less likely to be chance.
        good_with: jobs that are well with it, of `good`.
        chance: that it goes with failing by chance, 0-1.
        is_rollout: others than whose jobs fail come to it too: it is nobody's own.
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
        """Of the cause."""
        return cause_name((self.attribute, self.value))

    @property
    def description(self) -> str:
        """The counts, for people."""
        was = f" (was {self.before})" if self.before else ""
        return (
            f"{self.name}{was}: {len(self.job_keys)} of {self.failing} jobs that fail have it, and"
            f" {self.good_with} of {self.good} that do not"
        )


def find_common_causes(
    failing: Collection[FailingJob],
    good: Iterable[Attributes],
    spreading: Collection[Attribute] = frozenset(),
    told: Collection[str] = frozenset(),
) -> tuple[CommonCause, ...]:
    """What changed for jobs when they began to fail, and is rarer among those that do not.

    Two upgrades in one night are two causes: whose jobs have one of them says nothing of the next.

    Args:
        failing: each job once.
        good: what the newest runs of all other jobs say.
        spreading: what others come to as well, who are not theirs (`spreading.spreading`): of
            these one job that fails is enough.
        told: names of causes that people were told of. Such a one stands while a job fails with
            it, though others were well with it since: whoever was called is not sent away.

    Returns:
        Those told first, then the least likely to be chance; each job in one.
    """
    others = list(good)
    with_it = Counter(pair for each in others for pair in each.items())
    found: list[CommonCause] = []
    left = [*failing]
    while candidates := _candidates(left, with_it, len(others), spreading, told):
        cause = min(candidates, key=lambda each: (each.name not in told, each.chance, each.name))
        found.append(cause)
        left = [each for each in left if each.job_key not in cause.job_keys]
    return tuple(found)


def _candidates(
    failing: Collection[FailingJob],
    with_it: Counter[Attribute],
    good: int,
    spreading: Collection[Attribute],
    told: Collection[str],
) -> list[CommonCause]:
    """What is unlikely to be chance, or was told."""
    found = [
        _build_cause(pair, jobs, (len(failing), with_it[pair], good), is_rollout=pair in spreading)
        for pair, jobs in new_attributes(failing).items()
        if len(jobs) >= MIN_FAILING or pair in spreading or cause_name(pair) in told
    ]
    return [each for each in found if _is_unlikely(each, len(found)) or each.name in told]


def _is_unlikely(each: CommonCause, candidates: int) -> bool:
    """Return whether it is unlikely to go with failing by chance."""
    return each.chance < (MAX_CHANCE_ROLLOUT if each.is_rollout else MAX_CHANCE / candidates)


def cause_name(pair: Attribute) -> str:
    """Of a cause: the same for as long as it stands, whoever joins."""
    return " ".join(pair)


def new_attributes(failing: Iterable[FailingJob]) -> dict[Attribute, list[FailingJob]]:
    """What each job that fails says now and did not say when it was well."""
    found: dict[Attribute, list[FailingJob]] = {}
    for each in failing:
        for what, value in each.now.items():
            if each.before is not None and each.before.get(what) != value:
                found.setdefault((what, value), []).append(each)
    return found


def _build_cause(
    pair: Attribute, jobs: list[FailingJob], counts: tuple[int, int, int], *, is_rollout: bool
) -> CommonCause:
    """`counts`: of all that fail, of those that are well with it, and of all that are well."""
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
    """That at least `bad_with` of `bad` have what `good_with` of `good` have, were it drawn by lot.

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

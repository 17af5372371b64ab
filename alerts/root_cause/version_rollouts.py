"""Find versions that are rolled out to several teams: they are owned by the platform."""

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Final

from sqlalchemy import Connection

from alerts.root_cause.common_causes import Attribute, FailingJob, new_attributes
from alerts.root_cause.run_attributes import GoodRun, load_versions
from lineage.process.clock import DAY_MICROS

ROLLOUT_MICROS: Final = 7 * DAY_MICROS  # an older adoption is no rollout
_MAX_JOBS: Final = 20  # of those that came to one: a few are as good as all


def find_rollouts(
    connection: Connection,
    failing: Collection[FailingJob],
    before: Mapping[int, GoodRun],
    as_of: int,
) -> frozenset[Attribute]:
    """Return versions new to failing jobs that good jobs of other owners adopted recently.

    A team that upgrades its own job is not in it, nor a setting, which each job has of its own.

    Args:
        connection: of the catalog.
        failing: each job once.
        before: the newest good run of every job, by job key.
        as_of: now, in µs.
    """
    others = {
        pair: _good_elsewhere(pair, jobs, before)
        for pair, jobs in new_attributes(failing).items()
        if any(pair[0] in each.versions for each in jobs)
    }
    every = [before[key] for keys in others.values() for key in keys]
    attributes = load_versions(connection, every, as_of - ROLLOUT_MICROS)
    return frozenset(
        pair
        for pair, keys in others.items()
        if any(_has_changed(pair, attributes.get(key, ())) for key in keys)
    )


def _good_elsewhere(
    pair: Attribute, jobs: Collection[FailingJob], before: Mapping[int, GoodRun]
) -> list[int]:
    """Return good jobs with the version whose owners own none of the failing jobs."""
    own = set().union(*(before[each.job_key].owners for each in jobs))
    good = (
        key
        for key, each in before.items()
        if each.attributes.get(pair[0]) == pair[1] and each.owners and own.isdisjoint(each.owners)
    )
    return list(islice(good, _MAX_JOBS))


def _has_changed(pair: Attribute, attributes: Collection[Attribute]) -> bool:
    """Return whether a job had another value before."""
    return any(what == pair[0] and value != pair[1] for what, value in attributes)

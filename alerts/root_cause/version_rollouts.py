"""Versions that come to a fleet: whoever rolls them out, it is not the team of one job."""

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Final

from sqlalchemy import Connection

from alerts.root_cause.run_attributes import Well, versions
from alerts.root_cause.common_causes import Failing, Pair, fresh
from alerts.root_cause.snapshot import MICROS

LATELY: Final = 7 * 86_400 * MICROS  # whoever came to a version before that has it for good
_MOST: Final = 20  # of those that came to one: a few are as good as all


def spreading(
    connection: Connection, failing: Collection[Failing], before: Mapping[int, Well], as_of: int
) -> frozenset[Pair]:
    """Versions new to jobs that fail, to which jobs of other owners came lately, and are well.

    A team that upgrades its own job is not in it, nor a setting, which each job has of its own.

    Args:
        connection: of the catalog.
        failing: each job once.
        before: the newest good run of every job, by job key.
        as_of: now, in µs.
    """
    others = {
        pair: _others(pair, jobs, before)
        for pair, jobs in fresh(failing).items()
        if any(pair[0] in each.versions for each in jobs)
    }
    every = [before[key] for keys in others.values() for key in keys]
    said = versions(connection, every, as_of - LATELY)
    return frozenset(
        pair for pair, keys in others.items() if any(_came(pair, said.get(key, ())) for key in keys)
    )


def _others(pair: Pair, jobs: Collection[Failing], before: Mapping[int, Well]) -> list[int]:
    """Jobs that are well with it, of nobody to whom one of those that fail belongs."""
    own = set().union(*(before[each.job_key].owners for each in jobs))
    well = (
        key
        for key, each in before.items()
        if each.said.get(pair[0]) == pair[1] and each.owners and own.isdisjoint(each.owners)
    )
    return list(islice(well, _MOST))


def _came(pair: Pair, said: Collection[Pair]) -> bool:
    """Whether a job said something else before."""
    return any(what == pair[0] and value != pair[1] for what, value in said)

"""Merge of roots with a common cause: an upgrade that breaks every third job is one fault."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import Final

import msgspec
from sqlalchemy import Connection, text

from alerts.root_cause.common_causes import (
    Attribute,
    CommonCause,
    FailingJob,
    find_common_causes,
    new_attributes,
)
from alerts.root_cause.faults import FaultGroup, FaultRoot
from alerts.root_cause.run_attributes import (
    GoodRun,
    load_failing_jobs,
    load_last_good,
    load_versions,
)
from lineage.names import keys
from lineage.process.clock import DAY_MICROS

_FAILED: Final = frozenset({"failed", "lost"})
_NOTIFIED = text(
    "SELECT root_name FROM incident WHERE root_entity = 'cause' AND state <> 'resolved'"
)
_GOOD_RUN_AGE: Final = 30 * DAY_MICROS  # an older good run says little about the present

ROLLOUT_MICROS: Final = 7 * DAY_MICROS  # an older adoption is no rollout
_MAX_JOBS: Final = 20  # of those that came to one: a few are as good as all


def merge_by_cause(
    found: Iterable[FaultGroup],
    causes: Mapping[FaultRoot, str],
    failures: Collection[FaultRoot] = (),
) -> tuple[FaultGroup, ...]:
    """Merge groups that have a cause in common.

    The incident of the cause takes over those of its roots like any root further upstream: they are
    among its faults (`detected_fault.DetectedFault.faults`).

    Args:
        found: groups that `roots.find_faults` returned.
        causes: name of the cause by root, as `find_shared_causes` found it; other roots have none.
        failures: roots of latent groups that are faults by themselves
            (`retries.select_failures`).

    Returns:
        Groups with a bad dataset, and those of `failures`: the first to fail first, those of
        unknown root last. The kind of a cause is the kind of its first root; each member's path
        begins at the root that explains it. Other latent groups are part of a cause, or left out.
    """
    together: dict[str, list[FaultGroup]] = defaultdict(list)
    alone: list[FaultGroup] = []
    for group in found:
        cause = causes.get(group.root)
        (alone if cause is None else together[cause]).append(group)
    one = (_merge(cause, own) for cause, own in together.items())
    every = (each for each in (*one, *alone) if _is_fault(each, failures))
    return tuple(sorted(every, key=_order))


def _is_fault(group: FaultGroup, failures: Collection[FaultRoot]) -> bool:
    return not group.is_latent or any(each.fault in failures for each in group.members)


def _order(group: FaultGroup) -> tuple[bool, int, FaultRoot]:
    return group.unknown is not None, group.onset, group.root


def _merge(cause: str, found: list[FaultGroup]) -> FaultGroup:
    first = min(found, key=_order)
    own = {each.root for each in found}
    members = [member for each in found for member in each.members]
    elsewhere = {each for one in found for each in one.shared if each.root not in own}
    return msgspec.structs.replace(
        first,
        root=FaultRoot("cause", keys.key("cause", cause), first.root.kind, cause),
        members=tuple(sorted(members, key=lambda each: each.order)),
        unknown=None,
        is_cycle=any(each.is_cycle for each in found),
        shared=tuple(sorted(elsewhere, key=lambda each: (each.dataset_key, each.kind, each.root))),
        is_shared_cut=any(each.is_shared_cut for each in found),
    )


def find_shared_causes(
    connection: Connection,
    found: Iterable[FaultGroup],
    as_of: int,
    failures: Collection[FaultRoot] = (),
) -> Mapping[FaultRoot, CommonCause]:
    """Return what failed jobs have in common, by root.

    Nothing is compared while all are latent, and none of them is one of `failures`. A failed run
    counts at once, before its dataset is late: the first page should go to the owner of the cause.
    """
    failed = [each for each in found if each.root.entity == "job" and each.root.kind in _FAILED]
    if all(each.is_latent and each.root not in failures for each in failed):
        return {}
    before = load_last_good(connection, as_of - _GOOD_RUN_AGE)
    jobs = load_failing_jobs(connection, (run for each in failed for run in each.run_ids), before)
    keys = {each.job_key for each in jobs}
    good = (each.attributes for key, each in before.items() if key not in keys)
    notified = set(connection.execute(_NOTIFIED).scalars())
    found_in = find_common_causes(
        jobs, good, find_rollouts(connection, jobs, before, as_of), notified
    )
    by_job = {key: common for common in found_in for key in common.job_keys}
    return {each.root: by_job[each.root.key] for each in failed if each.root.key in by_job}


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

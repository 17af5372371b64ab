"""Several roots with one cause: an upgrade that breaks every third job is one fault."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

import msgspec

from alerts.root_cause.faults import FaultGroup, Root
from lineage import keys


def merge_by_cause(
    found: Iterable[FaultGroup], causes: Mapping[Root, str], failures: Collection[Root] = ()
) -> tuple[FaultGroup, ...]:
    """Put those together that have a cause in common.

    The incident of the cause takes over those of its roots like any root further upstream: they are
    among its faults (`incident.found_of`).

    Args:
        found: as `roots.clusters` has them.
        causes: what is known to be behind a root, in words: whoever compares failing runs with good
            ones knows, also whether one is enough. Roots that are not in it stand for themselves.
        failures: roots of latent clusters that are faults by themselves
            (`failed_runs.select_failures`).

    Returns:
        Those of which something is bad, and those of `failures`: the first to fail first, those of
        unknown root last. The kind of a cause is the kind of its first root; each member's path
        begins at the root that explains it. All else that is latent stands only within a cause.
    """
    together: dict[str, list[FaultGroup]] = defaultdict(list)
    alone: list[FaultGroup] = []
    for group in found:
        cause = causes.get(group.root)
        (alone if cause is None else together[cause]).append(group)
    one = (_merge(cause, own) for cause, own in together.items())
    every = (each for each in (*one, *alone) if _is_fault(each, failures))
    return tuple(sorted(every, key=_order))


def _is_fault(group: FaultGroup, failures: Collection[Root]) -> bool:
    return not group.is_latent or any(each.fault in failures for each in group.members)


def _order(group: FaultGroup) -> tuple[bool, int, Root]:
    return group.unknown is not None, group.onset, group.root


def _merge(cause: str, found: list[FaultGroup]) -> FaultGroup:
    first = min(found, key=_order)
    own = {each.root for each in found}
    members = [member for each in found for member in each.members]
    elsewhere = {each for one in found for each in one.shared if each.root not in own}
    return msgspec.structs.replace(
        first,
        root=Root("cause", keys.key("cause", cause), first.root.kind, cause),
        members=tuple(sorted(members, key=lambda each: each.order)),
        unknown=None,
        is_cycle=any(each.is_cycle for each in found),
        shared=tuple(sorted(elsewhere, key=lambda each: (each.dataset_key, each.kind, each.root))),
        is_shared_cut=any(each.is_shared_cut for each in found),
    )

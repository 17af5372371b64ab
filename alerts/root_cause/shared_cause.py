"""Whether jobs fail for a reason that is not their own, which is then the root of all of them."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from sqlalchemy import Connection, text

from alerts.root_cause.common_causes import CommonCause, find_common_causes
from alerts.root_cause.faults import FaultGroup, Root
from alerts.root_cause.run_attributes import load_failing_jobs, load_last_good
from alerts.root_cause.snapshot import MICROS
from alerts.root_cause.version_rollouts import find_rollouts

_FAILED: Final = frozenset({"failed", "lost"})
_NOTIFIED = text(
    "SELECT root_name FROM incident WHERE root_entity = 'cause' AND state <> 'resolved'"
)
_GOOD_RUN_AGE: Final = 30 * 86_400 * MICROS  # a good run of before that says little of now


def find_shared_causes(
    connection: Connection, found: Iterable[FaultGroup], as_of: int, failures: Collection[Root] = ()
) -> Mapping[Root, CommonCause]:
    """What jobs that failed have in common, by the root of each.

    Nothing is compared while all are latent, and none of them is one of `failures`.

    A run that failed counts from then on, though its dataset is bad only at its deadline: the first
    to be told of it should be whoever can mend the cause.
    """
    failed = [each for each in found if each.root.entity == "job" and each.root.kind in _FAILED]
    if all(each.is_latent and each.root not in failures for each in failed):
        return {}
    before = load_last_good(connection, as_of - _GOOD_RUN_AGE)
    jobs = load_failing_jobs(connection, (run for each in failed for run in each.run_ids), before)
    keys = {each.job_key for each in jobs}
    good = (each.attributes for key, each in before.items() if key not in keys)
    told = set(connection.execute(_NOTIFIED).scalars())
    found_in = find_common_causes(jobs, good, find_rollouts(connection, jobs, before, as_of), told)
    by_job = {key: common for common in found_in for key in common.job_keys}
    return {each.root: by_job[each.root.key] for each in failed if each.root.key in by_job}

"""Whether several jobs fail for one reason, which is then the root of all of them."""

from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy import Connection

from alerts.diagnosis.runs import failing, last_good
from alerts.diagnosis.shared import FEWEST, Common, common_causes
from alerts.incidents.estate import MICROS
from alerts.incidents.faults import Cluster, Root

_FAILED: Final = frozenset({"failed", "lost"})
_BACK: Final = 30 * 86_400 * MICROS  # a good run of before that says little of now


def causes_of(
    connection: Connection, found: Iterable[Cluster], as_of: int
) -> Mapping[Root, Common]:
    """What jobs that failed have in common, by the root of each.

    A run that failed counts from then on, though its dataset is bad only at its deadline: the first
    to be told of it should be whoever can mend the cause.
    """
    failed = [each for each in found if each.root.entity == "job" and each.root.kind in _FAILED]
    if len(failed) < FEWEST or all(each.is_latent for each in failed):
        return {}
    before = last_good(connection, as_of - _BACK)
    jobs = failing(connection, (run for each in failed for run in each.run_ids), before)
    keys = {each.job_key for each in jobs}
    found_in = common_causes(jobs, (said for key, said in before.items() if key not in keys))
    by_job = {key: common for common in found_in for key in common.job_keys}
    return {each.root: by_job[each.root.key] for each in failed if each.root.key in by_job}

"""Jobs on a catalog, run by a test in place of the scheduler."""

from collections.abc import Callable, Sequence

from service.runtime.catalog_jobs import CatalogJobs
from service.runtime.leader import Leader
from service.runtime.periodic import Work
from service.runtime.scheduler import JobRegistry


def registry_of(
    url: str,
    build: Callable[[], Sequence[Work]],
    *,
    steps: Sequence[str] = ("work",),
    leader: Leader | None = None,
    **schedule: object,
) -> JobRegistry:
    """Make a registry with one job, `work`; with a leader it is the leader's alone."""
    registry = JobRegistry("service")
    jobs = CatalogJobs(url, leader or Leader("one", 10))
    registry.add(jobs.job("work", steps, build, is_leader_only=leader is not None, **schedule))
    return registry


def run_once(url: str, *works: Work) -> JobRegistry:
    """Run works once, as steps `work 0`, `work 1`, … of a job."""
    steps = [f"work {number}" for number in range(len(works))]
    registry = registry_of(url, lambda: works, steps=steps)
    registry.run("work")
    return registry

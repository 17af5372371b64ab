"""Jobs on a catalog, run by a test in place of the scheduler."""

from collections.abc import Callable, Sequence

from service.runtime.catalog_jobs import CatalogJobs
from service.runtime.leader import Leader
from service.runtime.periodic import CatalogTask
from service.runtime.scheduler import JobRegistry


def registry_of(
    url: str,
    build: Callable[[], Sequence[CatalogTask]],
    *,
    jobs: Sequence[str] = ("work",),
    leader: Leader | None = None,
    **schedule: object,
) -> JobRegistry:
    """Make a registry with one group, `work`; with a leader it is the leader's alone."""
    registry = JobRegistry("service")
    factory = CatalogJobs(url, leader or Leader("one", 10))
    registry.add(factory.group("work", jobs, build, is_leader_only=leader is not None, **schedule))
    return registry


def run_once(url: str, *tasks: CatalogTask) -> JobRegistry:
    """Run tasks once, as jobs `task 0`, `task 1`, … of a group."""
    jobs = [f"task {number}" for number in range(len(tasks))]
    registry = registry_of(url, lambda: tasks, jobs=jobs)
    registry.run("work")
    return registry

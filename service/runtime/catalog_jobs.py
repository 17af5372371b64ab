"""Jobs on one catalog, some of which only the leader of several services runs."""

from collections.abc import Callable, Sequence
from typing import Final, TypedDict, Unpack

import msgspec
from sqlalchemy import Engine

from lineage.catalog.engine import open_catalog
from service.runtime.jobs import ScheduledJob, Task
from service.runtime.leader import Leader, LeaderTasks
from service.runtime.periodic import CatalogTask, finish_task, is_there

_STATEMENT_SECONDS: Final = 60.0  # of what looks at a whole estate
_MOST_CONNECTIONS: Final = 4


class Schedule(TypedDict, total=False):
    """Fields of `ScheduledJob` that say when a job runs and ends."""

    every_seconds: float
    first_seconds: float
    runs_at_stop: bool
    most_share: float | None
    interrupt: Callable[[], None]


class CatalogJobs:
    """Factory of jobs that work on one catalog."""

    def __init__(self, catalog_url: str, leader: Leader) -> None:
        self._url, self._leader = catalog_url, leader

    def job(
        self,
        name: str,
        steps: Sequence[str],
        build: Callable[[], Sequence[CatalogTask]],
        *,
        is_leader_only: bool,
        statement_seconds: float = _STATEMENT_SECONDS,
        **schedule: Unpack[Schedule],
    ) -> ScheduledJob:
        """Return a job whose tasks have an engine of their own.

        Args:
            name: of the job.
            steps: names of its tasks.
            build: returns the tasks, in the order of their names. The leader's are built again for
                each epoch: what they remember of an earlier one is out of date.
            is_leader_only: run it only while this process leads.
            statement_seconds: after which a PostgreSQL ends a statement.
            schedule: when it runs and ends.
        """
        catalog = _Catalog(self._url, statement_seconds)
        tasks = LeaderTasks(self._leader, build) if is_leader_only else _built_once(build)
        return ScheduledJob(
            name=name,
            steps=tuple(steps),
            tasks=lambda: catalog.bind(tasks()),
            is_leader_only=is_leader_only,
            close=catalog.close,
            **schedule,
        )


def _built_once(build: Callable[[], Sequence[CatalogTask]]) -> Callable[[], Sequence[CatalogTask]]:
    tasks = build()
    return lambda: tasks


class _Catalog:
    """Engine of one job, opened when there is a catalog."""

    def __init__(self, url: str, statement_seconds: float) -> None:
        self._url, self._statement_seconds = url, statement_seconds
        self._engine: Engine | None = None

    def bind(self, tasks: Sequence[CatalogTask]) -> Sequence[Task]:
        """Return the tasks with this engine; none without a catalog.

        Raises:
            CatalogError: it is of another release, or cannot be read.
        """
        engine = self._opened() if tasks else None
        return [] if engine is None else [_BoundTask(task, engine) for task in tasks]

    def close(self) -> None:
        """Close its connections."""
        if self._engine is not None:
            self._engine.dispose()

    def _opened(self) -> Engine | None:
        if self._engine is None and is_there(self._url):
            self._engine = open_catalog(
                self._url, seconds=self._statement_seconds, most=_MOST_CONNECTIONS
            )
        return self._engine


class _BoundTask(msgspec.Struct, frozen=True):
    """Task on one engine."""

    task: CatalogTask
    engine: Engine

    def __call__(self) -> None:
        self.task(self.engine)

    def finish(self) -> None:
        """Have the task end what it has begun."""
        finish_task(self.task, self.engine)

"""Jobs on one catalog, some of which only the leader of several services runs."""

from collections.abc import Callable, Sequence
from typing import Final, TypedDict, Unpack

import msgspec
from sqlalchemy import Engine

from lineage.catalog.engine import open_catalog
from service.runtime.jobs import JobGroup, Task
from service.runtime.leader import Leader, LeaderTasks
from service.runtime.periodic import CatalogTask, finish_task, is_there

_STATEMENT_SECONDS: Final = 60.0  # of what looks at a whole estate
_MOST_CONNECTIONS: Final = 4


class Schedule(TypedDict, total=False):
    """Fields of `JobGroup` that say when its jobs run and end."""

    every_seconds: float
    first_seconds: float
    runs_at_stop: bool
    most_share: float | None
    interrupt: Callable[[], None]


class CatalogJobs:
    """Factory of groups of jobs that work on one catalog."""

    def __init__(self, catalog_url: str, leader: Leader) -> None:
        self._url, self._leader = catalog_url, leader

    def group(
        self,
        name: str,
        jobs: Sequence[str],
        build: Callable[[], Sequence[CatalogTask]],
        *,
        is_leader_only: bool,
        statement_seconds: float = _STATEMENT_SECONDS,
        **schedule: Unpack[Schedule],
    ) -> JobGroup:
        """Return a group whose tasks have an engine of their own.

        Args:
            name: of the group.
            jobs: names of its tasks.
            build: returns the tasks, in the order of their names. The leader's are built again for
                each epoch: what they remember of an earlier one is out of date.
            is_leader_only: run them only while this process leads.
            statement_seconds: after which a PostgreSQL ends a statement.
            schedule: when they run and end.
        """
        catalog = _Catalog(self._url, statement_seconds)
        tasks = LeaderTasks(self._leader, build) if is_leader_only else _built_once(build)
        return JobGroup(
            name=name,
            jobs=tuple(jobs),
            tasks=lambda: catalog.bind(tasks()),
            is_leader_only=is_leader_only,
            close=catalog.close,
            **schedule,
        )


def _built_once(build: Callable[[], Sequence[CatalogTask]]) -> Callable[[], Sequence[CatalogTask]]:
    tasks = build()
    return lambda: tasks


class _Catalog:
    """Engine of one group, opened when there is a catalog."""

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

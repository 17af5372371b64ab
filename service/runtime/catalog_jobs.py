"""Jobs on one catalog, some of which only the leader of several services runs."""

from collections.abc import Callable, Sequence
from typing import Final, TypedDict, Unpack

import msgspec
from sqlalchemy import Engine

from lineage.catalog.engine import open_catalog
from service.runtime.jobs import ScheduledJob, Task
from service.runtime.leader import Leader, LeaderWorks
from service.runtime.periodic import Work, finish, is_there

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
        build: Callable[[], Sequence[Work]],
        *,
        is_leader_only: bool,
        statement_seconds: float = _STATEMENT_SECONDS,
        **schedule: Unpack[Schedule],
    ) -> ScheduledJob:
        """Return a job whose tasks have an engine of their own.

        Args:
            name: of the job.
            steps: names of its works.
            build: returns the works, in the order of their names. The leader's are built again for
                each epoch: what they remember of an earlier one is out of date.
            is_leader_only: run it only while this process leads.
            statement_seconds: after which a PostgreSQL ends a statement.
            schedule: when it runs and ends.
        """
        catalog = _Catalog(self._url, statement_seconds)
        works = LeaderWorks(self._leader, build) if is_leader_only else _built_once(build)
        return ScheduledJob(
            name=name,
            steps=tuple(steps),
            tasks=lambda: catalog.tasks(works()),
            is_leader_only=is_leader_only,
            close=catalog.close,
            **schedule,
        )


def _built_once(build: Callable[[], Sequence[Work]]) -> Callable[[], Sequence[Work]]:
    works = build()
    return lambda: works


class _Catalog:
    """Engine of one job, opened when there is a catalog."""

    def __init__(self, url: str, statement_seconds: float) -> None:
        self._url, self._statement_seconds = url, statement_seconds
        self._engine: Engine | None = None

    def tasks(self, works: Sequence[Work]) -> Sequence[Task]:
        """Return the works as tasks; none without a catalog.

        Raises:
            CatalogError: it is of another release, or cannot be read.
        """
        engine = self._opened() if works else None
        return [] if engine is None else [_Task(work, engine) for work in works]

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


class _Task(msgspec.Struct, frozen=True):
    """Work on one engine."""

    work: Work
    engine: Engine

    def __call__(self) -> None:
        self.work(self.engine)

    def finish(self) -> None:
        """Have the work end what it has begun."""
        finish(self.work, self.engine)

"""Leader election among services on one catalog, so that each periodic job has one worker.

The leader finds incidents, sends notifications, acts by the policy, judges accesses and deletes
what is too old. Every replica answers: docs/kubernetes/several-services.md lists the jobs.
"""

import socket
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import msgspec
import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from lineage.catalog import leases
from lineage.catalog.leases import LeadershipFence
from lineage.lease_rules import LeaseLostError, LeaseRow
from service.runtime.periodic import CatalogTask, finish_task
from service.runtime.settings import Settings

NAME: Final = "service"  # of the lease
_RENEWALS: Final = 3  # within the duration of a lease
# A merge of the pipeline may hold SQLite's one write lock for that long: that is no failure.
_PATIENCE_SECONDS: Final = 60.0
_log = structlog.get_logger(__name__)


def count_seconds() -> float:
    """Return the seconds since the machine started, also while it or this process is paused."""
    # CLOCK_MONOTONIC stands still while a virtual machine is suspended.
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def replica_name(settings: Settings) -> str:
    """Return the name of this service: the same after a restart, another one for each replica."""
    folder = zlib.crc32(bytes(settings.data_dir.absolute()))
    return settings.replica or f"{socket.gethostname()}-{folder:08x}"


class _Held(msgspec.Struct, frozen=True):
    """Lease of this process.

    Attributes:
        renewed_at: by `count_seconds`, before the catalog was asked.
    """

    epoch: int
    renewed_at: float


class Leader:
    """Periodic task, once a second, that takes the lease when it is free, and renews it.

    Attributes:
        on_loss: called when another process has taken the lease.
    """

    def __init__(
        self, replica: str, seconds: float, count: Callable[[], float] = count_seconds
    ) -> None:
        """Hold nothing yet.

        Args:
            replica: name of this process.
            seconds: how long the lease lasts without renewal.
            count: counts seconds, also those in which this process was paused.
        """
        self._replica, self._seconds, self._count = replica, seconds, count
        self.on_loss: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        self._held: _Held | None = None
        self._engine: Engine | None = None
        self._is_start = True

    def has_led_lately(self) -> bool:
        """Return whether this process took or renewed the lease in the last minute.

        For metrics only. The lease lasts shorter, so that another process may lead already: work
        that writes takes `fence`, which the database confirms.
        """
        held = self._held
        return held is not None and self._count() < held.renewed_at + _PATIENCE_SECONDS

    def __call__(self, engine: Engine) -> None:
        """Take the lease, or renew it where it is time."""
        with self._lock:
            self._engine, held = engine, self._held
            if held is None:
                self._take(engine)
            elif self._count() >= held.renewed_at + self._seconds / _RENEWALS:
                self._renew_patiently(engine, held)

    def fence(self) -> LeadershipFence | None:
        """Return what keeps work of this epoch from being done later; None: another one leads."""
        held = self._held
        return (
            None
            if held is None
            else LeadershipFence(NAME, held.epoch, partial(self._confirm, held.epoch))
        )

    def finish(self, engine: Engine) -> None:
        """Give the lease up: another replica leads at once."""
        with self._lock:
            if self._held is not None:
                leases.release(engine, NAME, self._held.epoch)
                _log.info("lease_released", replica=self._replica, epoch=self._held.epoch)
            self._held = None

    def _take(self, engine: Engine) -> None:
        began, is_start = self._count(), self._is_start
        row = leases.try_take(engine, NAME, self._replica, self._seconds, is_start=is_start)
        self._is_start = False
        if row is not None:
            self._held = _Held(row.epoch, began)
            _log.info("lease_taken", replica=self._replica, epoch=row.epoch)

    def _renew_patiently(self, engine: Engine, held: _Held) -> None:
        try:
            self._renew(engine, held)
        except SQLAlchemyError as error:
            if self._count() >= held.renewed_at + _PATIENCE_SECONDS:
                raise
            _log.warning("lease_not_renewed", replica=self._replica, error=str(error)[:200])

    def _renew(self, engine: Engine, held: _Held) -> LeaseRow | None:
        began = self._count()
        row = leases.renew(engine, NAME, held.epoch, self._seconds)
        self._held = None if row is None else _Held(held.epoch, began)
        if row is None:
            _log.warning("lease_lost", replica=self._replica, epoch=held.epoch)
            self.on_loss()
        return row

    def _confirm(self, epoch: int) -> None:
        """Return if this epoch goes on.

        Raises:
            LeaseLostError: it is over.
            sqlalchemy.exc.SQLAlchemyError: the lease may have expired, and the catalog is away.
        """
        with self._lock:
            held = self._held
            if held is not None and held.epoch == epoch and self._goes_on(held):
                return
        raise LeaseLostError(f"epoch {epoch} of {self._replica} is over")

    def _goes_on(self, held: _Held) -> bool:
        if self._count() < held.renewed_at + self._seconds:
            return True
        return self._engine is not None and self._renew(self._engine, held) is not None


class _Fenced:
    """Task of the leader, on engines that are fenced."""

    def __init__(self, task: CatalogTask, fence: LeadershipFence) -> None:
        self.task = task
        self._fence = fence

    def __call__(self, engine: Engine) -> None:
        self.task(leases.leading(engine, self._fence))

    def finish(self, engine: Engine) -> None:
        """Have the task end what it has begun."""
        finish_task(self.task, leases.leading(engine, self._fence))


class LeaderTasks:
    """Tasks that run while this process leads; call it for those of now.

    They are built again for each epoch: what they remember of an earlier one is out of date.
    """

    def __init__(self, leader: Leader, build: Callable[[], Sequence[CatalogTask]]) -> None:
        self._leader, self._build = leader, build
        self._epoch: int | None = None
        self._tasks: Sequence[CatalogTask] = ()

    def __call__(self) -> Sequence[CatalogTask]:
        """Return the tasks of this epoch; none while another process leads."""
        fence = self._leader.fence()
        if fence is None:
            self._epoch, self._tasks = None, ()
        elif fence.epoch != self._epoch:
            # Together: a build that raises is tried again at the next call.
            tasks = [_Fenced(task, fence) for task in self._build()]
            self._epoch, self._tasks = fence.epoch, tasks
        return self._tasks

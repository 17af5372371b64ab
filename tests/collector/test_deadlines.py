"""Deadlines of tasks, independent of each other."""

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import TypeVar

import pytest

from collector.deadlines import Deadlines

SECONDS = 0.2
FOREVER = 30.0
_Result = TypeVar("_Result")


class Untroubled(asyncio.SelectorEventLoop):
    """Event loop whose clock moves only while all tasks wait, however busy the machine is."""

    _now = 0.0

    def time(self) -> float:
        """Return the seconds since its start."""
        return self._now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:
            self._now = self._scheduled[0].when()
        super()._run_once()


def _run(scene: Coroutine[object, object, _Result]) -> _Result:
    with asyncio.Runner(loop_factory=Untroubled) as runner:
        return runner.run(scene)


async def _within(deadlines: Deadlines, work: Awaitable[object]) -> object:
    with deadlines:
        return await work


def test_a_late_task_ends_and_one_in_time_does_not():
    """Measure each from its own start, with one timer for all."""

    async def scene() -> list[object]:
        deadlines = Deadlines(asyncio.get_running_loop(), SECONDS)
        late = asyncio.create_task(_within(deadlines, asyncio.sleep(FOREVER)))
        early = [
            asyncio.create_task(_within(deadlines, asyncio.sleep(0.01, number)))
            for number in range(3)
        ]
        await asyncio.sleep(SECONDS * 0.75)
        young = asyncio.create_task(_within(deadlines, asyncio.sleep(SECONDS / 2, "young")))
        return await asyncio.gather(late, *early, young, return_exceptions=True)

    late, *others = _run(scene())

    assert isinstance(late, TimeoutError)
    assert others == [0, 1, 2, "young"]


def test_a_renewed_deadline_runs_from_then_on():
    """Renew one that is not late; others keep their own start."""

    async def work(deadlines: Deadlines) -> str:
        with deadlines:
            for _ in range(4):
                await asyncio.sleep(SECONDS * 0.75)
                deadlines.renew()
        return "renewed"

    async def scene() -> list[object]:
        deadlines = Deadlines(asyncio.get_running_loop(), SECONDS)
        late = _within(deadlines, asyncio.sleep(FOREVER))
        return await asyncio.gather(work(deadlines), late, return_exceptions=True)

    renewed, late = _run(scene())

    assert renewed == "renewed"
    assert isinstance(late, TimeoutError)


def test_a_task_that_was_late_can_go_on():
    """Leave no cancellation pending, as the task has an answer to send."""

    async def scene() -> str:
        deadlines = Deadlines(asyncio.get_running_loop(), SECONDS)
        with pytest.raises(TimeoutError):
            await _within(deadlines, asyncio.sleep(FOREVER))
        await asyncio.sleep(0.01)
        task = asyncio.current_task()
        assert task is not None
        return f"{task.cancelling()} cancellations pending"

    assert _run(scene()) == "0 cancellations pending"


def test_a_cancellation_from_elsewhere_stays_one():
    """Turn only the deadline's own cancellation into a TimeoutError."""

    async def scene() -> None:
        deadlines = Deadlines(asyncio.get_running_loop(), FOREVER)
        task = asyncio.create_task(_within(deadlines, asyncio.sleep(FOREVER)))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    _run(scene())


def test_without_tasks_no_timer_runs():
    """Wake no idle collector."""

    async def scene() -> bool:
        deadlines = Deadlines(asyncio.get_running_loop(), SECONDS)
        await _within(deadlines, asyncio.sleep(0))
        await asyncio.sleep(SECONDS / 2)
        return deadlines._looking  # noqa: SLF001 - a timer that is not there shows nowhere else

    assert _run(scene()) is False

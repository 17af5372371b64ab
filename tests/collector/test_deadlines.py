"""What takes too long is ended, whoever else waits; nothing else is."""

import asyncio
from collections.abc import Awaitable

import pytest

from collector.deadlines import Deadlines

SECONDS = 0.2
FOREVER = 30.0


async def _within(deadlines: Deadlines, work: Awaitable[object]) -> object:
    with deadlines:
        return await work


def test_what_is_late_ends_and_what_is_in_time_does_not():
    """Each by its own start, though one look is for all."""

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

    late, *others = asyncio.run(scene())

    assert isinstance(late, TimeoutError)
    assert others == [0, 1, 2, "young"]


def test_a_task_that_was_late_can_go_on():
    """It is not left half cancelled: it has an answer to give."""

    async def scene() -> str:
        deadlines = Deadlines(asyncio.get_running_loop(), SECONDS)
        with pytest.raises(TimeoutError):
            await _within(deadlines, asyncio.sleep(FOREVER))
        await asyncio.sleep(0.01)
        task = asyncio.current_task()
        assert task is not None
        return f"{task.cancelling()} cancellations pending"

    assert asyncio.run(scene()) == "0 cancellations pending"


def test_a_cancellation_from_elsewhere_stays_one():
    """Only the deadline's own becomes a TimeoutError."""

    async def scene() -> None:
        deadlines = Deadlines(asyncio.get_running_loop(), FOREVER)
        task = asyncio.create_task(_within(deadlines, asyncio.sleep(FOREVER)))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scene())


def test_without_anything_to_watch_nothing_is_looked_at():
    """An idle collector is not woken."""

    async def scene() -> bool:
        deadlines = Deadlines(asyncio.get_running_loop(), SECONDS)
        await _within(deadlines, asyncio.sleep(0))
        await asyncio.sleep(SECONDS / 2)
        return deadlines._looking  # noqa: SLF001 - a timer that is not there shows nowhere else

    assert asyncio.run(scene()) is False

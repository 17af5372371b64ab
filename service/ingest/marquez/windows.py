"""Reads all events of a span of time out of Marquez, whatever its pages do.

It has no cursor: pages by offset shift while events arrive, and repeat or skip events of one
instant, which it sorts in any order. So no page is ever asked for by its offset. A full answer is
complete up to its last instant, from which the next one begins; where one instant alone fills it,
the limit grows, which has no maximum.
"""

from collections.abc import AsyncIterator, Iterable

from lineage.process.clock import SECOND_MICROS
from service.ingest.marquez.client import AnswerTooLargeError, Marquez
from service.ingest.marquez.known import Pulled

FAR_FUTURE = 253_370_764_800_000_000  # 9999-01-01: a producer's clock may be anywhere
_LIMIT = 500
_GROWTH = 4
_MILLISECOND = 1_000


async def events_between(
    marquez: Marquez, after: int, before: int, *, limit: int = _LIMIT
) -> AsyncIterator[list[Pulled]]:
    """RunEvents of [after, before) by the producer's time; some of them twice.

    Args:
        marquez: is asked.
        after: µs, inclusive.
        before: µs, exclusive.
        limit: how many at a time.

    Raises:
        MarquezError: an answer is missing; what was given before it is sound.
        TooLargeError: one event, or those of one instant, are over what an answer may hold.
    """
    asked, most = limit, None
    while True:
        try:
            page = await marquez.events(after=after, before=before, limit=asked)
        except AnswerTooLargeError:
            if asked == 1:
                raise
            asked = most = asked // 2
            continue
        yield page
        if len(page) < asked:
            return
        # Its column may be rounded where the event's text is cut.
        reached = max(event.at for event in page) // _MILLISECOND * _MILLISECOND - _MILLISECOND
        if reached > after:
            after, asked, most = reached, limit, None
        elif most is None:
            asked *= _GROWTH
        else:
            message = f"over {most} events with one timestamp, too many for one answer"
            raise AnswerTooLargeError(message)


def next_after(page: Iterable[Pulled], after: int) -> int:
    """Return from where to read after a page, µs: ties of its last may be on the next one."""
    return max([after, *(event.at - SECOND_MICROS for event in page)])

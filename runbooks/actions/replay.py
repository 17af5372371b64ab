"""Replays events of the lake: posted again to the collector, which knows a repeat for one."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from lineage import origins
from lineage.policy.values import Instant
from lineage.process.clock import from_micros
from runbooks.actions.action import ActionContext, ActionPlan, Done, in_utc
from runbooks.actions.errors import InvalidActionError, RejectedActionError
from runbooks.actions.lake_events import (
    LakeEvent,
    Span,
    count_of_span,
    events_of_run,
    events_of_span,
)

MOST_EVENTS: Final = 1_000_000  # of one replay: about 5 GiB to the spool
_BATCH = 500
_MOST_SHOWN = 5
_MARQUEZ_CAUTION: Final = (
    "Marquez gets the events again that are no longer in the spool, except those that came from"
    " Marquez"
)


class Replay(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename={"from_": "from"}
):
    """Range of time by the producers' clocks, or a run with all that it began.

    Attributes:
        to: without it, now.
    """

    from_: Instant | None = None
    to: Instant | None = None
    run: Annotated[str, Meta(min_length=8, max_length=200)] | None = None


def plan(asked: Replay, context: ActionContext) -> ActionPlan:
    """Plan the events to post, counted by origin.

    Raises:
        InvalidActionError: neither a span nor a run, or both.
        RejectedActionError: the lake has no such events, or too many.
    """
    span = _span(asked, context)
    counts = count_of_span(context, span) if span else _counted(events_of_run(context, _run(asked)))
    total = sum(counts.values())
    if not total:
        raise RejectedActionError(
            f"the lake in {context.lake.place} has no event of {_what(asked, span)}"
        )
    if total > MOST_EVENTS:
        message = f"{_what(asked, span)}: {total:,} events; at most {MOST_EVENTS:,} at a time"
        raise RejectedActionError(f"{message}: ask for a shorter time")
    counted = ", ".join(f"{count:,} of {origin}" for origin, count in sorted(counts.items()))
    return ActionPlan(
        does=(f"post {total:,} events of {_what(asked, span)} again ({counted}), as history",),
        figures={"events": total},
        cautions=(
            "known events are not counted twice, and replayed events count in no SLI",
            _MARQUEZ_CAUTION,
        ),
    )


def perform(asked: Replay, context: ActionContext) -> Done:
    """Post them; a second time is nothing new.

    Raises:
        FailedActionError: the collector went away; the same call again goes on.
    """
    span = _span(asked, context)
    found = events_of_span(context, span) if span else events_of_run(context, _run(asked))
    posted, rejected = 0, list[str]()
    for batch in _batches(islice(found, MOST_EVENTS)):
        for origin in sorted({_again(event.origin) for event in batch}):
            bodies = [event.body for event in batch if _again(event.origin) == origin]
            rejected += context.collector.post(bodies, origin)
            posted += len(bodies)
    did = [f"posted {posted:,} events, of which {len(rejected):,} were rejected"]
    did += [f"rejected: {reason}" for reason in rejected[:_MOST_SHOWN]]
    figures = {"events": posted, "rejected": len(rejected)}
    return Done(did=tuple(did), figures=figures, is_whole=not rejected)


def _again(origin: str) -> str:
    """Return the origin: history, which no SLI counts; nothing of a Marquez returns there."""
    return origins.MARQUEZ_HISTORY if origin in origins.FROM_MARQUEZ else origins.HISTORY


def _batches(events: Iterator[LakeEvent]) -> Iterator[list[LakeEvent]]:
    while batch := list(islice(events, _BATCH)):
        yield batch


def _counted(events: Iterable[LakeEvent]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for event in events:
        counts[event.origin] = counts.get(event.origin, 0) + 1
    return counts


def _span(asked: Replay, context: ActionContext) -> Span | None:
    """Return the time span, or None if a run is asked for."""
    if (asked.run is None) == (asked.from_ is None):
        raise InvalidActionError("replay: expected either `from`, with or without `to`, or `run`")
    if asked.from_ is None:
        if asked.to is not None:
            raise InvalidActionError("replay: `to` goes with `from`, and not with `run`")
        return None
    begin = in_utc(asked.from_, "from")
    end = from_micros(context.now) if asked.to is None else in_utc(asked.to, "to")
    if end <= begin:
        message = f"replay: to ({end.isoformat()}) is not after from ({begin.isoformat()})"
        raise InvalidActionError(message)
    return Span(begin, end)


def _run(asked: Replay) -> str:
    return asked.run or ""


def _what(asked: Replay, span: Span | None) -> str:
    if span is None:
        return f"run {_run(asked)}"
    return f"{span.begin.isoformat()} to {span.end.isoformat()}"

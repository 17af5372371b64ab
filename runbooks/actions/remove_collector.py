"""Action that removes a silent collector, once a person knows that it does not come back.

The pipeline carries the request out, unless a heartbeat of the collector has arrived meanwhile.
"""

from typing import Annotated, Final

import msgspec
from msgspec import Meta
from sqlalchemy import select

from alerts.detection.self_monitoring import (
    SilentCollector,
    find_silent_collectors,
)
from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import LOG_LAST_GOODBYE
from lineage.catalog.tables import collector_removal, log_collector, meta
from lineage.catalog.upsert import fold_rows
from lineage.process.clock import SECOND_MICROS, instant_text
from runbooks.actions.action import ActionContext, ActionPlan, Done
from runbooks.actions.errors import ActionError, InvalidActionError, RejectedActionError

_END_OF_LAST: Final = "keep its ingestion gap open until a collector starts: no other one is known"


class RemoveCollector(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Silent collector, by the name that its shipper sends."""

    name: Annotated[str, Meta(min_length=1, max_length=300)]


class _KnownCollectors(msgspec.Struct, frozen=True):
    """Collectors of the catalog; `ended`: the last one, while none runs."""

    names: frozenset[str]
    silent: tuple[SilentCollector, ...]
    ended: str | None


def plan(asked: RemoveCollector, context: ActionContext) -> ActionPlan:
    """Return which collector would be removed, and the end of its gap.

    Raises:
        InvalidActionError: no collector has the name; the text lists the silent ones.
        RejectedActionError: the collector is not silent.
    """
    known = _read_known(context)
    found = _find(asked.name, known)
    since = instant_text(found.since)
    is_last = known.names == {asked.name}
    return ActionPlan(
        does=(
            f"remove the collector {found.name}, which has been silent since {since}",
            _END_OF_LAST if is_last else f"end its ingestion gap, which began at {since}, now",
        ),
        figures={"silent_seconds": (context.now - found.since) // SECOND_MICROS},
        cautions=(
            "events in its spool have not landed if they did not reach Kafka",
            "such events land only if a collector starts with its volume; no volume is deleted",
            "datasets that were due in the gap stay unknown until they are due again",
            "a collector that comes back is known again with its first heartbeat",
        ),
    )


def perform(asked: RemoveCollector, context: ActionContext) -> Done:
    """Request the removal from the pipeline.

    Raises:
        ActionError: as `plan`.
    """
    found = _find(asked.name, _read_known(context))
    row = {"collector": found.name, "heartbeat_at": found.since, "requested_at": context.now}
    with write_transaction(context.engine) as connection:
        fold_rows(connection, collector_removal, [row])
    return Done(
        did=(
            f"requested the removal of {found.name}, silent since {instant_text(found.since)}",
            "the pipeline carries it out within seconds, unless a heartbeat arrives first",
        )
    )


def _read_known(context: ActionContext) -> _KnownCollectors:
    with context.engine.connect() as connection:
        names = frozenset(connection.scalars(select(log_collector.c.collector)))
        ended = connection.scalar(select(meta.c.value).where(meta.c.name == LOG_LAST_GOODBYE))
        return _KnownCollectors(names, tuple(find_silent_collectors(connection)), ended)


def _find(name: str, known: _KnownCollectors) -> SilentCollector:
    for one in known.silent:
        if one.name == name:
            return one
    raise _error(name, known)


def _error(name: str, known: _KnownCollectors) -> ActionError:
    listed = ", ".join(f"{one.name} (since {instant_text(one.since)})" for one in known.silent)
    silent = f"silent collectors: {listed}" if listed else "no collector is silent"
    if name == known.ended:
        what = f"the collector {name} has ended or was removed, and no other one runs"
        return RejectedActionError(f"{what}: its ingestion gap ends when a collector starts")
    if name in known.names:
        return RejectedActionError(f"the collector {name} is not silent; {silent}")
    return InvalidActionError(f"no collector is named {name[:80]!r}; {silent}")

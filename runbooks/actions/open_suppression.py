"""Action that opens a suppression window: what matches opens no incident meanwhile."""

import unicodedata
from typing import Annotated, Final

import msgspec
from msgspec import Meta
from sqlalchemy import select

from alerts.operator_actions.suppression_windows import (
    MAX_AHEAD_DAYS,
    MAX_DAYS,
    WindowRequest,
    count_matches,
    create_window,
)
from lineage.catalog.engine import write_transaction
from lineage.catalog.tables import dataset, dataset_activity
from lineage.policy.values import Instant
from lineage.process.clock import DAY_MICROS, SECOND_MICROS, instant_text, to_micros
from runbooks.actions.action import ActionContext, ActionPlan, Done, in_utc
from runbooks.actions.errors import InvalidActionError

_NO_MATCH: Final = (
    "no dataset or job matches now: a pattern covers namespace and name, such as `*/mart/revenue`"
)
_Text = Annotated[str, Meta(min_length=1, max_length=500)]


class OpenSuppression(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename={"from_": "from"}
):
    """Suppression window; it needs an end, since an open window would hide incidents for ever.

    Attributes:
        pattern: over namespace and name joined, as in the policy's `match`.
        from_: now, where it is not given or over.
        name: the pattern by default.
        allow_no_match: open it although no dataset or job matches now.
    """

    pattern: Annotated[str, Meta(min_length=1, max_length=1_000)]
    until: Instant
    reason: _Text
    from_: Instant | None = None
    name: Annotated[str, Meta(max_length=500)] = ""
    allow_no_match: bool = False


def plan(asked: OpenSuppression, context: ActionContext) -> ActionPlan:
    """Plan the window, and count the datasets and jobs that match now.

    Raises:
        InvalidActionError: it has no end in time, or no pattern or reason, or nothing matches.
    """
    begin, until = _bounds(asked, context.now)
    found = _match_some(asked, context)
    times = f"{instant_text(begin)} to {instant_text(until)}"
    cautions = ["of jobs and datasets that match later too"]
    cautions += [_NO_MATCH] * (not any(found.values()))
    cautions += ["it hides every dataset there is"] * (asked.pattern.strip() == "*")
    count = " and ".join(f"{number:,} {what}" for what, number in found.items())
    return ActionPlan(
        does=(f"open a window for {asked.pattern}, {times}: {count} match now",),
        figures={**found, "seconds": (until - begin) // SECOND_MICROS},
        cautions=tuple(cautions),
    )


def perform(asked: OpenSuppression, context: ActionContext) -> Done:
    """Write it down; the next turn of the incidents goes by it.

    Raises:
        RequestError: an argument is invalid, or nothing matches the pattern.
    """
    begin, until = _bounds(asked, context.now)
    _match_some(asked, context)
    wanted = WindowRequest(
        pattern=asked.pattern,
        begin=begin,
        until=until,
        by=context.who,
        via=context.via,
        reason=asked.reason,
        name=asked.name,
    )
    with write_transaction(context.engine) as connection:
        number = create_window(connection, wanted, context.now)
    return Done(
        did=(f"window {number} is open until {instant_text(until)}",), figures={"window": number}
    )


def _match_some(asked: OpenSuppression, context: ActionContext) -> dict[str, int]:
    """Return the number of datasets and jobs that match now, at least one unless allowed."""
    found = _matching(asked.pattern, context)
    if not asked.allow_no_match and not any(found.values()):
        message = f"pattern: {_NO_MATCH}; `--allow-no-match` opens the window anyway"
        raise InvalidActionError(message)
    return found


def _bounds(asked: OpenSuppression, now: int) -> tuple[int, int]:
    begin = now if asked.from_ is None else max(now, to_micros(in_utc(asked.from_, "from")))
    until = to_micros(in_utc(asked.until, "until"))
    _require_texts(asked)
    if until <= begin:
        message = f"until: {instant_text(until)} is over, or not after from ({instant_text(begin)})"
        raise InvalidActionError(message)
    if until - begin > MAX_DAYS * DAY_MICROS:
        raise InvalidActionError(f"until: a window lasts {MAX_DAYS} days at most")
    if begin - now > MAX_AHEAD_DAYS * DAY_MICROS:
        raise InvalidActionError(f"from: {instant_text(begin)} is over {MAX_AHEAD_DAYS} days away")
    return begin, until


def _require_texts(asked: OpenSuppression) -> None:
    for field, text in (("pattern", asked.pattern), ("reason", asked.reason)):
        if not text.strip():
            raise InvalidActionError(f"{field}: is empty")
    odd = next((each for each in asked.pattern if unicodedata.category(each)[0] == "C"), None)
    if odd is not None:
        raise InvalidActionError(f"pattern: holds U+{ord(odd):04X}, which no name does")


def _matching(pattern: str, context: ActionContext) -> dict[str, int]:
    """Return how many datasets and jobs that are there now it hides."""
    activity = dataset_activity.c
    jobs = select(activity.last_job_namespace, activity.last_job_name).distinct()
    named = {
        "datasets": select(dataset.c.namespace, dataset.c.name).where(
            dataset.c.retired_at.is_(None)
        ),
        "jobs": jobs.where(activity.last_job_name.is_not(None)),
    }
    with context.engine.connect() as connection:
        return {
            what: count_matches(pattern.strip(), map(tuple, connection.execute(query)))
            for what, query in named.items()
        }

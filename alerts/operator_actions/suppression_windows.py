"""Suppression windows: those that cover names at a time, and planned ones.

A window covers faults of datasets and jobs whose name its pattern matches, and no fault of Lineward
itself. It is planned, or the policy has it.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, insert, select, update

from alerts.operator_actions.audit import DONE, Entry, Via, add_entry, rejected_entry, storable_text
from lineage.catalog.tables import suppression
from lineage.errors import InvalidRequestError, NotNowError, RequestError
from lineage.names.names import Name, join_parts
from lineage.names.rules import SEPARATOR
from lineage.policy import Policy
from lineage.policy.model import MatchPattern, Suppression
from lineage.policy.patterns import Matcher, matcher
from lineage.process.clock import DAY_MICROS, from_micros, instant_text, to_micros

WindowEnd = tuple[str, int]  # the name of the window that hides it, and until when, µs

MAX_DAYS: Final = 30
MAX_AHEAD_DAYS: Final = 366
MAX_TEXT: Final = 500
_MAX_PATTERN = 1_000
_BLANK = re.compile(r"\s*")


class SuppressionWindow(msgspec.Struct, frozen=True):
    """Suppression window; times in µs."""

    name: str
    pattern: MatchPattern
    begin: int
    until: int


def find_windows(
    windows: Iterable[SuppressionWindow], policy: Policy, names: Sequence[Name], at: int
) -> list[WindowEnd | None]:
    """Return the window that covers each dataset or job at a time (µs), and when it ends.

    Of several the one that ends last.
    """
    # The window that ends last comes first: the first match is the result.
    in_force = sorted(windows_in_force(windows, policy, at), key=lambda one: -one.until)
    tests = [(matcher(one.pattern), (one.name, one.until)) for one in in_force]
    return [_first_match(tests, *name) for name in names]


def common_window(found: Iterable[WindowEnd | None]) -> WindowEnd | None:
    """Return the window of a fault with several datasets, which ends with the first of theirs.

    None where one of them is not hidden, and where there are none.
    """
    each = list(found)
    known = [one for one in each if one is not None]
    return min(known, key=lambda one: one[1]) if known and len(known) == len(each) else None


def count_matches(pattern: MatchPattern, names: Iterable[Name]) -> int:
    """Return how many of these names a pattern matches."""
    tests = [(matcher(pattern), ("", 0))]
    return sum(_first_match(tests, *name) is not None for name in names)


def windows_in_force(
    windows: Iterable[SuppressionWindow], policy: Policy, at: int
) -> list[SuppressionWindow]:
    """Return the windows, of those given and the policy's, in force at a time (µs)."""
    instant = from_micros(at)
    of_policy = (_policy_window(one, policy, instant) for one in policy.suppressions)
    every = [*windows, *(one for one in of_policy if one is not None)]
    return [one for one in every if one.begin <= at < one.until]


def _policy_window(one: Suppression, policy: Policy, at: datetime) -> SuppressionWindow | None:
    """Return its only window, or the one of its cron schedule at a time."""
    recurring = one.recurring(policy.time_zone)
    span = one.once if recurring is None else recurring.window_at(at)
    return span and SuppressionWindow(one.name, one.match, to_micros(span[0]), to_micros(span[1]))


def _first_match(
    tests: list[tuple[Matcher, WindowEnd]], namespace: str, name: str
) -> WindowEnd | None:
    whole, parted = join_parts(namespace, name), f"{namespace}{SEPARATOR}{name}"
    for test, found in tests:
        text = parted if test.is_parted else whole
        if text.startswith(test.prefix) and test.regex.fullmatch(text):
            return found
    return None


class UnknownWindowError(RequestError):
    """Unknown number of a window."""

    exit_code = 3
    status = 404
    title = "Unknown window"


class WindowRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Requested window.

    Attributes:
        pattern: over namespace and name joined, as in the policy's `match`.
        until: µs.
        begin: µs; one that is over means now.
        name: of the window; by default its pattern.
    """

    pattern: str
    until: int | None
    by: str
    via: Via
    reason: str
    begin: int = 0
    name: str = ""


class WindowEnding(msgspec.Struct, frozen=True):
    """Request to end a window."""

    number: int
    by: str
    via: Via


def create_window(connection: Connection, request: WindowRequest, at: int) -> int:
    """Create a window with its audit row, and return its number.

    Raises:
        RequestError: it is rejected, and nothing was written: see `record_rejected_window`.
    """
    begin = max(request.begin, at)
    until = _check_end(request.until, begin, at)
    _check_texts(request)
    row = {
        "name": storable_text(request.name.strip() or request.pattern.strip()),
        "pattern": request.pattern.strip(),
        "from_at": begin,
        "until_at": until,
        "by": storable_text(request.by, 200),
        "via": request.via,
        "reason": storable_text(request.reason.strip()),
        "created_at": at,
    }
    (number,) = connection.execute(insert(suppression), row).inserted_primary_key or (0,)
    entry = window_entry(request, at)
    detail = f"window {number}, {entry.detail}"
    add_entry(connection, msgspec.structs.replace(entry, detail=detail, answer=DONE))
    return int(number)


def close_window(connection: Connection, ending: WindowEnding, at: int) -> None:
    """End a window now, with its audit row; one that is planned never begins.

    Raises:
        RequestError: there is none of that number, or it is over.
    """
    table, number = suppression, ending.number
    row = connection.execute(select(table).where(table.c.id == number)).one_or_none()
    if row is None:
        raise UnknownWindowError(f"no window has the number {number}: see `lineward suppressions`")
    if row.ended_at is not None or row.until_at <= at:
        over = min(row.until_at, row.ended_at or row.until_at)
        raise NotNowError(f"window {number} ended at {instant_text(over)}")
    connection.execute(update(table).where(table.c.id == number).values(ended_at=at))
    add_entry(connection, msgspec.structs.replace(_audit_end(ending, at), answer=DONE))


def load_windows(connection: Connection, at: int) -> tuple[SuppressionWindow, ...]:
    """Return the planned windows in force at a time (µs), without the policy's."""
    table = suppression
    holds = (table.c.from_at <= at, table.c.until_at > at, table.c.ended_at.is_(None))
    rows = connection.execute(select(table).where(*holds).order_by(table.c.id))
    return tuple(
        SuppressionWindow(row.name, row.pattern, row.from_at, row.until_at) for row in rows
    )


def window_entry(request: WindowRequest, at: int) -> Entry:
    """Return the audit row of a request."""
    begin = max(request.begin, at)
    until = "no end" if request.until is None else instant_text(request.until)
    detail = f"{request.pattern[:300]} from {instant_text(begin)} until {until}: {request.reason}"
    return Entry(at=at, who=request.by, via=request.via, action="suppress_pattern", detail=detail)


def record_rejected_window(
    connection: Connection, request: WindowRequest, error: RequestError, at: int
) -> None:
    """Record the rejection of a window, in a transaction after `create_window`."""
    add_entry(connection, rejected_entry(window_entry(request, at), str(error)))


def record_end_rejection(
    connection: Connection, ending: WindowEnding, error: RequestError, at: int
) -> None:
    """Record that ending a window was rejected, in a transaction after `close_window`."""
    add_entry(connection, rejected_entry(_audit_end(ending, at), str(error)))


def _audit_end(ending: WindowEnding, at: int) -> Entry:
    detail = f"window {ending.number}"
    return Entry(at=at, who=ending.by, via=ending.via, action="end_suppression", detail=detail)


def _check_end(until: int | None, begin: int, at: int) -> int:
    if until is None:
        raise InvalidRequestError("until: missing; an open window would hide things for ever")
    begins = instant_text(begin)
    if until <= at:
        raise InvalidRequestError(f"until: {instant_text(until)} is in the past")
    if until <= begin:
        raise InvalidRequestError(f"until: {instant_text(until)} is not after from ({begins})")
    if until - begin > MAX_DAYS * DAY_MICROS:
        raise InvalidRequestError(f"until: a window lasts {MAX_DAYS} days at most, from {begins}")
    if begin - at > MAX_AHEAD_DAYS * DAY_MICROS:
        raise InvalidRequestError(f"from: {begins} is more than {MAX_AHEAD_DAYS} days away")
    return until


def _check_texts(request: WindowRequest) -> None:
    if _BLANK.fullmatch(request.pattern):
        raise InvalidRequestError("pattern: empty; `*` stands for every dataset and job")
    if len(request.pattern) > _MAX_PATTERN:
        raise InvalidRequestError(
            f"pattern: at most {_MAX_PATTERN} characters, got {len(request.pattern)}"
        )
    odd = next((each for each in request.pattern if unicodedata.category(each)[0] == "C"), None)
    if odd is not None:
        raise InvalidRequestError(f"pattern: holds U+{ord(odd):04X}, which no name does")
    if _BLANK.fullmatch(request.reason):
        raise InvalidRequestError("reason: missing; it stands in the audit log")
    for field, text in (("reason", request.reason), ("name", request.name)):
        if len(text) > MAX_TEXT:
            raise InvalidRequestError(f"{field}: at most {MAX_TEXT} characters, got {len(text)}")

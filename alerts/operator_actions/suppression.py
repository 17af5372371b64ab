"""Find the suppression windows, planned or of the policy, that cover names at a time.

Pure. A window covers faults of datasets and jobs whose name its pattern matches, and no fault of
Lineward itself.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from lineage.names.names import join_parts
from lineage.names.rules import SEPARATOR
from lineage.policy import Policy
from lineage.policy.model import Match, Suppression
from lineage.policy.patterns import Matcher, matcher
from lineage.process.clock import from_micros, to_micros

WindowEnd = tuple[str, int]  # the name of the window that hides it, and until when, µs
Name = tuple[str, str]  # namespace and name, as the catalog has them


class SuppressionWindow(msgspec.Struct, frozen=True):
    """Suppression window; times in µs."""

    name: str
    pattern: Match
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


def count_matches(pattern: Match, names: Iterable[Name]) -> int:
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

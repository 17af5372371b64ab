"""Rules between values of a policy that are valid one by one."""

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from lineage.policy.compiled_folds import fold_problems
from lineage.policy.model import Policy
from lineage.policy.patterns import dataset_of
from lineage.policy.recurring import LONGEST, window_problem

_Problem = tuple[str, str]  # path, what is wrong

_ONE_DATASET: Final = "expected one dataset, without wildcards"
_CHANNEL: Final = re.compile(r"[a-z][a-z0-9]*:[^/@][^@]*")  # of a type with a folder of its own
_PASSWORD: Final = re.compile(r"[^/@]*:(?!\{[^{}]+\}@)[^/@]*@")
# Services of Apprise that need none; the address of any other is a secret.
_WITHOUT_SECRET: Final = frozenset(
    {"mailto", "mailtos", "json", "jsons", "xml", "xmls", "form", "forms", "ntfy", "ntfys"}
)


def problems(policy: Policy) -> Iterator[_Problem]:
    """Yield each problem with its path, in the order of the file's sections."""
    yield from _repeated(policy)
    yield from _unknown_owners(policy)
    yield from _unknown_calendars(policy)
    yield from _unclear_edges(policy)
    yield from _wild_aliases(policy)
    yield from fold_problems(policy)
    yield from _unknown_time_zones(policy)
    yield from _wrong_objectives(policy)
    yield from _unclear_tokens(policy)
    yield from _wrong_windows(policy)
    yield from _repeated_people(policy)
    yield from _wrong_urls(policy)


def _repeated(policy: Policy) -> Iterator[_Problem]:
    for section in ("owners", "calendars", "suppressions"):
        seen: Counter[str] = Counter()
        for position, entry in enumerate(getattr(policy, section)):
            seen[entry.name] += 1
            if seen[entry.name] > 1:
                yield f"$.{section}[{position}].name", f"{entry.name!r} is there already"


def _unknown_owners(policy: Policy) -> Iterator[_Problem]:
    known = {owner.name for owner in policy.owners}
    used = [
        (f"$.owners[{i}].escalation[{j}].owner", step.owner)
        for i, owner in enumerate(policy.owners)
        for j, step in enumerate(owner.escalation)
    ]
    used += [(f"$.datasets[{i}].owner", rule.owner) for i, rule in enumerate(policy.datasets)]
    used += [(f"$.jobs[{i}].owner", rule.owner) for i, rule in enumerate(policy.jobs)]
    for path, name in used:
        if name is not None and name not in known:
            yield path, f"no owner is called {name!r}: add it under owners"


def _unknown_calendars(policy: Policy) -> Iterator[_Problem]:
    known = {calendar.name for calendar in policy.calendars}
    for position, rule in enumerate(policy.datasets):
        if rule.calendar is not None and rule.calendar not in known:
            what = f"no calendar is called {rule.calendar!r}: add it under calendars"
            yield f"$.datasets[{position}].calendar", what


def _unclear_edges(policy: Policy) -> Iterator[_Problem]:
    for position, rule in enumerate(policy.datasets):
        if rule.expect_inputs and dataset_of(rule.match) is None:
            yield f"$.datasets[{position}].match", "expect_inputs needs a match without wildcards"
        for place, text in enumerate(rule.expect_inputs):
            if dataset_of(text) is None:
                path = f"$.datasets[{position}].expect_inputs[{place}]"
                yield path, _ONE_DATASET


def _wild_aliases(policy: Policy) -> Iterator[_Problem]:
    for position, alias in enumerate(policy.aliases):
        for field in ("name", "dataset"):
            if dataset_of(getattr(alias, field)) is None:
                yield f"$.aliases[{position}].{field}", _ONE_DATASET


def _unknown_time_zones(policy: Policy) -> Iterator[_Problem]:
    zones = [("$.time_zone", policy.time_zone)]
    zones += [(f"$.calendars[{i}].time_zone", c.time_zone) for i, c in enumerate(policy.calendars)]
    zones += [
        (f"$.suppressions[{i}].time_zone", one.time_zone)
        for i, one in enumerate(policy.suppressions)
        if one.time_zone is not None
    ]
    for path, zone in zones:
        if not _is_time_zone(zone):
            yield path, f"{zone!r} is no time zone such as Europe/Berlin"


def _is_time_zone(zone: str) -> bool:
    try:
        ZoneInfo(zone)
    except (OSError, ValueError, ZoneInfoNotFoundError):
        return False
    return True


def _wrong_windows(policy: Policy) -> Iterator[_Problem]:
    """Check suppressions; unknown time zones are reported by another check."""
    for position, one in enumerate(policy.suppressions):
        path = f"$.suppressions[{position}]"
        if one.once and one.once[1] - one.once[0] > LONGEST:
            yield f"{path}.until", f"is more than {LONGEST.days} days after from: hide less"
        recurring = one.recurring(policy.time_zone)
        if recurring is None or not _is_time_zone(recurring.time_zone):
            continue
        if recurring.length > LONGEST:
            yield f"{path}.for", f"is longer than {LONGEST.days} days"
        elif wrong := window_problem(recurring):
            yield f"{path}.cron", wrong


def _repeated_people(policy: Policy) -> Iterator[_Problem]:
    for field in ("name", "slack"):
        seen: set[str] = set()
        for position, person in enumerate(policy.people):
            value = getattr(person, field)
            if value in seen:
                yield f"$.people[{position}].{field}", f"{value!r} is there already"
            seen.add(value)


def _wrong_objectives(policy: Policy) -> Iterator[_Problem]:
    for sli, by_tier in msgspec.structs.asdict(policy.objectives).items():
        for tier, ratio in msgspec.structs.asdict(by_tier).items():
            if ratio is not None and not Decimal(0) < ratio <= Decimal(1):
                yield f"$.objectives.{sli}.{tier}", f"{ratio} is no ratio above 0 and up to 1"


def _unclear_tokens(policy: Policy) -> Iterator[_Problem]:
    seen: set[str] = set()
    tokens = policy.guard.tokens if policy.guard else ()
    for position, token in enumerate(tokens):
        path = f"$.access.tokens[{position}]"
        if token.name in seen:
            yield f"{path}.name", f"{token.name!r} is there already"
        if (token.token_file is None) == (token.sha256 is None):
            yield path, "needs either token_file or sha256"
        if token.sha256 is not None and token.sha256 in seen:
            yield f"{path}.sha256", "another token has the same"
        seen |= {token.name, token.sha256 or token.name}


def _wrong_urls(policy: Policy) -> Iterator[_Problem]:
    for path, url in _notify_urls(policy):
        scheme, separator, rest = url.partition("://")
        if not separator:
            if not _CHANNEL.fullmatch(url):
                yield path, f"expected a URL of Apprise, as mailto://…, got {url[:80]!r}"
        elif _PASSWORD.match(rest) or (scheme not in _WITHOUT_SECRET and "{" not in rest):
            yield path, "the secret stands in the policy: write {FILE} in its place"


def _notify_urls(policy: Policy) -> Iterator[_Problem]:
    for i, owner in enumerate(policy.owners):
        yield from ((f"$.owners[{i}].notify[{k}]", url) for k, url in enumerate(owner.notify))
        for j, step in enumerate(owner.escalation):
            path = f"$.owners[{i}].escalation[{j}].notify"
            yield from ((f"{path}[{k}]", url) for k, url in enumerate(step.notify))

"""Score of the notifications, by the injected faults and the received messages alone.

A message is right when its root is in the cause set of a fault and its time within the fault.
Anything else that pages somebody is a false page.
"""

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase

from lab.gameday.fake_receivers import ReceivedMessage
from lab.gameday.score_shapes import BaselineScore, FaultScore, Score
from lab.gameday.truth_shapes import INGESTION_KINDS, SECOND_MICROS, Fault, NamePattern, Truth

# Not imported from `lineage`: the scorer loads no part of the system that it judges.

# What a link of a message leads to, as it was at an instant: every affected dataset.
Resolver = Callable[[str, int], Iterable[NamePattern]]


def score(  # noqa: PLR0913 - what one run is judged by, by name
    truth: Truth,
    messages: Sequence[ReceivedMessage],
    baseline: Sequence[ReceivedMessage],
    resolve: Resolver,
    *,
    wall_seconds: float = 0.0,
    peak_rss_bytes: int = 0,
) -> Score:
    """Judge one run.

    Args:
        truth: what was done.
        messages: the messages that people received.
        baseline: one page for each dataset that turned bad, to its own owner.
        resolve: follows a message's link.
        wall_seconds: that the run took.
        peak_rss_bytes: that it needed.
    """
    judged = sorted(
        (each for each in messages if _is_judged(truth, each)), key=lambda each: each.at
    )
    return Score(
        seed=truth.seed,
        datasets=truth.datasets,
        days=truth.days,
        faults=tuple(_judged(truth, fault, judged, resolve) for fault in truth.faults),
        false_pages=len(false_pages(truth, messages)),
        baseline=_score_baseline(truth, baseline),
        wall_seconds=wall_seconds,
        peak_rss_bytes=peak_rss_bytes,
    )


def false_pages(truth: Truth, messages: Iterable[ReceivedMessage]) -> list[ReceivedMessage]:
    """Return the pages that match no fault, or name its wrong root."""
    return [each for each in _strays(truth, messages) if each.what == "page"]


def false_tickets(truth: Truth, messages: Iterable[ReceivedMessage]) -> list[ReceivedMessage]:
    """Return the tickets that match no fault; never reported datasets may have one at any time."""
    strays = (each for each in _strays(truth, messages) if each.what == "ticket")
    return [each for each in strays if not is_among(each.root, truth.standing)]


def first_message_at(fault: Fault, messages: Iterable[ReceivedMessage]) -> int | None:
    """Return when the first page or ticket that names a cause of the fault was sent, µs."""
    right = (
        each for each in messages if each.what in {"page", "ticket"} and _is_right(each, fault)
    )
    return min((each.at for each in right), default=None)


def unknown_seconds(truth: Truth, spells: Iterable[tuple[int, int]]) -> float:
    """Sum the dataset-seconds in `unknown` that no fault of the ingestion excuses.

    Args:
        truth: what was done.
        spells: from when to when, µs, some dataset was in it; one a dataset and time.
    """
    excused = sorted(
        (fault.starts_at, fault.over_at) for fault in truth.faults if fault.kind in INGESTION_KINDS
    )
    total = 0
    for start, end in spells:
        at = max(start, truth.judged_from)
        for first, last in excused:
            total += max(0, min(first, end) - at)
            at = max(at, last)
        total += max(0, end - at)
    return total / SECOND_MICROS


def _is_judged(truth: Truth, each: ReceivedMessage) -> bool:
    return each.at >= truth.judged_from


def _strays(truth: Truth, messages: Iterable[ReceivedMessage]) -> list[ReceivedMessage]:
    messages = (each for each in messages if _is_judged(truth, each))
    return [each for each in messages if not any(_is_right(each, fault) for fault in truth.faults)]


def _is_right(each: ReceivedMessage, fault: Fault) -> bool:
    """Return whether the message names a cause in time; no page is right for a silent fault."""
    is_meant = fault.expect != "silence"
    return is_meant and _is_within(each, fault) and is_among(each.root, fault.causes)


def _is_within(each: ReceivedMessage, fault: Fault) -> bool:
    return fault.starts_at <= each.at <= fault.over_at


def is_among(root: NamePattern, names: Iterable[NamePattern]) -> bool:
    """Return whether a message's root is one of these."""
    return any(_is(root, name) for name in names)


def _is(root: NamePattern, name: NamePattern) -> bool:
    """Match a name; a job's may be followed by Spark's plan."""
    if name.namespace not in {"", root.namespace}:
        return False
    return fnmatchcase(root.name, name.name) or root.name.startswith(f"{name.name}.")


def _judged(
    truth: Truth, fault: Fault, messages: Sequence[ReceivedMessage], resolve: Resolver
) -> FaultScore:
    within = [
        each for each in messages if each.what in {"page", "ticket"} and _is_within(each, fault)
    ]
    right = [each for each in within if is_among(each.root, fault.causes)]
    pages = [each for each in right if each.what == "page"]
    counted = pages if fault.expect == "page" else right
    first = counted[0] if counted else None
    is_notified = first is not None and fault.expect != "silence"
    lists = _lists(fault, first, messages) if first and is_notified else []
    precision, recall = _impact(fault, lists, resolve) if lists else (None, None)
    return FaultScore(
        kind=fault.kind,
        detected=first is not None,
        expect=fault.expect,
        seconds_to_delivery=(first.at - fault.starts_at) / SECOND_MICROS
        if first and is_notified
        else None,
        seconds_to_resolved=_resolved(fault, counted, messages) if is_notified else None,
        pages=len(pages),
        root_right=_is_root_right(truth, fault, within) if fault.expect != "silence" else None,
        owner_right=_owner(first) in fault.owners if first and is_notified else None,
        impact_precision=precision,
        impact_recall=recall,
    )


def _owner(each: ReceivedMessage) -> str:
    """Return the owner that got it: the service that paged, else the owner in the message."""
    return each.to.rsplit("/", 1)[-1] if each.by == "pagerduty" else each.owner


def _is_root_right(truth: Truth, fault: Fault, within: Sequence[ReceivedMessage]) -> bool:
    """Return whether the first message about the fault, under any root, named its cause."""
    others = [each for each in truth.faults if each is not fault and each.expect != "silence"]
    about = (*fault.causes, *fault.impact, *fault.behind)
    for each in within:
        if any(_is_right(each, other) for other in others) and not _is_right(each, fault):
            continue
        if is_among(each.root, about):
            return is_among(each.root, fault.causes)
    return False


def _resolved(
    fault: Fault, counted: Sequence[ReceivedMessage], messages: Sequence[ReceivedMessage]
) -> float | None:
    """Return when the last of its incidents was resolved; None while one is not."""
    ends = []
    for incident in {each.incident for each in counted}:
        over = [
            each.at for each in messages if each.incident == incident and each.what == "resolved"
        ]
        if not over:
            return None
        ends.append(max(over))
    return (max(ends) - fault.ends_at) / SECOND_MICROS


def _lists(
    fault: Fault, first: ReceivedMessage, messages: Sequence[ReceivedMessage]
) -> list[ReceivedMessage]:
    """Return the messages that must list the impact: the first, or all of a spread fault."""
    if not fault.is_spread:
        return [first]
    return [
        each for each in messages if _is_within(each, fault) and is_among(each.root, fault.causes)
    ]


def _impact(
    fault: Fault, messages: Iterable[ReceivedMessage], resolve: Resolver
) -> tuple[float, float]:
    """Score the union of their lists. The causes' own datasets count neither way."""
    listed = {
        name for each in messages if each.full_list for name in resolve(each.full_list, each.at)
    }
    listed = {each for each in listed if not is_among(each, fault.causes)}
    true = set(fault.impact)
    both = len(listed & true)
    precision = both / len(listed) if listed else 1.0
    return precision, both / len(true) if true else 1.0


def _score_baseline(truth: Truth, alerts: Sequence[ReceivedMessage]) -> BaselineScore:
    judged = [each for each in alerts if _is_judged(truth, each)]
    messages = sorted(judged, key=lambda each: each.at)
    meant = [fault for fault in truth.faults if fault.expect != "silence"]
    about = {id(fault): [each for each in messages if _is_about(each, fault)] for fault in meant}
    found = [fault for fault in meant if about[id(fault)]]
    paged = [len(about[id(fault)]) for fault in meant if fault.expect == "page"]
    roots = [is_among(about[id(fault)][0].root, fault.causes) for fault in found]
    owners = [each.owner in fault.owners for fault in found for each in about[id(fault)]]
    return BaselineScore(
        pages=len(messages),
        false_pages=len(_strays(truth, messages)),
        detected=_share([bool(about[id(fault)]) for fault in meant]),
        pages_a_fault=sum(paged) / len(paged) if paged else None,
        root_right=_share(roots),
        owner_right=_share(owners),
    )


def _is_about(each: ReceivedMessage, fault: Fault) -> bool:
    return _is_within(each, fault) and is_among(each.root, (*fault.causes, *fault.impact))


def _share(answers: Sequence[bool]) -> float | None:
    return sum(answers) / len(answers) if answers else None

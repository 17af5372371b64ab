"""Criteria of several game days judged together, and which of them fail."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from lab.gameday.score_shapes import FaultScore, Score

DETECTED: Final = 0.99
ROOT_RIGHT: Final = 0.95
OWNER_RIGHT: Final = 0.98
PAGES_ON_AVERAGE: Final = 1.05
MOST_PAGES: Final = 2
IMPACT: Final = 0.99
FALSE_PAGES: Final = 1.0  # of 1,000 datasets in 30 days


def failed_criteria(scores: Sequence[Score], unknown_seconds: float = 0.0) -> list[str]:
    """Return the criteria that fail, each in a sentence; empty: all hold."""
    faults = [fault for each in scores for fault in each.faults]
    return [
        *_of_notifications([fault for fault in faults if fault.expect != "silence"]),
        *_of_pages([fault for fault in faults if fault.expect == "page"]),
        *_of_silence(faults),
        *_of_false_pages(scores),
        *(
            [f"{unknown_seconds:g} s in unknown outside ingestion faults"]
            if unknown_seconds
            else []
        ),
    ]


def false_page_rate(scores: Iterable[Score]) -> float:
    """Return the false pages of 1,000 datasets in 30 days."""
    given = list(scores)
    size = sum(each.datasets * each.days for each in given)
    return sum(each.false_pages for each in given) * 30_000 / size if size else 0.0


def mean(values: Iterable[float | bool | None]) -> float | None:
    """Return the mean of the known values; None without any."""
    found = [float(each) for each in values if each is not None]
    return sum(found) / len(found) if found else None


def _of_notifications(faults: Sequence[FaultScore]) -> Iterator[str]:
    yield from _at_least("faults detected", (each.detected for each in faults), DETECTED)
    yield from _at_least("root named right", (each.root_right for each in faults), ROOT_RIGHT)
    yield from _at_least("owner right", (each.owner_right for each in faults), OWNER_RIGHT)
    precision = (each.impact_precision for each in faults)
    yield from _at_least("precision of the impacted set", precision, IMPACT)
    yield from _at_least(
        "recall of the impacted set", (each.impact_recall for each in faults), IMPACT
    )


def _at_least(what: str, values: Iterable[float | bool | None], least: float) -> Iterator[str]:
    found = mean(values)
    if found is not None and found < least:
        yield f"{what}: {found:.4f}, required at least {least:g}"


def _of_pages(faults: Sequence[FaultScore]) -> Iterator[str]:
    paged = [each.pages for each in faults]
    average = mean(paged)
    if average is not None and average > PAGES_ON_AVERAGE:
        yield f"pages for one fault: {average:.3f} on average, at most {PAGES_ON_AVERAGE:g}"
    for each in faults:
        if each.pages == 0:
            yield f"no page for a fault that expects one: {each.kind}"
        if each.pages > MOST_PAGES:
            yield f"{each.pages} pages for one {each.kind}"


def _of_silence(faults: Sequence[FaultScore]) -> Iterator[str]:
    for each in faults:
        if each.expect == "silence" and each.detected:
            yield f"not silent: {each.kind}"


def _of_false_pages(scores: Sequence[Score]) -> Iterator[str]:
    rate = false_page_rate(scores)
    if rate > FALSE_PAGES:
        yield f"false pages: {rate:.2f} of 1,000 datasets in 30 days, at most {FALSE_PAGES:g}"

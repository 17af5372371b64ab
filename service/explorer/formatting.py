"""Text of figures and timestamps on pages."""

from collections.abc import Sequence
from datetime import datetime

from alerts.notify.channels.registry import required_settings
from alerts.notify.sentences import failure_reason
from lineage.states import LEARNING
from service.queries.incident_shapes import IncidentStep
from service.queries.run_shapes import RunDetail
from service.queries.slis import LEAST_DAYS, BudgetLeft, sli_name
from service.queries.timestamps import short_duration

_MESSAGE_KINDS = {
    "opened": "new incident",
    "changed": "change",
    "acknowledged": "acknowledgement",
    "resolved": "resolution",
    "handed_over": "handover",
}
NOTHING = "\N{EN DASH}"
_MOST_SHOWN = 160  # characters of a name; its page shows all of them
_RUN_TEXTS = (
    *("application_id", "engine", "engine_version", "integration", "adapter_version", "producer"),
    *("processing_type", "job_version", "code_version", "code_tag", "code_branch", "code_path"),
    "code_url",
)


def percent(ratio: float | None) -> str:
    """Format a ratio as `99.25 %`, never rounded up to 100."""
    if ratio is None:
        return NOTHING
    shown = f"{ratio * 100:.4g}"
    return f"{ratio * 100:.6g} %" if shown == "100" and ratio < 1 else f"{shown} %"


def budget_text(budget: BudgetLeft) -> str:
    """Return what is left of an error budget: `47 % left`, or `used up`.

    A budget that is partly used never reads `100 %`, and never `0 %` while some is left.
    """
    left = budget.ratio
    if left is None:
        return f"needs {LEAST_DAYS} d of data"
    if left <= 0:
        return "used up"
    if 0.995 <= left < 1:  # noqa: PLR2004 - would be rounded up
        return "99 % left"
    return "< 1 % left" if 0 < left < 0.005 else f"{left * 100:.0f} % left"  # noqa: PLR2004 - down


def frozen_text(steps: Sequence[IncidentStep]) -> str:
    """Describe a frozen incident by the newest reason; one that nobody knows yet has no event."""
    reasons = [step.reason for step in steps if step.what == "frozen"]
    return f"frozen: {reasons[-1]}" if reasons else "frozen: a retry or current data is awaited"


def count(number: float | None) -> str:
    """Format a number with thousands separators."""
    return NOTHING if number is None else f"{number:,.0f}"


def seconds(length: float | None) -> str:
    """Format a duration in its two largest units."""
    return NOTHING if length is None else short_duration(length)


def ago(instant: str | None, now: datetime) -> str:
    """Format a timestamp relative to now: `5 min ago`, or `in 2 h`."""
    if instant is None:
        return NOTHING
    length = (now - datetime.fromisoformat(instant)).total_seconds()
    text = short_duration(abs(round(length)))
    return f"{text} ago" if length >= 0 else f"in {text}"


def at(instant: str | None) -> str:
    """Format a timestamp as `21 Nov 2026 12:00:05 UTC`; the time zone of the reader is unknown."""
    if instant is None:
        return NOTHING
    return datetime.fromisoformat(instant).strftime("%-d %b %Y %H:%M:%S UTC")


def short(text: str) -> str:
    """Shorten a long name to its beginning and end."""
    if len(text) <= _MOST_SHOWN:
        return text
    half = _MOST_SHOWN // 2 - 1
    return f"{text[:half]} … {text[-half:]}"


def because(state: str, reason: str | None, sli: str | None) -> str:
    """Return the reason of a state, or else the SLI that decided it."""
    if state == LEARNING and reason is None:
        return "too little history"
    return plain(reason or (sli_name(sli) if sli else ""))


def message_text(kind: str) -> str:
    """Return what a notification reports."""
    return _MESSAGE_KINDS.get(kind, plain(kind))


def failure_text(channel: str, reason: str) -> str:
    """Return why a notification was not delivered; a missing setting is named."""
    text = failure_reason(reason, required_settings(channel))
    return plain(text) if text == reason else text


def plain(word: str) -> str:
    """Return a code as words: `upstream late`."""
    return word.replace("_", " ")


def facts_of(run: RunDetail) -> list[tuple[str, str]]:
    """Return (name, value) pairs; URLs stay text, because an event must not choose a link."""
    pairs = ((plain(name), getattr(run, name)) for name in _RUN_TEXTS)
    return [(name, value) for name, value in pairs if value]

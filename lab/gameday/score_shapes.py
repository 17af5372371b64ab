"""Scores: of a fault, of one alert a bad dataset, of a whole run."""

import msgspec


class FaultScore(msgspec.Struct, frozen=True):
    """Score of one fault. For a silent kind, `detected` means that it was not silent.

    Attributes:
        seconds_to_delivery: from its beginning to the first message of the kind that it expects.
        seconds_to_resolved: from its fix until the last of its incidents was resolved.
        pages: how often somebody was paged for it.
        root_right: the first message about it named its cause.
        owner_right: the first right message went to one who can fix it.
        impact_precision: share of the full list that is truly made of the cause.
        impact_recall: share of what truly is that the full list has.
    """

    kind: str
    detected: bool
    expect: str
    seconds_to_delivery: float | None
    seconds_to_resolved: float | None
    pages: int
    root_right: bool | None
    owner_right: bool | None
    impact_precision: float | None
    impact_recall: float | None


class BaselineScore(msgspec.Struct, frozen=True):
    """Score of one alert a bad dataset, to its own owner: the same run, the same truth.

    Attributes:
        pages: alerts in all.
        false_pages: of what is no fault's cause.
        detected: share of the faults that need a notification.
        pages_a_fault: of those that expect a page, whatever their recipient.
        root_right: share of the detected ones whose first alert was of the cause.
        owner_right: share of the alerts that went to one who can fix it.
    """

    pages: int
    false_pages: int
    detected: float | None
    pages_a_fault: float | None
    root_right: float | None
    owner_right: float | None


class Score(msgspec.Struct, frozen=True):
    """Score of a game day, as `lineward gameday --json` prints it.

    On the real clock `days` is 0, and what is not known there is null.
    """

    seed: int
    datasets: int
    days: int
    faults: tuple[FaultScore, ...]
    false_pages: int
    baseline: BaselineScore | None
    wall_seconds: float
    peak_rss_bytes: int | None

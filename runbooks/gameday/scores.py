"""What the scorer finds: of a fault, of the naive way, of a whole run."""

import msgspec


class FaultScore(msgspec.Struct, frozen=True):
    """Of one fault. Of what is to stay silent, `detected` says that it did not.

    Attributes:
        seconds_to_delivery: from its beginning to the first message of the kind that it expects.
        seconds_to_resolved: from its mending until the last of its incidents was called over.
        pages: how often somebody was rung for it.
        root_right: the first that was told of it named its cause.
        owner_right: the first to be told rightly was one who can mend it.
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


class NaiveScore(msgspec.Struct, frozen=True):
    """Of one alert a bad dataset, to its own owner: the same run, the same truth.

    Attributes:
        pages: alerts in all.
        false_pages: of what is no fault's cause.
        detected: share of the faults that are to be told of.
        pages_a_fault: of those that expect a page, whoever got them.
        root_right: share of the detected ones whose first alert was of the cause.
        owner_right: share of the alerts that went to one who can mend it.
    """

    pages: int
    false_pages: int
    detected: float | None
    pages_a_fault: float | None
    root_right: float | None
    owner_right: float | None


class Score(msgspec.Struct, frozen=True):
    """All of it, as `lineward gameday --json` prints it.

    On the real clock `days` is 0, and what is not known there is null.
    """

    seed: int
    datasets: int
    days: int
    faults: tuple[FaultScore, ...]
    false_pages: int
    naive: NaiveScore | None
    wall_seconds: float
    peak_rss_bytes: int | None

"""Documented shapes of answers from the lake: runs that the catalog has deleted."""

import msgspec

from service.queries.run_shapes import Instant, RunDetail


class LakeRead(msgspec.Struct, frozen=True):
    """Part of the lake that an answer is made from.

    Attributes:
        first_at: first time of the window, by the producers' clocks.
        last_at: the window ends before this time.
        events: in the folders of its days.
        days_without_events: days of the window of which the lake holds no event.
        lake_begins: first day of which the lake holds events.
    """

    first_at: Instant
    last_at: Instant
    events: int
    days_without_events: list[str]
    lake_begins: str


class LakeRunAnswer(msgspec.Struct, frozen=True):
    """Runs of an id, as the lake has their events."""

    runs: list[RunDetail]
    read: LakeRead
    partial: bool
    partial_reason: str | None


class LakeRuns(msgspec.Struct, frozen=True):
    """Runs that read or wrote a dataset in a window, the newest first."""

    dataset_namespace: str
    dataset: str
    runs: list[RunDetail]
    read: LakeRead
    partial: bool
    partial_reason: str | None
    next_cursor: str | None

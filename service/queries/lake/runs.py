"""Runs that the catalog has deleted, from the events that the lake still has.

The events become rows of a catalog in memory by the functions of the stream, and the rows become
answers by those that answer of the catalog: an answer is what the catalog once had.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, Literal

import msgspec

from lineage.catalog.rows import Row
from service.errors import UnknownRunError
from service.queries.cursors import Whole, cursor_of, start_key
from service.queries.lake.names import find_with_all_names, seen_in_lake, words_of
from service.queries.lake.reading import LakeRead
from service.queries.lake.recalled import LakeQuestion, Recalled, open_recalled
from service.queries.lake.windows import LakeSearchWindow, window_between, window_of_run
from service.queries.run_shapes import RunDetail
from service.queries.runs import details_of, rows_by_id, rows_by_key, unknown_run
from service.queries.visibility import Visibility

Direction = Literal["read", "write", "both"]
# A run that touches a dataset in a window may begin before it and end behind it.
_MARGIN: Final = timedelta(days=1)
_TOUCHED: Final = """
    SELECT io.run_key, r.run_id, max(io.last_event_at) AS seen_at
    FROM run_io io JOIN run r ON r.run_key = io.run_key
    JOIN dataset d ON d.dataset_key = io.dataset_key
    WHERE d.canonical_key IN (SELECT canonical_key FROM dataset WHERE dataset_key = :key)
        AND (:direction = 'both' OR io.direction = :direction)
    GROUP BY io.run_key, r.run_id ORDER BY seen_at DESC, io.run_key
"""


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


class DatasetWindow(msgspec.Struct, frozen=True):
    """Request for runs of a dataset: `first` and `last` are days or timestamps."""

    dataset: str
    namespace: str | None
    first: str
    last: str
    direction: Direction = "both"
    limit: int = 50
    cursor: str | None = None


def run_in_lake(
    asked: LakeQuestion, run_id: str, first: str | None = None, last: str | None = None
) -> LakeRunAnswer:
    """Return every run of this id, as the catalog once did.

    Raises:
        UnknownRunError: no event of the window is of it.
        InvalidRequestError: the window is no window, or too large.
        NoLongerKeptError: the lake no longer has the window.
        UnreachableLakeError: the lake cannot be read.
    """
    window = window_of_run(run_id, first, last)
    visibility = asked.visibility
    with open_recalled(asked) as recalled:
        read = recalled.reading.describe(window)
        recalled.add_run(window, run_id)
        with recalled.read() as reader:
            shown, reason = details_of(
                reader, rows_by_id(reader, run_id), visibility, seen_in_lake(reader, visibility)
            )
        if not shown:
            message = f"{unknown_run(run_id)} among the events of the lake, {_of(read)}"
            raise UnknownRunError(message)
        reasons = [reason, _left_out(recalled.unreadable), _unended(shown, read)]
        if first is not None:
            reasons.append(_begins_later(read))
    text = _joined(reasons)
    return LakeRunAnswer(shown, read, text is not None, text)


def dataset_runs_in_lake(asked: LakeQuestion, wanted: DatasetWindow) -> LakeRuns:
    """Return the runs that read or wrote a dataset in a window, the newest first.

    Raises:
        UnknownDatasetError: no such dataset is known, and the name has no namespace.
        InvalidRequestError: as `run_in_lake`, or a cursor of another question.
        NoLongerKeptError: as `run_in_lake`.
        UnreachableLakeError: as `run_in_lake`.
    """
    window = window_between(wanted.first, wanted.last)
    with asked.ask_catalog() as catalog:
        (key, namespace, name), names = find_with_all_names(
            catalog.reader, asked.policy, wanted.dataset, wanted.namespace, catalog.visibility
        )
    which = "lake", key, window.after, window.before, wanted.direction
    behind = start_key(wanted.cursor, which, tuple[Whole, Whole])
    with open_recalled(asked) as recalled:
        read = recalled.reading.describe(window)
        recalled.add_named(window, words_of(names, asked.policy))
        with recalled.read() as reader:
            touched = reader.rows(_TOUCHED, {"key": key, "direction": wanted.direction})
        rows = [row for row in touched if _is_behind(row, behind)]
        page, is_cut = rows[: wanted.limit], len(rows) > wanted.limit
        runs, reasons = _details(recalled, window, page, asked.visibility)
        cut = f"{wanted.limit:,} are shown; there are older ones" if is_cut else None
        more = _begins_later(read), _left_out(recalled.unreadable), _unended(runs, read)
        text = _joined([cut, *reasons, *more])
    return LakeRuns(
        dataset_namespace=namespace,
        dataset=name,
        runs=runs,
        read=read,
        partial=text is not None,
        partial_reason=text,
        next_cursor=cursor_of(which, (page[-1].seen_at, page[-1].run_key)) if is_cut else None,
    )


def _is_behind(row: Row, behind: tuple[int, ...] | None) -> bool:
    return behind is None or (-row.seen_at, row.run_key) > (-behind[0], behind[1])


def _details(
    recalled: Recalled, window: LakeSearchWindow, page: Sequence[Row], visibility: Visibility
) -> tuple[list[RunDetail], list[str | None]]:
    """Return the runs of a page from all of their events, and the reasons if some is left out."""
    recalled.add_runs(window.widened(_MARGIN), {row.run_id for row in page})
    with recalled.read() as reader:
        is_seen = seen_in_lake(reader, visibility)
        rows = rows_by_key(reader, [row.run_key for row in page])
        found = [details_of(reader, [row], visibility, is_seen) for row in rows]
    return [run for runs, _ in found for run in runs], [reason for _, reason in found]


def _of(read: LakeRead) -> str:
    days = f"; of {', '.join(read.days_without_events)} the lake has no events"
    return (
        f"{read.events:,} in the days from {read.first_at} to {read.last_at}"
        f"{days if read.days_without_events else ''}. The lake begins on {read.lake_begins}"
    )


def _begins_later(read: LakeRead) -> str | None:
    if read.first_at[: len(read.lake_begins)] >= read.lake_begins:
        return None
    return f"the lake holds events since {read.lake_begins} only"


def _left_out(unreadable: int) -> str | None:
    if not unreadable:
        return None
    return f"{unreadable:,} events were left out: the pipeline could not land them"


def _unended(runs: list[RunDetail], read: LakeRead) -> str | None:
    """Return a reason where events of a run may lie outside of what was read."""
    count = sum(run.finished_at is None or run.started_at is None for run in runs)
    if not count:
        return None
    return (
        f"{count:,} runs have no start or no end among the events that were read, from"
        f" {read.first_at} to {read.last_at}: a longer time may have more of them"
    )


def _joined(reasons: Sequence[str | None]) -> str | None:
    return "; ".join(dict.fromkeys(reason for reason in reasons if reason)) or None

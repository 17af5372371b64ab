"""Reader of the lake's events for one query, within a time limit and bounded memory."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Final

import msgspec

from lineage.lake.manifest import Folder, list_folders
from lineage.lake.reading import LakeChangedError, read_again
from lineage.lake.searching import Search, search_events
from lineage.lake.storage import Lake
from service.errors import (
    BusyLakeError,
    LakeTooLargeError,
    NoDataError,
    NoLongerKeptError,
    UnreachableLakeError,
)
from service.queries.catalog_session import CatalogSession
from service.queries.deleted_runs import LAKE_BEGINS
from service.queries.lake.windows import LakeSearchWindow
from service.queries.run_shapes import IsoTime
from service.queries.timestamps import iso_of

if TYPE_CHECKING:
    import pyarrow as pa

AskCatalog = Callable[[], AbstractContextManager[CatalogSession]]
SECONDS: Final = 60.0
_NO_LAKE: Final = (
    "this machine has no lake: raw events are stored beside the pipeline, unless LINEWARD_LAKE_URL"
    " names a bucket, for the service as for the pipeline"
)
_BUSY: Final = "another question to the lake is being answered: try again when it is done"
_LONGEST_REASON: Final = 300
# A question takes some hundred MB, and a core: a service answers one at a time.
_turn = threading.Lock()


class LakeRead(msgspec.Struct, frozen=True):
    """Part of the lake that an answer is made from.

    Attributes:
        first_at: first time of the window, by the producers' clocks.
        last_at: the window ends before this time.
        events: in the folders of its days.
        days_without_events: days of the window of which the lake holds no event.
        lake_begins: first day of which the lake holds events.
    """

    first_at: IsoTime
    last_at: IsoTime
    events: int
    days_without_events: list[str]
    lake_begins: str


class LakeReading:
    """Reader of one lake until a deadline.

    Attributes:
        begins: first day of which the lake holds events.
    """

    def __init__(
        self,
        lake: Lake,
        ask_catalog: AskCatalog,
        seconds: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Look into the manifest; read no event yet.

        Args:
            lake: to read.
            ask_catalog: begins a question to the catalog, which has the manifest.
            seconds: for which the lake may be read.
            monotonic: clock.

        Raises:
            NoDataError: the lake has no event.
        """
        self._lake, self._ask_catalog = lake, ask_catalog
        self._seconds, self._monotonic = seconds, monotonic
        self._ends = monotonic() + seconds
        with ask_catalog() as asked:
            [[first]] = asked.reader.rows(LAKE_BEGINS)
        if first is None:
            message = "the lake has no events yet: the pipeline writes them as it lands them"
            raise NoDataError(message)
        self.begins: str = first

    def describe(self, window: LakeSearchWindow) -> LakeRead:
        """Return what the lake has of a window.

        Raises:
            NoLongerKeptError: the window ends before the first day of the lake.
        """
        days = window.days
        if days[-1] < self.begins:
            message = (
                f"the lake holds events since {self.begins}, and none of {days[0]} to {days[-1]}:"
                " `retention_days` of the policy says how long it keeps them"
            )
            raise NoLongerKeptError(message)
        folders = self._list(window)
        found = {folder.event_date for folder in folders}
        return LakeRead(
            first_at=iso_of(window.after),
            last_at=iso_of(window.before),
            events=sum(folder.events for folder in folders),
            days_without_events=[day for day in days if day not in found],
            lake_begins=self.begins,
        )

    def search(
        self,
        window: LakeSearchWindow,
        words: Sequence[str],
        take: "Callable[[pa.RecordBatch], None]",
    ) -> None:
        """Give the events of a window that have one of these words to `take`, in small batches.

        Where the lake is compacted meanwhile, events may be given twice.

        Raises:
            LakeTooLargeError: the time is over.
            UnreachableLakeError: files cannot be read.
        """
        wanted = Search(window.after, window.before, tuple(words))

        def read(folders: Sequence[Folder]) -> None:
            for events in self._events(folders, wanted):
                self._require_time(window)
                if events.num_rows:
                    take(events)

        with _translated(self._lake):
            read_again(lambda: self._list(window), read)

    def _events(self, folders: Iterable[Folder], wanted: Search) -> "Iterator[pa.RecordBatch]":
        # Folder by folder, so that there is a look at the clock also where nothing is found.
        for folder in folders:
            yield from search_events(self._lake, [folder], wanted)

    def _list(self, window: LakeSearchWindow) -> list[Folder]:
        days = window.days
        with self._ask_catalog() as asked:
            return list_folders(asked.reader.rows, days[0], days[-1])

    def _require_time(self, window: LakeSearchWindow) -> None:
        if self._monotonic() > self._ends:
            message = (
                f"the events from {iso_of(window.after)} to {iso_of(window.before)} were not read"
                f" in {self._seconds:g} s: ask for a shorter time by from and to"
            )
            raise LakeTooLargeError(message)


@contextmanager
def open_reading(
    lake: Lake, ask_catalog: AskCatalog, seconds: float = SECONDS
) -> Iterator[LakeReading]:
    """Yield what reads the lake; one question at a time.

    Raises:
        BusyLakeError: another question is being answered.
        UnreachableLakeError: there is no lake.
        NoDataError: the lake has no event.
    """
    if lake.is_local and not lake.folder.is_dir():
        raise UnreachableLakeError(_NO_LAKE)
    if not _turn.acquire(blocking=False):
        raise BusyLakeError(_BUSY)
    try:
        yield LakeReading(lake, ask_catalog, seconds)
    finally:
        _turn.release()


@contextmanager
def _translated(lake: Lake) -> Iterator[None]:
    """Raise what a service answers, in place of errors of files and of S3."""
    import pyarrow as pa  # noqa: PLC0415 - `lineage.lake.reading` says why

    try:
        yield
    except LakeChangedError as error:
        raise UnreachableLakeError(str(error)) from error
    except (OSError, pa.ArrowInvalid) as error:
        text = str(error).partition("\n")[0][:_LONGEST_REASON]
        message = f"LINEWARD_LAKE_URL: the lake {lake.place} cannot be read: {text}"
        raise UnreachableLakeError(message) from error


class _Run(msgspec.Struct, frozen=True):
    run_id: str = msgspec.field(name="runId")


class _Event(msgspec.Struct, frozen=True):
    run: _Run


_decoder = msgspec.json.Decoder(_Event)


def run_id_of(body: bytes) -> str | None:
    """Return the id of the run that an event is of; None where only the pipeline can read it."""
    try:
        return _decoder.decode(body).run.run_id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None

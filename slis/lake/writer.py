"""Writer of the lake: first the files, then the rows that make them visible."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Final

import structlog
from sqlalchemy import Connection, Engine

from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.epochs import PIPELINE, check_epoch
from lineage.lake.manifest import Folder
from lineage.lake.storage import Lake
from lineage.process.clock import Clock
from slis.lake.committing import add_folders, find_committed
from slis.lake.identity import check_id
from slis.lake.names import FolderName, make_name
from slis.lake.starting import LakeStart, start_epoch

log = structlog.get_logger(__name__)

_MOST_DOUBTFUL: Final = 1_000


class LakeWriter:
    """Writer of one lake's folders, for one process of the pipeline with an epoch of its own.

    Attributes:
        engine: of the catalog.
        lake: to write to.
        kept: folders without a row that retention compared and must not delete.
    """

    def __init__(self, engine: Engine, lake: Lake, clock: Clock) -> None:
        """Write nothing yet.

        Args:
            engine: of the catalog.
            lake: to write to.
            clock: gives the time at which the epoch began.
        """
        self.engine = engine
        self.lake = lake
        self.kept: set[str] = set()
        self._clock = clock
        self._started: LakeStart | None = None
        self._lock = Lock()
        # Folders of this process whose rows may be absent: only the catalog knows.
        # The oldest are left to retention behind the next start, by `delete_unknown`.
        self._doubtful: deque[str] = deque(maxlen=_MOST_DOUBTFUL)

    @property
    def started(self) -> LakeStart:
        """Epoch and owner of what this process writes; the first use begins the epoch."""
        with self._lock:
            if self._started is None:
                self._started = start_epoch(self.engine, self.lake, self._clock())
            return self._started

    @contextmanager
    def turn(self) -> Iterator[Connection]:
        """Yield a transaction of the pipeline, unless a newer one has started.

        Raises:
            StaleEpochError: a newer pipeline has started.
        """
        epoch = self.started.epoch  # before the transaction: the first use has one of its own
        with exclusive_transaction(self.engine) as connection:
            check_epoch(connection, PIPELINE, epoch)
            yield connection

    def pass_over(self, store: Callable[[Connection], None]) -> None:
        """Write what goes with a part of the log that holds no event.

        Raises:
            StaleEpochError: a newer pipeline has started.
        """
        with self.turn() as connection:
            store(connection)

    def fence(self, connection: Connection) -> None:
        """Return if this process has no epoch yet, or if no newer pipeline has started since.

        Raises:
            StaleEpochError: a newer pipeline has started.
        """
        if self._started is not None:
            check_epoch(connection, PIPELINE, self._started.epoch)

    def check_place(self) -> None:
        """Return if the lake is still the one with which this process started.

        Raises:
            LakeMismatchError: another lake is at its place, or its volume is not mounted.
        """
        check_id(self.lake, self.started.lake_id)

    def name_folder(self, kind: str, first_seq: int, last_seq: int) -> FolderName:
        """Return the name of a new folder for this range of events."""
        started = self.started
        return make_name(kind, first_seq, last_seq, epoch=started.epoch, owner=started.owner)

    @contextmanager
    def folder(self, kind: str, first_seq: int, last_seq: int) -> Iterator[FolderName]:
        """Yield the name of a new folder; where its rows are not committed, it is deleted later."""
        name = self.name_folder(kind, first_seq, last_seq)
        with self._doubting(name.text):
            yield name

    def commit(self, connection: Connection, folders: Sequence[Folder]) -> None:
        """Add rows in the transaction of their batch, unless a newer pipeline has started.

        Raises:
            StaleEpochError: a newer pipeline has started.
        """
        self.fence(connection)
        add_folders(connection, folders)

    def give_up(self, name: FolderName) -> None:
        """Have the folder deleted later: its batch was committed before, from another folder."""
        self._doubtful.append(name.text)

    def try_delete_failed(self) -> None:
        """Delete as `delete_failed` does, or log what keeps it from that and go on.

        Events land also where the bucket allows no deletion.

        Raises:
            StaleEpochError: a newer pipeline has started.
        """
        try:
            self.delete_failed()
        except OSError as error:
            log.warning("lake_deletion_failed", folders=len(self._doubtful), error=str(error))

    def delete_failed(self) -> None:
        """Delete the folders of this process whose transaction failed.

        A commit that ended without an answer may have succeeded: the catalog decides, in a
        transaction for which that commit has to end.

        Raises:
            StaleEpochError: a newer pipeline has started.
            OSError: a folder could not be deleted; it is tried again.
        """
        for _ in range(len(self._doubtful)):
            try:
                # Taken out first: the stream and the compaction may do this at once.
                batch = self._doubtful.popleft()
            except IndexError:
                return
            with self._doubting(batch):
                self._delete_unless_known(batch)

    def _delete_unless_known(self, batch: str) -> None:
        with self.turn() as connection:
            is_known = bool(find_committed(connection, [batch]))
        if not is_known:
            self.lake.delete(batch)
            log.info("lake_folder_deleted", folder=batch, reason="its batch failed")

    @contextmanager
    def _doubting(self, batch: str) -> Iterator[None]:
        """Have a folder deleted later if what happens inside fails."""
        try:
            yield
        except BaseException:
            self._doubtful.append(batch)
            raise

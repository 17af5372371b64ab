"""Sender of recorded events to the collector; their origin is history unless another is given."""

from collections.abc import Iterable, Iterator

from lineage import origins
from service.errors import NotRunningError
from service.ingest.backfill_report import BackfillReport
from service.ingest.batching import batch_events
from service.ingest.collector_client import CollectorClient, Target, UnansweredError, read_token
from service.ingest.event_files import RecordedEvent
from service.ingest.event_uploader import EventUploader
from service.runtime.settings import Settings

_RETRY_SECONDS = 60.0


class BatchSender:
    """Posts batches to one collector, and tries again while it is busy or being restarted."""

    def __init__(
        self,
        settings: Settings,
        *,
        origin: str = origins.HISTORY,
        retry_seconds: float = _RETRY_SECONDS,
    ) -> None:
        self.settings = settings
        self._target = Target(
            url=settings.collector,
            origin=origin,
            token_file=settings.collector_token_file,
            secret_file=settings.reader_secret,
        )
        self._reach = CollectorClient(self._target, give_up_seconds=retry_seconds)
        self._poster = EventUploader(self._reach)
        self.report = BackfillReport()

    def require_collector(self) -> None:
        """See that it is there before anything is read.

        Raises:
            NotRunningError: nobody listens at its address.
            RejectedInputError: the token's file cannot be read.
        """
        if self._target.token_file is not None:
            read_token(self._target.token_file)
        if not self._reach.is_there():
            raise self._not_running("")

    def send(self, events: Iterable[RecordedEvent]) -> Iterator[int]:
        """Send them all, in their order; yields how many each batch held.

        Raises:
            NotRunningError: the collector went away and did not come back in time.
            RejectedInputError: it asks for a token, or for another one.
        """
        for lot in batch_events(events):
            for event in lot:
                if event.problem is not None:
                    self._reject(event, event.problem)
            if sound := [event for event in lot if event.problem is None]:
                self._post(sound)
            yield len(lot)

    def _post(self, batch: list[RecordedEvent]) -> None:
        try:
            rejected = self._poster.post(
                [event.body for event in batch],
                [f"{event.file}:{event.position}" for event in batch],
            )
        except UnansweredError as error:
            raise self._not_running(f" ({error})") from error
        for one in rejected:
            self._reject(batch[one.index], one.reason)
        self.report.taken += len(batch) - len(rejected)

    def _reject(self, event: RecordedEvent, reason: str) -> None:
        self.report.reject(str(event.file), event.position, reason)

    def _not_running(self, how: str) -> NotRunningError:
        taken = f" {self.report.taken} events were taken." if self.report.taken else ""
        message = (
            f"the collector does not answer at {self._target.url}{how}: start it with"
            f" `lineward up`.{taken} Running the command again sends nothing twice."
        )
        return NotRunningError(message)

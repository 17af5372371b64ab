"""Adapter by which actions post to the collector."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from runbooks.actions.errors import FailedActionError
from service.errors import RejectedInputError
from service.ingest.batching import batch_events
from service.ingest.collector_client import CollectorClient, Target, UnansweredError, detail_of
from service.ingest.event_uploader import EventUploader
from service.runtime.settings import Settings

_GIVE_UP_SECONDS = 30.0
_Found = TypeVar("_Found")


class _Body(NamedTuple):
    body: bytes


class CollectorAdapter:
    """Collector of these settings."""

    def __init__(self, settings: Settings, *, give_up_seconds: float = _GIVE_UP_SECONDS) -> None:
        self._settings = settings
        self._give_up_seconds = give_up_seconds

    def post(self, bodies: Sequence[bytes], origin: str) -> list[str]:
        """Post events with an origin; return the reasons of those that were rejected."""
        poster = EventUploader(self._reach(origin))
        rejected: list[str] = []
        for lot in batch_events(_Body(body) for body in bodies):
            found = self._answered(partial(poster.post, [one.body for one in lot]))
            rejected += [one.reason for one in found]
        return rejected

    def requeue(self, body: bytes, origin: str, number: int) -> str | None:
        """Post a rejected body again, and return the reason if it is rejected again."""
        reach, more = self._reach(origin), {"Lineward-Requeued": str(number)}
        answer = self._answered(lambda: reach.answered("/api/v1/lineage", body, more))
        return None if answer.is_success else detail_of(answer)

    def _reach(self, origin: str) -> CollectorClient:
        settings = self._settings
        target = Target(
            url=settings.collector,
            origin=origin,
            token_file=settings.collector_token_file,
            secret_file=settings.reader_secret,
        )
        return CollectorClient(target, give_up_seconds=self._give_up_seconds)

    def _answered(self, ask: Callable[[], _Found]) -> _Found:
        try:
            return ask()
        except (UnansweredError, RejectedInputError) as error:
            url = self._settings.collector
            message = f"the collector does not take it at {url}: {error}. Ask again: nothing is"
            raise FailedActionError(f"{message} repeated by that") from error

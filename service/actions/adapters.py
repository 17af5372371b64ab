"""Adapters by which actions use the collector, the graph, the parser of SQL, and the supervisor."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from runbooks.actions.action import Affected, Downstream, SqlTables
from runbooks.actions.errors import FailedActionError, InvalidActionError
from service.errors import RejectedInputError, UnknownDatasetError
from service.ingest.collector_client import CollectorClient, Target, UnansweredError, detail_of
from service.ingest.event_uploader import EventUploader, batch_events
from service.queries.catalog_session import open_session
from service.queries.dataset_lookup import resolve_dataset
from service.queries.impact import find_impact
from service.queries.roles import roles_of
from service.runtime.run_folder import request_restart
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
            secret_file=settings.sender_secret,
        )
        return CollectorClient(target, give_up_seconds=self._give_up_seconds)

    def _answered(self, ask: Callable[[], _Found]) -> _Found:
        try:
            return ask()
        except (UnansweredError, RejectedInputError) as error:
            url = self._settings.collector
            message = f"the collector does not take it at {url}: {error}. Ask again: nothing is"
            raise FailedActionError(f"{message} repeated by that") from error


class LineageAdapter:
    """Graph of the catalog of these settings."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def downstream(self, dataset: str, namespace: str | None) -> Downstream:
        """Return every downstream dataset."""
        with open_session(self._settings) as asked:
            try:
                named = resolve_dataset(asked.reader, dataset, namespace)
            except UnknownDatasetError as error:
                raise InvalidActionError(str(error)) from error
            found = find_impact(asked, named)
        affected = tuple(
            Affected(one.dataset_namespace, one.dataset, one.tier, one.owner, one.state)
            for one in found.affected
        )
        return Downstream(
            found.dataset_namespace, found.dataset, found.state, affected, found.partial_reason
        )


class SqlParser:
    """Parser of SQL in any dialect that its facet names."""

    def statements(self, text: str, dialect: str) -> list[SqlTables]:
        """Return the tables that each statement reads or writes; none if it cannot be parsed."""
        # The parser takes 30 MiB and is rarely needed.
        from slis.indicators.accuracy.sql_names import UnreadableSqlError, statements  # noqa: PLC0415

        try:
            found = statements(text, dialect)
        except UnreadableSqlError:
            return []
        return [SqlTables(one.reads, one.writes) for one in found]


class SupervisorAdapter:
    """Roles on the data folder of these settings, on this machine."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def roles(self) -> dict[str, str]:
        """Return the state of each role; empty when no supervisor runs there."""
        is_up, roles = roles_of(self._settings.data_dir)
        return {role.role: role.state for role in roles} if is_up else {}

    def ask_to_restart(self, role: str) -> None:
        """Have the supervisor stop the role, and start it again."""
        request_restart(self._settings.data_dir, role)

"""Adapter by which actions query the graph; it gives the results of the API."""

from runbooks.actions.action import Affected, Downstream
from runbooks.actions.errors import InvalidActionError
from service.errors import UnknownDatasetError
from service.queries.catalog_session import open_session
from service.queries.dataset_lookup import resolve_dataset
from service.queries.impact import impact
from service.runtime.settings import Settings


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
            found = impact(asked, named)
        affected = tuple(
            Affected(one.dataset_namespace, one.dataset, one.tier, one.owner, one.state)
            for one in found.affected
        )
        return Downstream(
            found.dataset_namespace, found.dataset, found.state, affected, found.partial_reason
        )

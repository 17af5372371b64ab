"""Queries to a running service over its API: states of datasets, and affected datasets."""

from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
import msgspec

from lab.gameday.truth_shapes import NamePattern
from service.errors import NotRunningError, RejectedInputError
from service.ingest.collector_client import read_token_file
from service.queries.incident_shapes import IncidentDetail
from service.queries.shapes import DatasetPage, DatasetRow

_MOST_DATASETS = 10_000
_Shape = TypeVar("_Shape")


class ServiceClient:
    """Service, as seen with the token."""

    def __init__(self, url: str, token_file: Path | None = None) -> None:
        self._url = url.rstrip("/")
        self._token_file = token_file
        self._client = httpx.Client(timeout=30.0, trust_env=False)

    def datasets(self, contains: str) -> dict[NamePattern, DatasetRow]:
        """Return the datasets with this in their name."""
        query = {"contains": contains, "limit": _MOST_DATASETS}
        page = self._get("/api/v1/datasets", DatasetPage, query)
        return {NamePattern(row.dataset_namespace, row.dataset): row for row in page.datasets}

    def affected_by(self, link: str) -> frozenset[NamePattern]:
        """Return the datasets in a message's full list, by the API of this address."""
        _, _, incident = urlsplit(link).path.rpartition("/")
        detail = self._get(f"/api/v1/incidents/{incident}", IncidentDetail)
        return frozenset(
            NamePattern(each.dataset_namespace, each.dataset) for each in detail.impacted
        )

    def _get(self, path: str, shape: type[_Shape], query: dict[str, Any] | None = None) -> _Shape:
        headers = {}
        if self._token_file is not None:
            headers["Authorization"] = f"Bearer {read_token_file(self._token_file)}"
        try:
            answer = self._client.get(f"{self._url}{path}", params=query, headers=headers)
        except httpx.TransportError as error:
            raise NotRunningError(f"--service {self._url} does not answer: {error}") from error
        if not answer.is_success:
            message = f"--service {self._url}{path}: HTTP {answer.status_code}: {answer.text[:200]}"
            raise RejectedInputError(message)
        try:
            return msgspec.json.decode(answer.content, type=shape)
        except msgspec.DecodeError as error:
            raise RejectedInputError(f"--service {self._url}{path}: {error}") from error

"""What a running service is asked over its API: how the datasets are, and who is hurt."""

from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
import msgspec

from runbooks.gameday.truth import Name
from service.answers.incident_shapes import IncidentDetail
from service.answers.shapes import DatasetPage, DatasetRow
from service.errors import NotRunningError, RejectedInputError
from service.reaching import read_token

_MOST_DATASETS = 10_000
_Shape = TypeVar("_Shape")


class Asked:
    """One service, as whoever holds the token sees it."""

    def __init__(self, url: str, token_file: Path | None = None) -> None:
        self._url = url.rstrip("/")
        self._token_file = token_file
        self._client = httpx.Client(timeout=30.0, trust_env=False)

    def datasets(self, contains: str) -> dict[Name, DatasetRow]:
        """Those with this in their name."""
        query = {"contains": contains, "limit": _MOST_DATASETS}
        page = self._get("/api/v1/datasets", DatasetPage, query)
        return {Name(row.dataset_namespace, row.dataset): row for row in page.datasets}

    def affected_datasets(self, link: str) -> frozenset[Name]:
        """Behind a message's full list, as the API of this address has that page."""
        _, _, incident = urlsplit(link).path.rpartition("/")
        detail = self._get(f"/api/v1/incidents/{incident}", IncidentDetail)
        return frozenset(Name(each.dataset_namespace, each.dataset) for each in detail.impacted)

    def _get(self, path: str, shape: type[_Shape], query: dict[str, Any] | None = None) -> _Shape:
        headers = {}
        if self._token_file is not None:
            headers["Authorization"] = f"Bearer {read_token(self._token_file)}"
        try:
            answer = self._client.get(f"{self._url}{path}", params=query, headers=headers)
        except httpx.TransportError as error:
            raise NotRunningError(f"--service {self._url} does not answer: {error}") from error
        if not answer.is_success:
            text = f"--service {self._url}{path}: HTTP {answer.status_code}: {answer.text[:200]}"
            raise RejectedInputError(text)
        try:
            return msgspec.json.decode(answer.content, type=shape)
        except msgspec.DecodeError as error:
            raise RejectedInputError(f"--service {self._url}{path}: {error}") from error

"""Asks the API as Marquez's clients do."""

from typing import Any

from litestar.testing import TestClient


def get(client: TestClient, path: str, **parameters: str | int) -> Any:  # noqa: ANN401 - JSON
    """Return the JSON of an answer, which has to be a 200."""
    answer = client.get(f"/api/v1{path}", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()

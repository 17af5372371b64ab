"""Queries of panels, sent to a real Prometheus."""

import time
from typing import Any

from tests.dashboards.boards import every_panel
from tests.suite.http_client import CLIENT

ALL = dict.fromkeys(("$tier", "$owner", "$dataset_namespace", "$dataset"), ".*")


class Prometheus:
    """Client of the Prometheus at this address."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}/api/v1"

    def run_query(self, expr: str, *, is_range: bool) -> list[Any]:
        """Return the series of the result: of now, or of the last half minute."""
        now = time.time()
        span = {"start": now - 30, "end": now, "step": 1} if is_range else {"time": now}
        path = "query_range" if is_range else "query"
        found = CLIENT.post(f"{self._url}/{path}", data={"query": expr, **span}, timeout=30).json()
        assert found["status"] == "success", f"{expr}: {found.get('error')}"
        return list(found["data"]["result"])


def fill_variables(expr: str, values: dict[str, str]) -> str:
    """Return the query with values for its variables."""
    # Replace long names first: one name may begin another.
    for name in sorted(values, key=len, reverse=True):
        expr = expr.replace(name, values[name])
    return expr


def list_targets() -> list[tuple[str, dict[str, Any]]]:
    """Return (dashboard, panel and letter; target) of all queries to Prometheus."""
    return [
        (f"{uid}: {panel['title']} {target['refId']}", target)
        for uid, panel in every_panel()
        for target in panel["targets"]
        if "expr" in target
    ]

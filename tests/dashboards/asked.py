"""What panels ask, asked of a real Prometheus."""

import time
from typing import Any

from tests.dashboards.boards import every_panel
from tests.suite.http_client import CLIENT

ALL = dict.fromkeys(("$tier", "$owner", "$dataset_namespace", "$dataset"), ".*")


class Prometheus:
    """Asks the one at this address."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}/api/v1"

    def ask(self, expr: str, *, is_range: bool) -> list[Any]:
        """The series of an answer: of this instant, or of the last half minute."""
        now = time.time()
        span = {"start": now - 30, "end": now, "step": 1} if is_range else {"time": now}
        path = "query_range" if is_range else "query"
        found = CLIENT.post(f"{self._url}/{path}", data={"query": expr, **span}, timeout=30).json()
        assert found["status"] == "success", f"{expr}: {found.get('error')}"
        return list(found["data"]["result"])


def filled(expr: str, values: dict[str, str]) -> str:
    """With values for its variables."""
    # The longest first: one's name begins another's.
    for name in sorted(values, key=len, reverse=True):
        expr = expr.replace(name, values[name])
    return expr


def targets() -> list[tuple[str, dict[str, Any]]]:
    """(dashboard, panel and letter; the question) of all that ask Prometheus."""
    return [
        (f"{uid}: {panel['title']} {target['refId']}", target)
        for uid, panel in every_panel()
        for target in panel["targets"]
        if "expr" in target
    ]

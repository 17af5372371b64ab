"""Where panels lead: a dashboard, a page of the explorer, a runbook.

The explorer's address is the variable `lineward` of each dashboard; what events named is encoded
by Grafana.
"""

from typing import Final

from dashboards.grafana.queries import NAMED
from dashboards.grafana.spec import Link

EXECUTIVE: Final = "lineward-executive"
ON_CALL: Final = "lineward-on-call"
DEBUG: Final = "lineward-debug"
BASE: Final = "${lineward}"
_CARRIED: Final = "${tier:queryparam}&${owner:queryparam}&${__url_time_range}"
_OF_ROW: Final = "${__data.fields.%s:percentencode}"
_OF_VARIABLE: Final = "${%s:percentencode}"


def on_call() -> Link:
    """What is broken, and who is hurt."""
    return Link("What is broken (on call)", f"/d/{ON_CALL}?{_CARRIED}")


def debug() -> Link:
    """How events fare on their way."""
    return Link("How events fare (debug)", f"/d/{DEBUG}?{_CARRIED}")


def page(title: str, path: str) -> Link:
    """A page of the explorer."""
    return Link(title, f"{BASE}{path}")


def runbook(name: str) -> Link:
    """What to do."""
    return Link(f"Runbook: {name}", f"{BASE}/runbooks/{name}")


def _dataset(form: str, prefix: str = "") -> str:
    return "&".join(f"{prefix}{name}={form % name}" for name in NAMED)


def of_dataset() -> tuple[Link, ...]:
    """Of the dataset that a row names."""
    around = _dataset(_OF_ROW, "var-")
    return (
        Link("Dataset in the explorer", f"{BASE}/dataset?{_dataset(_OF_ROW)}"),
        Link("Its neighbourhood and runs", f"/d/{DEBUG}?{around}&${{__url_time_range}}"),
    )


def of_variable() -> Link:
    """Of the dataset that is chosen."""
    return Link("Dataset in the explorer", f"{BASE}/dataset?{_dataset(_OF_VARIABLE)}")


def of_incident() -> tuple[Link, ...]:
    """Of the incident that a row names."""
    return (
        Link("Incident in the explorer", f"{BASE}/incidents/{_OF_ROW % 'incident'}"),
        Link("Runbook of its kind", f"{BASE}/runbooks/{_OF_ROW % 'kind'}"),
    )


def of_run() -> tuple[Link, ...]:
    """Of the run that a row names."""
    return (Link("Run in the explorer", f"{BASE}/runs/{_OF_ROW % 'run_id'}"),)

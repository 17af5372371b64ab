"""Links of panels: to a dashboard, a page of the explorer, a runbook.

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
# Neither dataset goes along: one dashboard has many, the other the one that is chosen.
_FILTERS: Final = "${tier:queryparam}&${owner:queryparam}"
_THEN: Final = "${__url_time_range}"
_OF_ROW: Final = "${__data.fields.%s:percentencode}"
_OF_VARIABLE: Final = "${%s:percentencode}"


def board(uid: str, *, then: bool) -> str:
    """Link to a dashboard with the same filters; `then` also keeps the time range."""
    return f"/d/{uid}?{_FILTERS}" + (f"&{_THEN}" if then else "")


def on_call(*, then: bool = False) -> Link:
    """Link to the affected datasets, now or at the time shown."""
    return Link("On-call dashboard", board(ON_CALL, then=then))


def debug(*, then: bool = False) -> Link:
    """Return the link to the debug dashboard: now, or at the time that is shown here."""
    return Link("Debug dashboard", board(DEBUG, then=then))


def page(title: str, path: str) -> Link:
    """Link to a page of the explorer."""
    return Link(title, f"{BASE}{path}")


def runbook(name: str) -> Link:
    """Link to a runbook."""
    return Link(f"Runbook: {name}", f"{BASE}/runbooks/{name}")


def _dataset(form: str, prefix: str = "") -> str:
    return "&".join(f"{prefix}{name}={form % name}" for name in NAMED)


def of_dataset() -> tuple[Link, ...]:
    """Return the links of the dataset that a row names."""
    around = _dataset(_OF_ROW, "var-")
    return (
        Link("Dataset in the explorer", f"{BASE}/dataset?{_dataset(_OF_ROW)}"),
        Link("Lineage and runs", f"/d/{DEBUG}?{around}"),
    )


def of_variable() -> Link:
    """Return the link of the dataset that is chosen."""
    return Link("Dataset in the explorer", f"{BASE}/dataset?{_dataset(_OF_VARIABLE)}")


def of_incident() -> tuple[Link, ...]:
    """Return the links of the incident that a row names."""
    return (
        Link("Incident in the explorer", f"{BASE}/incidents/{_OF_ROW % 'incident'}"),
        Link("Runbook of this kind", f"{BASE}/runbooks/{_OF_ROW % 'kind'}"),
    )


def of_run() -> tuple[Link, ...]:
    """Return the links of the run that a row names."""
    return (Link("Run in the explorer", f"{BASE}/runs/{_OF_ROW % 'run_id'}"),)

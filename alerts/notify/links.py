"""Links, built from the configured address; names from events are quoted."""

from urllib.parse import quote, urlencode

from alerts.notify.incident_summary import IncidentSummary
from alerts.notify.message import MessageLinks
from alerts.notify.settings import RoutingSettings

_RUNBOOKS = "/runbooks"
_DASHBOARD = "/d/lineward-on-call"


def links_of(summary: IncidentSummary, settings: RoutingSettings) -> MessageLinks:
    """Return the links of one incident."""
    return MessageLinks(
        explorer=_explorer(summary.dataset, settings),
        runbook=runbook_link(summary.runbook, settings),
        dashboard=_dashboard(summary.dataset, settings),
        full_list=full_list(summary.incident.id, settings),
    )


def full_list(incident_id: str | None, settings: RoutingSettings) -> str:
    """Return the link to all datasets of an incident, or to all incidents."""
    path = "/incidents" if incident_id is None else incident_at(incident_id)
    return _base(settings.public_url) + path


def runbook_link(name: str | None, settings: RoutingSettings) -> str | None:
    """Return the link to the runbook of an alert or of a kind of fault."""
    return f"{_base(settings.public_url)}{_RUNBOOKS}/{quote(name, safe='')}" if name else None


def _explorer(dataset: tuple[str, str] | None, settings: RoutingSettings) -> str | None:
    if dataset is None:
        return None
    return _base(settings.public_url) + dataset_at(*dataset)


def _dashboard(dataset: tuple[str, str] | None, settings: RoutingSettings) -> str | None:
    """Return the address in Grafana; None: the address of Grafana is not set."""
    if settings.dashboards_url is None:
        return None
    url = _base(settings.dashboards_url) + _DASHBOARD
    if dataset is None:
        return url
    asked = url_query(**{"var-dataset_namespace": dataset[0], "var-dataset": dataset[1]})
    return f"{url}?{asked}"


def dataset_at(namespace: str, name: str) -> str:
    """Return the path of a dataset's page; the audit reads the namespace in it."""
    return f"/dataset?{url_query(dataset_namespace=namespace, dataset=name)}"


def incident_at(incident_id: str) -> str:
    """Return the path of an incident's page."""
    return f"/incidents/{quote(incident_id, safe='')}"


def url_query(**asked: str) -> str:
    """Return names and values as the query of a URL."""
    return urlencode(asked, quote_via=quote, errors="replace")


def _base(url: str) -> str:
    return url.rstrip("/")

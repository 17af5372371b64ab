"""Where each page is. The link to a dataset names its namespace: the audit reads it there."""

from urllib.parse import quote, urlencode


def dataset_at(namespace: str, name: str) -> str:
    """The page of a dataset."""
    return f"/dataset?{_query(dataset_namespace=namespace, dataset=name)}"


def datasets_at(**filters: str | int | None) -> str:
    """The list of datasets; what is null or empty filters nothing."""
    asked = _query(**{name: str(value) for name, value in filters.items() if value})
    return f"/datasets?{asked}" if asked else "/datasets"


def incident_at(incident_id: str) -> str:
    """The page of an incident."""
    return f"/incidents/{quote(incident_id, safe='')}"


def run_at(run_id: str) -> str:
    """The page of a run."""
    return f"/runs/{quote(run_id, safe='')}"


def diff_at(first: str, second: str) -> str:
    """The page of what differs between two runs."""
    return f"{run_at(first)}/diff/{quote(second, safe='')}"


def _query(**asked: str) -> str:
    return urlencode(asked, quote_via=quote, errors="replace")

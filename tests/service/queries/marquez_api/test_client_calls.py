"""Calls of marquez-python 0.50.0, as it makes them.

The package is no requirement: it installs a package called `tests`, which would hide this one.
"""

from typing import Any
from urllib.parse import quote

import pytest

from tests.service.queries.marquez_api.warehouse import AIRFLOW, LOAD, NAMESPACE, ORDERS, RUNS

pytestmark = pytest.mark.postgres_nightly

_PAGE = {"limit": 100, "offset": 0}  # the client always sends both
_VERSION = object()  # of the newest write
# Method, path, names that fill it in, parameters, keys of the answer that its documentation shows.
_CALLS: tuple[tuple[str, str, tuple[Any, ...], dict[str, int], set[str]], ...] = (
    ("list_namespaces", "/namespaces", (), _PAGE, {"namespaces"}),
    ("get_namespace", "/namespaces/{0}", (NAMESPACE,), {}, {"name", "ownerName", "createdAt"}),
    ("list_sources", "/sources", (), _PAGE, {"sources"}),
    ("get_source", "/sources/{0}", (NAMESPACE,), {}, {"type", "name", "connectionUrl"}),
    ("list_datasets", "/namespaces/{0}/datasets", (NAMESPACE,), _PAGE, {"datasets"}),
    (
        "get_dataset",
        "/namespaces/{0}/datasets/{1}",
        (NAMESPACE, ORDERS),
        {},
        {"id", "type", "physicalName", "sourceName", "fields", "tags", "lastModifiedAt"},
    ),
    (
        "list_dataset_versions",
        "/namespaces/{0}/datasets/{1}/versions",
        (NAMESPACE, ORDERS),
        _PAGE,
        {"versions", "totalCount"},
    ),
    (
        "get_dataset_version",
        "/namespaces/{0}/datasets/{1}/versions/{2}",
        (NAMESPACE, ORDERS, _VERSION),
        {},
        {"id", "version", "createdByRun", "fields"},
    ),
    ("list_jobs", "/namespaces/{0}/jobs", (AIRFLOW,), _PAGE, {"jobs", "totalCount"}),
    (
        "get_job",
        "/namespaces/{0}/jobs/{1}",
        (AIRFLOW, LOAD),
        {},
        {"id", "type", "inputs", "outputs", "latestRun", "location", "createdAt", "updatedAt"},
    ),
    ("list_job_runs", "/namespaces/{0}/jobs/{1}/runs", (AIRFLOW, LOAD), _PAGE, {"runs"}),
    (
        "get_job_run",
        "/jobs/runs/{0}",
        (RUNS[12],),
        {},
        {"id", "state", "createdAt", "updatedAt", "nominalStartTime", "args"},
    ),
    ("list_tags", "/tags", (), {}, {"tags"}),
)


@pytest.mark.parametrize(
    ("path", "names", "parameters", "keys"),
    [call[1:] for call in _CALLS],
    ids=[call[0] for call in _CALLS],
)
def test_a_call_of_the_client_is_answered(client, path, names, parameters, keys):
    """Encode each name whole, and take any 2xx with JSON, as the client does."""
    if _VERSION in names:
        listed = client.get(f"/api/v1/namespaces/{NAMESPACE}/datasets/{ORDERS}/versions").json()
        names = (*names[:-1], listed["versions"][0]["version"])
    encoded = [quote(name.encode(), safe="") for name in names]

    answer = client.get(f"/api/v1{path.format(*encoded)}", params=parameters)

    assert answer.status_code == 200, answer.text
    assert answer.json().keys() >= keys


def test_the_calls_are_thirteen():
    """Count the calls as the comparison of clients does."""
    assert len({name for name, *_ in _CALLS}) == 13

"""Description of the service in OpenAPI, which every answer follows."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from litestar.testing import TestClient
from schemathesis import APIOperation, Case
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from sqlalchemy import Engine, insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from service.api import app
from service.api.app import create_app
from service.queries.lake.windows import time_of_id
from service.queries.marquez_api.ids import version_id
from service.runtime.settings import Settings
from tests.service import shop
from tests.service.api_lists import LISTS
from tests.service.queries.lake.stored_events import lay_events
from tests.service.queries.marquez_api.warehouse import write_row
from tests.slis.stream.spools import run_event
from tests.suite.examples import is_long

_CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]
# The same examples each time.
_FEW = settings(
    max_examples=25 if is_long() else 12,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
# What would be done waits for an evaluation, which nobody makes here.
_WAITS = "/api/v1/incidents/{incident_id}/{action}"
_KNOWN = {
    "dataset": shop.CORE,
    "dataset_namespace": shop.NAMESPACE,
    "run_id": shop.RUN_ID,
    "first": shop.RUN_ID,
    "second": "run-10",
    "incident_id": "inc-010",
    "nodeId": f"dataset:{shop.NAMESPACE}:{shop.CORE}",
    "state": "bad",
    "at": "2026-11-20T12:00:00Z",
    "before": "2026-11-21",
    "after": "2026-11-20",
    "namespace": shop.NAMESPACE,
    "source": shop.NAMESPACE,
    "job_namespace": "jobs",
    "job": "etl.insert",
    "version": version_id(shop.at(2), shop.RUN_ID),
    "timezone": "Europe/London",
    "from": "2026-11-20",
    "to": "2026-11-20",
}


@pytest.fixture
def client(catalog: Engine, tmp_path: Path) -> Iterator[TestClient]:
    """Start the API over the shop, with some rows of every list."""
    shop.fill(catalog)
    for one in LISTS:
        one.add(catalog, range(10, 14))
    with write_transaction(catalog) as connection:
        row = {**write_row(shop.dataset_key(shop.CORE), 10, 2), "root_run_id": shop.RUN_ID}
        connection.execute(insert(tables.dataset_write), [row])
    started_at = time_of_id(shop.RUN_ID)
    assert started_at is not None
    lay_events(catalog, tmp_path, [run_event("COMPLETE", started_at, run=shop.RUN_ID)])
    url = catalog.url.render_as_string(hide_password=False)
    settings = Settings(catalog_url=url, data_dir=tmp_path)
    with TestClient(
        create_app(settings), base_url="http://127.0.0.1", raise_server_exceptions=False
    ) as client:
        yield client


def _validated_status(client: TestClient, case: Case) -> int:
    """Return the status of an answer that follows its description."""
    asked = case.as_transport_kwargs(base_url="http://127.0.0.1")
    known = ("method", "url", "params", "headers", "json", "content")
    answer = client.request(**{name: asked[name] for name in known if asked.get(name) is not None})
    case.validate_response(answer, checks=_CHECKS)
    return answer.status_code


def _of_the_shop(case: Case) -> None:
    """Replace random names by those that exist, as others find nothing."""
    for name in case.query or {}:
        case.query[name] = _KNOWN.get(name, case.query[name])
    for name in case.path_parameters or {}:
        if name in _KNOWN:  # what is here is encoded
            case.path_parameters[name] = quote(_KNOWN[name], safe="")


def _statuses(client: TestClient, operation: APIOperation) -> set[int]:
    """Return the statuses of an operation for random requests, and for names that exist."""
    statuses: set[int] = set()

    @_FEW
    @given(case=operation.as_strategy())
    def ask(case: Case) -> None:
        statuses.add(_validated_status(client, case))
        _of_the_shop(case)
        statuses.add(_validated_status(client, case))

    ask()
    return statuses


def test_every_answer_follows_its_description(client):
    """Answer without 5xx, with a described status, media type and body."""
    schema = schemathesis.openapi.from_dict(client.get("/schema").json())
    operations = [found.ok() for found in schema.get_all_operations()]

    answered = {
        operation.label: _statuses(client, operation)
        for operation in operations
        if operation.path != _WAITS
    }

    never_ok = {label for label, codes in answered.items() if 200 not in codes}
    assert len(answered) > 20
    assert {label for label in never_ok if label.startswith("GET")} == set()


@pytest.mark.postgres_nightly
def test_an_answer_that_differs_from_its_description_is_found(client):
    """Run the mutant of the test above: describe one answer differently."""
    answer = client.get("/schema").json()
    answer["components"]["schemas"]["DatasetPage"]["properties"]["total"] = {"type": "string"}
    schema = schemathesis.openapi.from_dict(answer)

    with pytest.raises(FailureGroup, match="violates schema"):
        _statuses(client, schema["/api/v1/datasets"]["GET"])


_NOWHERE = (
    "/api/v1/dataset?dataset=a%00b",
    "/api/v1/incidents/a%00b",
    "/api/v1/datasets?contains=%00",
    "/api/v1/lineage?nodeId=dataset:a:%00",
)


@pytest.mark.parametrize("path", _NOWHERE)
def test_a_nul_is_rejected_with_a_reason(client, path):
    """Answer 400, as PostgreSQL stores no NUL."""
    rejected = client.get(path)

    assert (rejected.status_code, "NUL" in rejected.json()["detail"]) == (400, True)


def test_a_nul_in_a_body_is_rejected_and_a_backslash_is_not(client):
    """Find the NUL by its escape in JSON."""
    codes = [
        client.post(
            "/api/v1/suppressions",
            content=b'{"pattern": "s3://shop/*", "for": "1h", "reason": "%s"}' % reason,
            headers={"content-type": "application/json"},
        ).status_code
        for reason in (rb"a\u0000", rb"a\\u0000")
    ]

    assert codes == [400, 201]


def test_without_the_check_a_nul_would_fail_in_postgresql(client, catalog, monkeypatch):
    """Run the mutant of both: leave out the check."""
    monkeypatch.setattr(app, "reject_nul", lambda _request: None)

    code = client.get(_NOWHERE[0]).status_code

    assert code == (404 if catalog.dialect.name == "sqlite" else 500)


@pytest.mark.postgres_nightly
def test_every_error_is_described_as_problem_json(client):
    """Describe errors of every operation, and none of the framework's own."""
    answer = client.get("/schema").json()
    operations = [one for path in answer["paths"].values() for one in path.values()]

    rejections = [
        {code: list(text["content"]) for code, text in one["responses"].items() if code >= "4"}
        for one in operations
    ]
    assert rejections == [{"default": ["application/problem+json"]}] * len(operations)
    assert answer["components"]["schemas"]["Problem"]["required"] == ["title", "status", "detail"]


@pytest.mark.postgres_nightly
def test_bodies_of_requests_are_described(client):
    """Describe the schema of each body."""
    answer = client.get("/schema").json()

    bodies = {
        path: item["post"]["requestBody"]["content"]["application/json"]["schema"]
        for path, item in answer["paths"].items()
        if "post" in item
    }
    assert len(bodies) == 4
    assert bodies["/api/v1/suppressions"] == {"$ref": "#/components/schemas/SuppressionRequest"}
    assert answer["components"]["schemas"]["SuppressionRequest"]["required"] == [
        "pattern",
        "reason",
    ]

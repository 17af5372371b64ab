"""Requests to all paths of the API, with a token for one namespace."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from sqlalchemy import Table, insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from tests.service import shop
from tests.service.api.access.estate import Estate
from tests.service.api_lists import set_aside_row
from tests.service.queries.lake.stored_events import lay_events
from tests.service.shop_columns import edge_row
from tests.slis.stream.spools import Event, run_event

pytestmark = pytest.mark.postgres_nightly

VAULT = "s3://vault"
RUN = "0195f1c2-7f8e-7000-8000-00000000beef"
_WORD = re.compile(r"zebra|vault", re.IGNORECASE)
_CORE = "dataset=core/orders&dataset_namespace=s3://shop"
_RAW = "dataset=raw/orders&dataset_namespace=s3://shop"
_AROUND = [_CORE, f"{_CORE}&depth=10", _RAW, f"{_RAW}&depth=10", "dataset=mart/daily"]
_GUESSED = ["dataset=salaries", "dataset=zebra/salaries", f"dataset=x&dataset_namespace={VAULT}"]
_DAY = "from=2026-11-20&to=2026-11-20"
_SHOP = "/api/v1/namespaces/s3%3A%2F%2Fshop"
_VAULT = "/api/v1/namespaces/s3%3A%2F%2Fvault"
_LISTED = ["", "?limit=1", "?limit=1&offset=1"]
_INCIDENTS = ["inc-hidden-root", "inc-hidden-job", "inc-hidden-member", "inc-nobody"]
# Every way with a GET; the words behind it are asked one after the other.
_ASKED: dict[str, list[str]] = {
    "/": [""],
    "/datasets": ["", "?find=zeb", "?owner=zebra-team", "?state=bad", "?tier=critical"],
    "/dataset": [f"?{one}" for one in (_CORE, _RAW, *_GUESSED)],
    "/incidents": ["", "?all=true"],
    "/incidents/{incident_id:str}": [f"/incidents/{one}" for one in _INCIDENTS],
    "/runs/{run_id:str}": [f"/runs/{one}" for one in (RUN, shop.RUN_ID)],
    "/runs/{first:str}/diff/{second:str}": [f"/runs/{RUN}/diff/{shop.RUN_ID}"],
    "/unsourced-reads": ["", "?hours=720"],
    "/rejected-events": ["", "?reason=zebra"],
    "/pipeline-errors": ["", "?reason=zebra"],
    "/access-audit": ["", "?who=zebra"],
    "/jobs": ["", "?find=zebra"],
    "/set-aside-events": ["", "?all=true"],
    "/login": [""],
    "/api/v1/datasets": ["", "?contains=zeb", "?owner=zebra-team", "?limit=1", "?state=bad"],
    "/api/v1/dataset": [f"?{one}" for one in (_CORE, _RAW, *_GUESSED)],
    "/api/v1/why": [f"?{one}" for one in (_CORE, _RAW, *_GUESSED)],
    "/api/v1/history": [f"?{_CORE}"],
    "/api/v1/lineage": [
        *(f"?{one}" for one in (*_AROUND, *_GUESSED)),
        *(f"?{one}&at=2026-11-21T00:00:00Z" for one in _AROUND),
        *("?nodeId=job:jobs:etl", "?nodeId=dataset:s3://shop:core/orders&depth=5"),
        *("?nodeId=job:jobs:zebra_job", f"?nodeId=dataset:{VAULT}:zebra/salaries"),
    ],
    "/api/v1/columns": [f"?{one}" for one in (_CORE, _RAW, *_GUESSED)],
    "/api/v1/column-lineage": [
        *(f"?{_CORE}&column=id", f"?{_CORE}&column=zebra_id", "?dataset=zebra/salaries&column=id"),
        "?nodeId=datasetField:s3://shop:core/orders:id&withDownstream=true",
        f"?nodeId=datasetField:{VAULT}:zebra/salaries:zebra_id",
    ],
    "/api/v1/impact": [f"?{one}" for one in (_CORE, _RAW, *_GUESSED)],
    "/api/v1/graph/nodes": [f"?{one}" for one in (*_AROUND, *_GUESSED)],
    "/api/v1/graph/edges": [f"?{one}" for one in (*_AROUND, *_GUESSED)],
    "/api/v1/runs": [f"?{one}" for one in (_CORE, _RAW, *_GUESSED)],
    "/api/v1/runs/{run_id:str}": [f"/api/v1/runs/{one}" for one in (RUN, shop.RUN_ID)],
    "/api/v1/lake/runs": [f"?{one}&{_DAY}" for one in (_CORE, _RAW, *_GUESSED)],
    "/api/v1/lake/runs/{run_id:str}": [
        f"/api/v1/lake/runs/{one}?{_DAY}" for one in (RUN, shop.RUN_ID)
    ],
    "/api/v1/unsourced-reads": ["", "?hours=720"],
    "/api/v1/rejected-events": [""],
    "/api/v1/pipeline-errors": [""],
    "/api/v1/access-audit": ["", "?who=zebra"],
    "/api/v1/last-runs": ["", "?contains=zebra"],
    "/api/v1/diff": [f"?first={RUN}&second={shop.RUN_ID}", "?job=zebra_job", "?job=etl"],
    "/api/v1/incidents": ["", "?all=true", "?limit=1"],
    "/api/v1/incidents/{incident_id:str}": [f"/api/v1/incidents/{one}" for one in _INCIDENTS],
    "/api/v1/slis": [""],
    "/api/v1/status": [""],
    "/api/v1/suppressions": ["", "?ended=true"],
    "/api/v1/audit": [""],
    "/api/v1/set-aside-events": ["", "?all=true"],
    "/api/v1/actions": [""],
    "/api/v1/namespaces": _LISTED,
    "/api/v1/namespaces/{namespace:str}": [_SHOP, _VAULT, "/api/v1/namespaces/jobs"],
    "/api/v1/sources": _LISTED,
    "/api/v1/sources/{source:str}": ["/api/v1/sources/s3%3A%2F%2Fvault"],
    "/api/v1/tags": _LISTED,
    "/api/v1/jobs": [*_LISTED, "?lastRunStates=FAILED"],
    "/api/v1/namespaces/{job_namespace:str}/jobs": ["/api/v1/namespaces/jobs/jobs"],
    "/api/v1/namespaces/{job_namespace:str}/jobs/{job:str}": [
        f"/api/v1/namespaces/jobs/jobs/{one}" for one in ("zebra_job", "etl.insert")
    ],
    "/api/v1/namespaces/{job_namespace:str}/jobs/{job:str}/runs": [
        f"/api/v1/namespaces/jobs/jobs/{one}/runs" for one in ("zebra_job", "etl.insert")
    ],
    "/api/v1/jobs/runs/{run_id:str}": [f"/api/v1/jobs/runs/{one}" for one in (RUN, shop.RUN_ID)],
    "/api/v1/jobs/runs/{run_id:str}/facets": [
        f"/api/v1/jobs/runs/{one}/facets?type={kind}"
        for one in (RUN, shop.RUN_ID)
        for kind in ("run", "job")
    ],
    "/api/v1/namespaces/{dataset_namespace:str}/datasets": [f"{_SHOP}/datasets"],
    "/api/v1/namespaces/{dataset_namespace:str}/datasets/{dataset:str}": [
        *(f"{_SHOP}/datasets/core%2Forders", f"{_VAULT}/datasets/zebra%2Fsalaries"),
    ],
    "/api/v1/namespaces/{dataset_namespace:str}/datasets/{dataset:str}/versions": [
        *(f"{_SHOP}/datasets/core%2Forders/versions", f"{_VAULT}/datasets/zebra/versions"),
    ],
    "/api/v1/namespaces/{dataset_namespace:str}/datasets/{dataset:str}/versions/{version:str}": [
        f"{_SHOP}/datasets/core%2Forders/versions/{RUN}"
    ],
    "/api/v1/search": ["?q=zebra", "?q=o", "?q=e&filter=job&sort=updated_at"],
    "/api/v2beta/search/jobs": ["?q=zebra", "?q=e"],
    "/api/v2beta/search/datasets": ["?q=zebra", "?q=o"],
    "/api/v1/events/lineage": [""],
    "/api/v1/stats/lineage-events": ["?period=DAY", "?period=WEEK&timezone=UTC"],
    "/listener/{name:str}": ["/listener/openlineage-spark_2.13.jar"],
    "/livez": [""],
    "/readyz": [""],
    "/runbooks": [""],
    "/runbooks/{name:str}": ["/runbooks/access"],
    "/schema": [""],
    "/schema/openapi.json": [""],
}


@pytest.fixture
def hidden(estate: Estate) -> Estate:
    """Add a job that reads the shop and writes the vault, and incidents across both."""
    _fill(estate)
    lay_events(estate.catalog, estate.settings.data_dir, [_old_event()])
    return estate


def _old_event() -> Event:
    """Return an event of that job in the lake."""
    event = run_event("COMPLETE", shop.DAY + timedelta(hours=2), run=RUN, job="zebra_job")
    event["inputs"] = [{"namespace": "s3://shop", "name": shop.RAW}]
    event["outputs"] = [
        {"namespace": "s3://shop", "name": shop.CORE},
        {"namespace": VAULT, "name": "zebra/salaries"},
    ]
    return event


def _fill(estate: Estate) -> None:
    shop.add_dataset(estate.catalog, VAULT, "zebra/salaries")
    vault = key(VAULT, "zebra/salaries")
    raw, core, mart = (shop.dataset_key(name) for name in (shop.RAW, shop.CORE, shop.MART))
    job = {"job_namespace": "jobs", "job_name": "zebra_job"}
    seen = {"first_seen_at": shop.at(0), "last_seen_at": shop.at(3), "runs": 3}
    edges = [(raw, vault), (vault, core)]
    texts = ("error_message", "code_url", "code_path", "code_tag", "code_branch", "job_version")
    of_run = {
        **(shop.run_row() | job | dict.fromkeys(texts, "https://zebra/vault")),
        "run_key": 99,
        "run_id": RUN,
        "root_run_id": RUN,
        "root_job_name": "zebra_job",
        "spark_conf": '{"zebra":"vault"}',
        "parameters": '{"vault":"zebra"}',
        "tags": '[{"key":"vault","value":"zebra"}]',
    }
    ios = [(99, raw, "read"), (99, vault, "write"), (99, core, "write")]
    with write_transaction(estate.catalog) as connection:

        def add(table: Table, *rows: dict[str, Any]) -> None:
            connection.execute(insert(table), list(rows))

        ends = [{"upstream_key": up, "downstream_key": down} for up, down in edges]
        add(tables.edge, *({**one, "job_key": 77, **job, **seen} for one in ends))
        add(tables.column_edge, edge_row(raw, "id", core, "id", _HOW))
        add(tables.column_edge, edge_row(vault, "zebra_id", core, "id", _HOW))
        add(tables.column_edge, edge_row(core, "id", vault, "zebra_id", _HOW))
        add(tables.run, of_run)
        add(tables.run_io, *(shop.io_row(*one) for one in ios))
        add(tables.description, *(_description_row(*one) for one in _TEXTS))
        tag = {"dataset_key": core, "tag": "pii", "value": "zebra", "last_seen_at": 1}
        add(tables.tag, tag)
        add(tables.field_tag, {**tag, "tag_key": 1, "field": "id"})
        add(tables.event_set_aside, _SET_ASIDE)
        add(tables.incident, *(_incident(*one) for one in _ROOTS))
        for number, members in {
            "inc-hidden-root": [(vault, 0, None), (core, 1, vault)],
            "inc-hidden-job": [(core, 0, None)],
            "inc-hidden-member": [(raw, 0, None), (vault, 1, raw), (mart, 2, vault)],
        }.items():
            add(tables.incident_member, *(_member(number, *one) for one in members))
            add(tables.incident_event, *(_event(number, revision) for revision in (1, 2)))
            impact = {"incident_id": number, "hops": 1}
            add(tables.incident_impact, *(impact | {"dataset_key": one} for one in (vault, mart)))


_HOW = [{"type": "DIRECT", "description": "zebra.id joined with the vault"}]
_TEXTS = [
    ("dataset", key("s3://shop", shop.CORE), "joined with zebra/salaries"),
    ("fields", key("s3://shop", shop.CORE), '{"id":"that of zebra/salaries"}'),
    ("job", key("jobs", "etl"), "reads zebra/salaries"),
]
_SET_ASIDE = set_aside_row(7, error="no column zebra in the vault", job_name="zebra_job")
_ROOTS = [
    ("inc-hidden-root", "dataset", VAULT, "zebra/salaries"),
    ("inc-hidden-job", "job", "jobs", "zebra_job"),
    ("inc-hidden-member", "dataset", "s3://shop", shop.RAW),
]


def _description_row(subject: str, subject_key: int, text: str) -> dict[str, Any]:
    return {"subject": subject, "subject_key": subject_key, "text": text, "last_seen_at": 1}


def _incident(number: str, entity: str, namespace: str, name: str) -> dict[str, Any]:
    texts = dict.fromkeys(("life", "because", "evidence", "correlation_id"), "zebra in the vault")
    flags = dict.fromkeys(("is_bridged", "is_flapping", "is_frozen"), False)
    root = {"root_entity": entity, "root_key": 1, "root_kind": "failed"}
    return {
        **(texts | flags | root),
        "incident_id": number,
        "state": "open",
        "revision": 1,
        "is_remembered": True,
        "what": f"{name} failed",
        "root_namespace": namespace,
        "root_name": name,
        "severity": "page",
        "score": 1.0,
        "owner": f"{name.partition('/')[0]}-team",
        "onset": shop.at(1),
        "seen_at": shop.at(2),
        "opened_at": shop.at(1),
        "diagnosis": '{"zebra":"vault"}',
    }


def _member(number: str, dataset: int, steps: int, by: int | None) -> dict[str, Any]:
    named = {"incident_id": number, "dataset_key": dataset, "kind": "failed", "steps": steps}
    at = {"onset": shop.at(1), "joined_at": shop.at(1), "run_id": RUN, "job_key": 77}
    return {**named, **at, "explained_by": by, "relays": "[]"}


def _event(number: str, revision: int) -> dict[str, Any]:
    fields = {"what": "opened", "reason": "the zebra left the vault", "by": None, "detail": "{}"}
    return {"incident_id": number, "revision": revision, "at": shop.at(revision), **fields}


def _paths(estate: Estate) -> set[str]:
    routes = estate.client.app.routes  # type: ignore[attr-defined]
    found = {route.path for route in routes if "GET" in getattr(route, "methods", ())}
    return {path for path in found if "schema/" not in path or path == "/schema/openapi.json"}


def test_every_path_is_requested(hidden):
    """Compare with the handlers, so that a new one is requested too."""
    assert _paths(hidden) == set(_ASKED)


def test_no_answer_and_no_header_names_what_is_hidden(hidden):
    """Request each path in each form; an answer may repeat the request."""
    for path, forms in _ASKED.items():
        for words in forms:
            asked = words if words.startswith("/") else path + words
            for headers in ({}, {"If-None-Match": '"zzz"'}, {"Accept": "text/html"}):
                answer = hidden.get(asked, "shop", **headers)
                assert answer.status_code < 500, asked
                assert not _WORD.search(_remaining_text(answer, asked)), (asked, answer.text)


def _remaining_text(answer: httpx.Response, asked: str) -> str:
    """Return body and headers of an answer without the texts of the request."""
    answered = answer.text + str(dict(answer.headers))
    for word in _parts_of_request(asked):
        answered = answered.replace(word, "")
    return answered


def _parts_of_request(asked: str) -> list[str]:
    """Return the parts of a request that an answer may repeat, the longest first."""
    segments = [unquote(one) for one in asked.partition("?")[0].split("/")]
    values = segments + re.findall(r"[=/]([^=&?]+)", asked) + re.findall(r"=([^=&]+)", asked)
    parts = [
        part
        for one in values
        for part in (one, one.partition(":")[2], one.rpartition("/")[2], one.rpartition(":")[2])
    ]
    return sorted(filter(None, parts), key=len, reverse=True)


def test_a_token_for_everything_gets_the_hidden_names(hidden):
    """Run the mutant of the test above: find the words with a token for everything."""
    found = {
        path: bool(_WORD.search(hidden.get(path, "boss").text))
        for path in (
            *(
                "/api/v1/datasets",
                f"/api/v1/columns?{_CORE}",
                f"/api/v1/runs/{RUN}",
                f"/api/v1/runs?{_RAW}",
                f"/api/v1/lake/runs?{_RAW}&{_DAY}",
                f"/api/v1/lake/runs/{RUN}?{_DAY}",
                "/incidents",
            ),
            *(f"/api/v1/incidents/{one}" for one in _INCIDENTS[:3]),
        )
    }
    assert set(found.values()) == {True}, found


def test_an_incident_across_both_shows_its_visible_part(hidden):
    """Show its visible datasets and times, and no text or root that names hidden ones."""
    cut = hidden.get("/api/v1/incidents/inc-hidden-root", "shop").json()

    assert [member["dataset"] for member in cut["members"]] == [shop.CORE]
    assert (cut["incident"]["root"], cut["incident"]["owner"], cut["evidence"]) == (None, None, "")
    assert [(step["what"], step["reason"]) for step in cut["steps"]] == [("opened", "")] * 2
    seen = hidden.get("/api/v1/incidents/inc-hidden-member", "shop").json()
    assert seen["incident"]["root"] == shop.RAW


def test_a_run_of_a_hidden_dataset_has_no_name(hidden):
    """Show the job's name only to a token that sees all datasets of the run."""
    (cut,) = hidden.get(f"/api/v1/runs/{RUN}", "shop").json()["runs"]
    (whole,) = hidden.get(f"/api/v1/runs/{RUN}").json()["runs"]

    assert (cut["job_name"], cut["root_job_name"], cut["hidden_datasets"]) == (None, None, 1)
    assert (whole["job_name"], whole["root_job_name"]) == ("zebra_job", "zebra_job")

"""Search, sources, tags and counts, in Marquez's shapes."""

from urllib.parse import quote

import pytest

from tests.service.queries.marquez_api import warehouse
from tests.service.queries.marquez_api.asking import get
from tests.service.queries.marquez_api.warehouse import AIRFLOW, LOAD, NAMESPACE, ORDERS, RAW, RUNS

pytestmark = pytest.mark.postgres_nightly

_BUCKET = quote(NAMESPACE, safe="")
_OURS = {"partial": False, "partial_reason": None}


@pytest.mark.postgres_always
def test_search_finds_datasets_and_jobs_by_a_part_of_their_names(client):
    """Search in any case of the letters; the web page asks in capitals."""
    found = get(client, "/search", q="ORDERS", sort="NAME", limit=100)
    jobs = get(client, "/search", q="load", filter="JOB")

    names = [(one["type"], one["name"]) for one in found["results"]]
    assert (names, found["totalCount"]) == ([("DATASET", RAW), ("DATASET", ORDERS)], 2)
    assert jobs["results"] == [
        {
            "type": "JOB",
            "name": LOAD,
            "updatedAt": "2026-11-20T06:00:00.000Z",
            "namespace": AIRFLOW,
            "nodeId": f"job:{AIRFLOW}:{LOAD}",
            "dataset_namespace": None,
        }
    ]
    newest = get(client, "/search", q="a", sort="updated_at", filter="job")
    assert [one["name"] for one in newest["results"]] == [warehouse.PAY, LOAD, "shop_daily"]
    past = get(client, "/search", q="o", before="2026-11-20", after="2026-11-19")
    assert past["results"] == []


def test_the_search_of_v2beta_marks_what_it_found(client):
    """Return one hit and one highlight for each."""
    jobs = client.get("/api/v2beta/search/jobs", params={"q": "load"}).json()
    datasets = client.get("/api/v2beta/search/datasets", params={"q": "db"}).json()

    assert jobs == {
        **_OURS,
        "hits": [
            {
                "run_id": RUNS[13],
                "name": LOAD,
                "namespace": AIRFLOW,
                "eventType": "RUNNING",
                "facets": {},
                "type": "BATCH",
            }
        ],
        "highlights": [{"name": ["shop_daily.<em>load</em>"]}],
    }
    assert [hit["name"] for hit in datasets["hits"]] == [ORDERS]
    assert datasets["highlights"] == [{"name": ["warehouse/<em>db</em>/orders"]}]


def test_sources_and_tags(client):
    """List namespaces of datasets as sources, and each tag of a dataset or a column once."""
    tags = ("iban", "pii", "zebra", "zebra2")
    assert get(client, "/tags") == {
        **_OURS,
        "tags": [{"name": name, "description": None} for name in tags],
    }
    assert get(client, f"/sources/{_BUCKET}") == {
        "type": "S3",
        "name": NAMESPACE,
        "createdAt": "2026-11-20T00:00:00.000Z",
        "updatedAt": "2026-11-20T03:00:00.000Z",
        "connectionUrl": NAMESPACE,
        "description": None,
        "dataset_namespace": NAMESPACE,
    }
    listed = get(client, "/sources")["sources"]
    assert [one["name"] for one in listed] == [NAMESPACE, "s3://shop-secret"]


@pytest.mark.postgres_always
def test_starts_and_ends_of_runs_are_counted_by_hour_and_by_day(client):
    """Count the 24 hours up to noon: the first hour is 13:00."""
    hours = get(client, "/stats/lineage-events", period="DAY")
    days = get(client, "/stats/lineage-events", period="WEEK", timezone="Asia/Kolkata")

    counts = {"fail": 1, "start": 6, "complete": 4, "abort": 0}
    assert len(hours) == 24
    assert (hours[0]["startInterval"], hours[-1]["endInterval"]) == (
        *("2026-11-20T13:00:00.000Z", "2026-11-21T13:00:00.000Z"),
    )
    assert [day["startInterval"] for day in days][-2:] == [
        *("2026-11-19T18:30:00.000Z", "2026-11-20T18:30:00.000Z"),
    ]
    ends = {"startInterval": "2026-11-19T18:30:00.000Z", "endInterval": "2026-11-20T18:30:00.000Z"}
    assert days[-2] == {**ends, **counts}
    assert sum(day["start"] for day in days) == 6

"""Answers that show no trace of datasets that a token may not see."""

from urllib.parse import unquote

import pytest
from sqlalchemy import delete, insert, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.states import SUBMITTED
from tests.service import shop
from tests.service.api.access.estate import HIDDEN, PAYROLL

pytestmark = pytest.mark.postgres_nightly

_PATHS = (
    "/api/v1/datasets",
    "/api/v1/datasets?contains=salar",
    "/api/v1/dataset?dataset=core/orders",
    "/api/v1/dataset?dataset=salaries",
    "/api/v1/dataset?dataset=salarie",
    "/api/v1/dataset?dataset=payroll%2Fsalaries",
    f"/api/v1/dataset?dataset={HIDDEN}/{PAYROLL}",
    "/api/v1/why?dataset=core/orders",
    "/api/v1/why?dataset=salaries",
    "/api/v1/lineage?dataset=core/orders&depth=10",
    "/api/v1/lineage?dataset=salaries",
    "/api/v1/graph/nodes?dataset=raw/orders&depth=10",
    "/api/v1/graph/edges?dataset=raw/orders&depth=10",
    "/api/v1/graph/nodes?dataset=salaries",
    "/api/v1/runs?dataset=core/orders",
    "/api/v1/runs?dataset=salaries",
    "/api/v1/lineage?dataset=raw/orders&depth=10",
    "/api/v1/lineage?at=2026-11-21T00:00:00Z&depth=10&dataset=core/orders",
    "/api/v1/lineage?at=2026-11-21T00:00:00Z&depth=10&dataset=raw/orders",
    f"/api/v1/runs/{shop.RUN_ID}",
    "/api/v1/impact?dataset=raw/orders",
    "/api/v1/impact?dataset=salaries",
    "/api/v1/slis",
)


def test_no_answer_names_a_hidden_dataset(estate):
    """Request each path, and find neither the hidden namespace nor its names."""
    for path in _PATHS:
        asked = unquote(path.rpartition("dataset=")[2])
        answer = estate.get(path, "shop").text.replace(asked, "").replace("salarie'", "'")

        assert HIDDEN not in answer, path
        assert PAYROLL not in answer, path


_OF_OPERATOR = f"its job{SUBMITTED}as jobs/x, which is FAILED, Path does not exist: {HIDDEN}/x"


@pytest.mark.parametrize("reason", ["silent", "never_reported"])
def test_the_message_of_an_application_needs_access_to_all_datasets(estate, reason):
    """Hide evidence that quotes Kubernetes, on the page too; show evidence about the dataset."""
    asked = ("/api/v1/why?dataset=core/orders", "/dataset?dataset=core/orders")
    of_dataset = "last written 2026-11-20 02:00:00 UTC by run r1 of job etl"
    _set_evidence(estate, reason, f"{of_dataset}; {_OF_OPERATOR}")
    assert all(HIDDEN not in estate.get(path, "shop").text for path in asked)
    assert all(HIDDEN in estate.get(path, "boss").text for path in asked)

    _set_evidence(estate, reason, of_dataset)
    assert of_dataset in estate.get(asked[0], "shop").text


def _set_evidence(estate, reason, evidence):
    state = tables.dataset_state
    core = (state.c.dataset_key == shop.dataset_key(shop.CORE), state.c.sli == "M2")
    with write_transaction(estate.catalog) as connection:
        connection.execute(update(state).where(*core).values(reason=reason, evidence=evidence))


def test_a_hidden_dataset_is_not_found(estate):
    """Answer the same 404 as for an unknown name, without candidates."""
    hidden = estate.get("/api/v1/dataset?dataset=salaries", "shop")
    absent = estate.get("/api/v1/dataset?dataset=zzzzzzzz", "shop")

    assert hidden.status_code == absent.status_code == 404
    assert hidden.json().get("candidates", []) == []
    assert hidden.text.replace("salaries", "x") == absent.text.replace("zzzzzzzz", "x")


def test_lineage_counts_hidden_datasets_and_stops_there(estate):
    """Count one hidden dataset on each side, where an admin sees the dataset."""
    path = "/api/v1/lineage?dataset=core/orders"
    whole, cut = estate.get(path, "boss").json(), estate.get(path, "shop").json()

    assert PAYROLL in [node["dataset"] for node in whole["upstream"]]
    assert (whole["hidden_upstream"], whole["hidden_downstream"]) == (0, 0)
    assert (cut["hidden_upstream"], cut["hidden_downstream"]) == (1, 1)
    assert [node["dataset"] for node in cut["upstream"]] == [shop.RAW, shop.REF]


def test_a_node_of_the_tree_counts_its_hidden_neighbours(estate):
    """Count one hidden dataset downstream of core, two hops from `raw/orders`."""
    tree = estate.get("/api/v1/lineage?dataset=raw/orders", "shop").json()["downstream"]

    hidden = {node["dataset"]: node["hidden"] for node in tree}
    assert hidden[shop.CORE] == 1


def test_an_impact_list_counts_hidden_datasets_and_stops_there(estate):
    """Count the hidden dataset downstream of `core/orders`."""
    whole = estate.get("/api/v1/impact?dataset=core/orders", "boss").json()
    cut = estate.get("/api/v1/impact?dataset=core/orders", "shop").json()

    assert ({row["dataset"] for row in whole["affected"]}, whole["hidden"]) == (
        *({PAYROLL, shop.MART}, 0),
    )
    assert ([row["dataset"] for row in cut["affected"]], cut["hidden"]) == ([shop.MART], 1)


def test_counts_and_pages_cover_visible_datasets_only(estate):
    """Leave hidden datasets out of totals."""
    page = estate.get("/api/v1/datasets?limit=3", "shop").json()

    assert (page["total"], len(page["datasets"])) == (4, 3)
    assert page["next_cursor"]
    assert estate.get("/api/v1/datasets", "boss").json()["total"] == 5


def test_a_run_of_a_hidden_dataset_is_shown_without_its_name(estate):
    """Hide the job's name and the error, which may name hidden datasets."""
    (whole,) = estate.get(f"/api/v1/runs/{shop.RUN_ID}", "boss").json()["runs"]
    (cut,) = estate.get(f"/api/v1/runs/{shop.RUN_ID}", "shop").json()["runs"]

    assert (whole["job_name"], whole["error_message"]) == ("etl.insert", "division by zero")
    assert (cut["job_name"], cut["error_message"]) == (None, None)
    assert (len(whole["datasets"]), whole["hidden_datasets"]) == (3, 0)
    assert (len(cut["datasets"]), cut["hidden_datasets"]) == (2, 1)


def test_evidence_that_may_name_others_is_withheld(estate):
    """Show the reason, and hide its evidence and the origin of a tier."""
    whole = estate.get("/api/v1/dataset?dataset=core/orders", "boss").json()
    cut = estate.get("/api/v1/dataset?dataset=core/orders", "shop").json()

    assert whole["states"][1]["evidence"] == "run failed: division by zero"
    assert cut["states"][1]["reason"] == "job_failed"
    assert cut["states"][1]["evidence"].startswith("not shown")
    raw = estate.get("/api/v1/dataset?dataset=raw/orders", "shop").json()
    assert (raw["tier"], raw["tier_reason"]) == ("critical", None)


@pytest.mark.postgres_always
def test_evidence_about_the_dataset_itself_is_shown(estate):
    """Show evidence of a late dataset, and hide that of a good edge, which names its other end."""
    words = {
        "M1": (None, f"run r1 failed 2026-11-20 02:30:00 UTC: no table {PAYROLL}"),
        "M2": ("late", "a run is under way"),
        "M3b": (None, f"made of {HIDDEN} {PAYROLL}"),
    }
    for sli, (reason, evidence) in words.items():
        row = shop.state_row(shop.dataset_key(shop.MART), sli, "good", reason)
        state = tables.dataset_state
        with write_transaction(estate.catalog) as connection:
            of_it = (state.c.dataset_key == row["dataset_key"]) & (state.c.sli == sli)
            connection.execute(delete(state).where(of_it))
            connection.execute(insert(state), row | {"evidence": evidence})

    answer = estate.get("/api/v1/why?dataset=mart/daily", "shop").text

    assert "a run is under way" in answer
    assert PAYROLL not in answer


def test_a_token_for_no_namespace_gets_an_empty_page(estate):
    """Answer an empty page, neither an error nor everything."""
    estate.write_policy(
        "access: {tokens: [{name: boss, sha256: %(boss)s, namespaces: [nowhere]}]}\n"
    )

    page = estate.get("/api/v1/datasets").json()

    assert (page["total"], page["datasets"]) == (0, [])

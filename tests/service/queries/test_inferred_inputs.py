"""Origin of an edge that no run names by its inputs."""

import pytest
from sqlalchemy import delete, insert, text

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from tests.service import shop
from tests.service.api.access.conftest import estate
from tests.service.api.access.estate import HIDDEN, PAYROLL
from tests.service.commandline import lineward

pytestmark = pytest.mark.postgres_nightly

__all__ = ["estate"]  # a fixture of the tests of access
_CORE = f"dataset={shop.CORE}&dataset_namespace={shop.NAMESPACE}"
_RUN = f"/api/v1/runs/{shop.RUN_ID}"


@pytest.fixture
def inferred(estate):
    """Let the run that wrote `core` name no inputs: its SQL names `ref` and the hidden dataset."""
    raw, ref, core = (shop.dataset_key(name) for name in (shop.RAW, shop.REF, shop.CORE))
    named = {"run_key": 1, "downstream_key": core, "origin": "sql", "seen_at": shop.at(3)}
    names = {"upstream_namespace": "", "upstream_name": ""}
    with write_transaction(estate.catalog) as connection:
        connection.execute(text("UPDATE run SET completed_at = last_event_at"))
        connection.execute(
            text("UPDATE edge SET origin = 'sql' WHERE upstream_key = :ref"), {"ref": ref}
        )
        touched = tables.run_io.c.dataset_key == key(HIDDEN, PAYROLL)
        connection.execute(delete(tables.run_io).where(touched))
        # Another job names this edge by its inputs.
        both = {**shop._edge(raw, core), "job_key": 7, "job_name": "other", "origin": "sql"}  # noqa: SLF001
        connection.execute(insert(tables.edge), both)
        connection.execute(
            insert(tables.inferred_input),
            [{**named, **names, "upstream_key": one} for one in (ref, key(HIDDEN, PAYROLL))],
        )
    return estate


def test_lineage_shows_the_origin_of_an_edge_that_no_run_names_by_its_inputs(inferred):
    """Name it in the API, on the page and in the terminal."""
    upstream = inferred.get(f"/api/v1/lineage?{_CORE}").json()["upstream"]
    origins = {node["dataset"]: node["origin"] for node in upstream if node["dataset"] != PAYROLL}
    assert origins == {shop.RAW: None, shop.REF: "sql"}
    downstream = inferred.get(f"/api/v1/lineage?dataset={shop.REF}").json()["downstream"]
    assert [node["origin"] for node in downstream] == ["sql"]
    assert "(from SQL)</title>" in inferred.get(f"/dataset?{_CORE}").text
    done = lineward("lineage", shop.CORE, catalog=inferred.catalog)
    assert "ref/countries  unknown  by etl  (known from SQL)" in done.stdout


def test_a_run_shows_its_inferred_inputs_that_the_token_may_see(inferred):
    """Count the others, and withhold the name of the job, which may name them."""
    run = inferred.get(_RUN).json()["runs"][0]
    reads = {one["dataset"]: one["origin"] for one in run["datasets"] if one["direction"] == "read"}
    assert reads == {shop.RAW: None, shop.REF: "sql", PAYROLL: "sql"}
    assert "from sql</small>" in inferred.get(f"/runs/{shop.RUN_ID}").text

    cut = inferred.get(_RUN, "shop")
    assert PAYROLL not in cut.text
    assert (cut.json()["runs"][0]["hidden_datasets"], cut.json()["runs"][0]["job_name"]) == (
        1,
        None,
    )

"""Jobs by the name that pages show, also as `ROOT.step`."""

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import open_reader
from service.errors import UnknownRunError
from service.queries.diff import last_good_and_failed
from tests.service import shop

STEP = "etl.nightly.execute_insert.core_orders"


@pytest.fixture
def catalog(embedded):
    """Fill a success and a failure of the root `etl.nightly`, each with one step."""
    good = {"completed_at": shop.at(1.5), "failed_at": None, "started_at": shop.at(1)}
    rows = []
    for number, (root, more) in enumerate((("ok", good), ("bad", {}))):
        names = {"root_run_id": root, "root_job_name": "etl.nightly", "job_name": STEP}
        run = {"run_id": f"{root}-1", "run_key": number, "first_event_at": shop.at(1 + number)}
        rows.append(shop.run_row() | run | names | more)
    with write_transaction(embedded) as connection:
        connection.execute(insert(tables.run), rows)
    return embedded


def _runs_of(catalog, name):
    with open_reader(catalog.url.render_as_string(hide_password=False)) as reader:
        return last_good_and_failed(reader, name)


@pytest.mark.parametrize("name", ["etl.nightly", STEP])
def test_a_root_and_its_step_lead_to_the_same_runs(catalog, name):
    """Compare the last success with the first failure after it."""
    assert _runs_of(catalog, name) == ("ok", "bad")


def test_a_step_that_no_run_had_is_unknown(catalog):
    """Reject a mistyped step."""
    with pytest.raises(UnknownRunError, match="no run of a job"):
        _runs_of(catalog, "etl.nightly.execute_insert.core_order")

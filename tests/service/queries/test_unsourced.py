"""Datasets that were read though no write of them is known: the bad reads of M5."""

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from tests.service import shop
from tests.service.api.access.conftest import estate
from tests.service.api.access.estate import HIDDEN, NOW, PAYROLL
from tests.service.commandline import answer, lineward

pytestmark = pytest.mark.postgres_nightly

__all__ = ["estate"]  # a fixture of the tests of access
_PATH = "/api/v1/unsourced-reads"
_HOURS = 36  # from the shop's midnight to the estate's now


def _read_row(dataset: int, job: str, run: str, hour: float, outcome: str) -> dict[str, object]:
    """Return a row of `dataset_read`."""
    flags = dict.fromkeys(("is_reported", "is_streaming", "is_history"), False)
    at = {"read_at": shop.at(hour), "landed_at": shop.at(hour), "counted_at": shop.at(hour)}
    names = {"job_namespace": "jobs", "job_name": job, "root_run_id": run, "bucket": 0}
    return {"dataset_key": dataset, **names, **at, **flags, "outcome": outcome}


@pytest.fixture
def reads(estate):
    """Read `ref` by two jobs, `raw` by one of them often, and the hidden dataset by three."""
    ref, raw = shop.dataset_key(shop.REF), shop.dataset_key(shop.RAW)
    hidden = key(HIDDEN, PAYROLL)
    rows = [
        _read_row(ref, "etl", "r1", 20, "bad"),
        _read_row(ref, "report", "r2", 21, "bad"),
        *(_read_row(raw, "etl", f"r{n}", 22, "bad") for n in range(10, 15)),
        _read_row(raw, "good", "r3", 22, "good"),
        _read_row(raw, "old", "r4", 2, "bad"),
        *(_read_row(hidden, f"pay{n}", f"h{n}", 23, "bad") for n in range(3)),
    ]
    with write_transaction(estate.catalog) as connection:
        connection.execute(insert(tables.dataset_read), rows)
    return estate


def test_the_datasets_with_the_most_readers_come_first(reads):
    """List each with its jobs; a good read and one before the window do not count."""
    found = reads.get(_PATH).json()

    ranked = [(one["dataset"], one["readers"], one["reads"]) for one in found["datasets"]]
    assert ranked == [(PAYROLL, 3, 3), (shop.REF, 2, 2), (shop.RAW, 1, 5)]
    assert found["datasets"][1] == {
        "dataset_namespace": shop.NAMESPACE,
        "dataset": shop.REF,
        "tier": "critical",
        "owner": None,
        "readers": 2,
        "reads": 2,
        "first_read_at": "2026-11-20T20:00:00.000Z",
        "last_read_at": "2026-11-20T21:00:00.000Z",
        "job_names": ["jobs/etl", "jobs/report"],
    }
    assert (found["hours"], found["partial"]) == (24, False)


def test_a_longer_window_counts_older_reads(reads):
    """Include the read of the job `old` a day earlier."""
    found = reads.get(f"{_PATH}?hours={_HOURS}").json()["datasets"]

    assert next(one["readers"] for one in found if one["dataset"] == shop.RAW) == 2


def test_a_cut_ranking_is_partial(reads):
    """Return one page: the list is a ranking."""
    found = reads.get(f"{_PATH}?limit=1").json()

    assert [one["dataset"] for one in found["datasets"]] == [PAYROLL]
    assert found["partial_reason"] == "the 1 datasets with the most readers"


def test_a_token_sees_its_own_namespaces_and_no_job(reads):
    """Withhold names of jobs, which may name any dataset; show the number of readers."""
    found = reads.get(_PATH, "shop")

    ranked = [
        (one["dataset"], one["readers"], one["job_names"]) for one in found.json()["datasets"]
    ]
    assert ranked == [(shop.REF, 2, []), (shop.RAW, 1, [])]
    assert PAYROLL not in found.text
    reads.judge()
    assert reads.m10 == (1, 1, 0)


def test_the_command_and_the_page_show_what_the_api_answers(reads):
    """Count from now: nothing is in the command's window here."""
    page = reads.get("/unsourced-reads").text

    assert "jobs/report" in page
    assert "every dataset that was read" in lineward("unsourced", catalog=reads.catalog).stdout
    assert answer("unsourced", catalog=reads.catalog)["datasets"] == []
    assert NOW.hour == 12


def test_only_reads_without_a_source_are_looked_at(embedded):
    """Read the few bad reads of the window by the partial index, of 10^8 reads."""
    from service.queries.unsourced import _NEWEST  # noqa: PLC0415 - the query itself

    with embedded.connect() as connection:
        values = {"since": 0, "looked_at": 5}
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {_NEWEST}", values).all()

    assert ["dataset_read_unsourced" in row[3] for row in plan] == [True]

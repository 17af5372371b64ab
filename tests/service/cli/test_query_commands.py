import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from collector.spool_file import open_spool
from tests.service import shop
from tests.service.commandline import answer, lineward

pytestmark = pytest.mark.postgres_nightly

NOON = "2026-11-20T"


def test_datasets_lists_each_dataset_with_its_worst_state(catalog):
    """Return the eight documented fields, most severe first."""
    shop.fill(catalog)

    found = answer("datasets", catalog=catalog)

    assert found == [
        _row(shop.CORE, "critical", "sales", "bad", "M2", "job_failed", "01"),
        _row(shop.REF, "critical", None, "unknown", "M1", "ingestion_gap", "01"),
        _row(shop.MART, "important", None, "learning", "M2", None, "01"),
        _row(shop.RAW, "critical", None, "good", None, None, "02"),
    ]


def _row(name, tier, owner, *verdict: str | None):
    state, sli, reason, hour = verdict
    return {
        "dataset_namespace": shop.NAMESPACE,
        "dataset": name,
        "tier": tier,
        "owner": owner,
        "state": state,
        "sli": sli,
        "reason": reason,
        "since": f"{NOON}{hour}:00:00.000Z",
    }


def test_datasets_are_filtered_by_state(catalog):
    """List only mart/daily for `--state learning`."""
    shop.fill(catalog)

    found = answer("datasets", "--state", "learning", catalog=catalog)

    assert [row["dataset"] for row in found] == [shop.MART]


def test_slis_add_up_the_origins_of_a_tier(catalog):
    """Add declared 1/1 and inherited 1/2 to 2/3, and show no ratio without data."""
    shop.fill(catalog)

    found = {(row["id"], row["tier"]): row for row in answer("slis", catalog=catalog)}

    assert found["M1", "critical"] == {
        "id": "M1",
        "name": "coverage",
        "tier": "critical",
        "good": 2.0,
        "total": 3.0,
        "ratio": 2 / 3,
        "objective": 0.99,
    }
    assert found["M5", "critical"]["ratio"] is None
    assert found["M6", "all"]["ratio"] == 0.99


def test_no_figure_is_good_without_a_pipeline(catalog):
    """Show null ratios and unknown states an hour after the evaluation, with the reason."""
    shop.fill(catalog, evaluated_at=datetime.now(UTC) - timedelta(hours=1))

    slis = lineward("slis", "--json", catalog=catalog)
    states = {row["dataset"]: row["state"] for row in answer("datasets", catalog=catalog)}

    assert {row["ratio"] for row in json.loads(slis.stdout)} == {None}
    assert "the last evaluation was at" in slis.stderr
    assert states[shop.RAW] == "unknown"
    assert states[shop.CORE] == "bad"


def test_an_empty_total_is_shown_as_no_data(catalog):
    """Show "no data", never 100 %."""
    shop.fill(catalog)

    shown = lineward("slis", catalog=catalog).stdout

    line = next(line for line in shown.splitlines() if "M5" in line and "critical" in line)
    assert "no data" in line
    assert "100 %" not in line


def test_lineage_shows_both_trees_and_the_last_run(catalog):
    """Show raw and ref upstream, mart downstream, and the run that failed after half an hour."""
    shop.fill(catalog)

    found = answer("lineage", shop.CORE, catalog=catalog)

    assert [node["dataset"] for node in found["upstream"]] == [shop.RAW, shop.REF]
    assert [node["dataset"] for node in found["downstream"]] == [shop.MART]
    assert found["downstream"][0]["job_names"] == ["etl"]
    assert found["partial"] is False
    assert found["last_run"] == {
        "run_id": shop.RUN_ID,
        "job_namespace": "jobs",
        "job_name": "etl.insert",
        "status": "FAIL",
        "started_at": f"{NOON}02:00:00.000Z",
        "finished_at": f"{NOON}02:30:00.000Z",
        "duration_seconds": 1800.0,
    }


def test_a_diamond_is_drawn_once(catalog):
    """Draw the branch of mart/daily once, at its nearest place."""
    shop.fill(catalog)

    core, mart = answer("lineage", shop.RAW, catalog=catalog)["downstream"]

    assert (core["dataset"], mart["dataset"]) == (shop.CORE, shop.MART)
    assert [node["repeated"] for node in core["children"]] == [True]
    assert mart["repeated"] is False


def test_cut_lineage_has_the_reason(catalog):
    """Leave ref/countries out at depth 1 from mart/daily, and report it."""
    shop.fill(catalog)

    found = answer("lineage", shop.MART, "--depth", "1", catalog=catalog)

    assert found["partial"] is True
    assert found["partial_reason"] == "upstream: there are more beyond depth 1"


def test_lineage_in_the_terminal_names_all_of_it(catalog):
    """Print trees and last run."""
    shop.fill(catalog)

    shown = lineward("lineage", shop.CORE, catalog=catalog).stdout

    assert "upstream datasets" in shown
    assert "ref/countries  unknown  by etl" in shown
    assert "last run: FAIL  started 2026-11-20 02:00:00 UTC" in shown
    assert "took 30 min" in shown


def test_command_why_shows_reason_and_evidence(catalog):
    """Print one sentence for each SLI, with its evidence."""
    shop.fill(catalog)

    found = answer("why", shop.CORE, catalog=catalog)

    assert found["sentences"][1] == (
        "Freshness (M2) is bad, detected at 2026-11-20 01:00:00 UTC. Latest reason"
        " (job_failed): run failed: division by zero."
        " The newest write is 2 h 5 min old; the declared limit is 1 h."
    )
    assert found["state"] == "bad"


def test_a_dataset_is_found_by_an_alias_and_by_its_last_part(catalog):
    """Find datasets by the metastore's name and by a bare `countries`."""
    shop.fill(catalog)

    assert answer("why", "core.orders", catalog=catalog)["dataset"] == shop.CORE
    assert answer("why", "countries", catalog=catalog)["dataset"] == shop.REF


def test_an_unknown_dataset_is_exit_code_3_with_candidates(catalog):
    """Suggest the dataset for a name with a missing letter."""
    shop.fill(catalog)

    done = lineward("lineage", "contries", catalog=catalog)

    assert done.returncode == 3
    assert done.stderr == (
        "lineward: no dataset is named 'contries'. Did you mean: s3://shop/ref/countries?\n"
    )


_LANDED = 10  # events that `shop.fill` has landed
_EVENT = """
INSERT INTO event (seq, body_hash, received_at, origin, kind, duplicate_keys, body)
VALUES (?, ?, 0, 'http', 'run', 0, '{}')
"""


@pytest.mark.parametrize(("count", "waiting"), [(1, "1 event waits"), (1200, "1,200 events wait")])
def test_events_that_wait_may_have_the_unknown_name(catalog, tmp_path: Path, count, waiting):
    """Say that events wait for the pipeline, for datasets and for runs.

    Mutants: the hint for datasets only; the number without the position of the pipeline; the
    hint without the end of the sentence before it.
    """
    shop.fill(catalog)
    with closing(open_spool(tmp_path / "spool.db", 1 << 30)) as spool:
        events = ((_LANDED + number, f"hash {number}") for number in range(1 - _LANDED, count + 1))
        spool.executemany(_EVENT, events)
    hint = f"{waiting} for the pipeline: try again, or see `lineward status`.\n"

    for command in (("why", "core/stations"), ("diff", "unknown", "other")):
        done = lineward(*command, "--data-dir", str(tmp_path), catalog=catalog)
        before = done.stderr.removesuffix(hint)
        assert (done.returncode, before[-2:] in {". ", "? "}) == (3, True), done.stderr


def test_a_suggested_name_is_valid_in_policies_and_commands(catalog):
    """Suggest `file/lake/…` and not `file//lake/…` for a file with a leading slash."""
    shop.fill(catalog)
    shop.add_dataset(catalog, "file", "/lake/core/refunds")

    text = lineward("why", "/lake/core/refnds", catalog=catalog).stderr
    spelt = text.partition("Did you mean: ")[2].rstrip("?\n")

    assert spelt == "file/lake/core/refunds"
    assert answer("why", spelt, catalog=catalog)["dataset"] == "/lake/core/refunds"


def test_an_ambiguous_name_lists_its_datasets(catalog):
    """List both datasets whose names end in `orders`."""
    shop.fill(catalog)

    done = lineward("why", "orders", catalog=catalog)

    assert done.returncode == 3
    assert "s3://shop/core/orders, s3://shop/raw/orders" in done.stderr


def test_names_cannot_rewrite_the_screen(catalog):
    """Escape sequences, line breaks and text direction from an event are shown, not obeyed."""
    shop.fill(catalog)
    shop.add_dataset(catalog, "s3://evil", "x\x1b[2J\r\n\u202ey[bold]z")

    shown = lineward("datasets", catalog=catalog).stdout

    assert r"x\x1b[2J\r\n\u202ey[bold]z" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("command", [["datasets"], ["slis"], ["why", "x"], ["lineage", "x"]])
def test_a_command_without_data_names_the_command_to_run(tmp_path: Path, command):
    """Print one sentence, exit with 4 and create no data folder."""
    folder = tmp_path / "none"

    done = lineward(*command, "--data-dir", str(folder))

    assert done.returncode == 4
    assert f"run `lineward up --data-dir {folder}`" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not folder.exists()


@pytest.mark.parametrize(
    "command",
    [["datasets"], ["jobs"], ["why", shop.REF], ["runs", shop.REF], ["history", shop.REF]],
)
def test_queries_import_neither_spark_nor_sqlalchemy(catalog, command):
    """Import nothing that would cost the half second that a command may take."""
    shop.fill(catalog)

    done = lineward(*command, "--json", catalog=catalog, PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0, done.stderr

    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert not imported & {"pyspark", "sqlalchemy", "litestar", "granian", "pandas"}


@pytest.mark.postgres_always
def test_retire_stores_a_request_with_an_audit_row(catalog):
    """Store the request, its note and the user."""
    shop.fill(catalog)

    done = lineward("retire", shop.REF, "--note", "moved to MDM", catalog=catalog)

    with catalog.connect() as connection:
        asked = connection.exec_driver_sql("SELECT dataset_key, note FROM retirement").all()
        audited = connection.exec_driver_sql("SELECT action, detail FROM audit").all()
    assert done.returncode == 0
    assert asked == [(shop.dataset_key(shop.REF), "moved to MDM")]
    assert audited == [("retire", "s3://shop/ref/countries: moved to MDM")]

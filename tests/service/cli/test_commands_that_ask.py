import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.service import shop
from tests.service.commandline import answer, lineward

pytestmark = pytest.mark.postgres_nightly

NOON = "2026-11-20T"


def test_datasets_gives_each_dataset_with_its_worst_state(catalog):
    """The documented shape, whole: worst first, and nothing beside the eight fields."""
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
    """`--state learning` lists mart/daily alone."""
    shop.fill(catalog)

    found = answer("datasets", "--state", "learning", catalog=catalog)

    assert [row["dataset"] for row in found] == [shop.MART]


def test_slis_add_up_the_origins_of_a_tier(catalog):
    """Declared 1/1 and inherited 1/2 are 2/3 of the critical tier; nothing counted is no ratio."""
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


def test_a_dead_pipeline_shows_no_good_figure(catalog):
    """Evaluated an hour ago: ratios are null, good is unknown, and standard error says why."""
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


def test_lineage_gives_both_trees_and_the_last_run(catalog):
    """core/orders is made of raw and ref, mart of it; its last run failed after half an hour."""
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
    """raw/orders leads to mart/daily directly and over core: its branch stands at the nearest."""
    shop.fill(catalog)

    core, mart = answer("lineage", shop.RAW, catalog=catalog)["downstream"]

    assert (core["dataset"], mart["dataset"]) == (shop.CORE, shop.MART)
    assert [node["repeated"] for node in core["children"]] == [True]
    assert mart["repeated"] is False


def test_lineage_says_that_it_is_cut_short(catalog):
    """Depth 1 from mart/daily leaves ref/countries out, and says so."""
    shop.fill(catalog)

    found = answer("lineage", shop.MART, "--depth", "1", catalog=catalog)

    assert found["partial"] is True
    assert found["partial_reason"] == "upstream: more lies beyond depth 1"


def test_lineage_in_the_terminal_names_all_of_it(catalog):
    """Trees and last run, as a person reads them."""
    shop.fill(catalog)

    shown = lineward("lineage", shop.CORE, catalog=catalog).stdout

    assert "upstream: what it is made of" in shown
    assert "ref/countries  unknown  by etl" in shown
    assert "last run: FAIL  started 2026-11-20 02:00:00 UTC" in shown
    assert "took 30 min" in shown


def test_why_tells_reason_and_evidence(catalog):
    """One sentence an SLI, with what it rests on."""
    shop.fill(catalog)

    found = answer("why", shop.CORE, catalog=catalog)

    assert found["sentences"][1] == (
        "Freshness (M2) is bad, detected at 2026-11-20 01:00:00 UTC (job_failed): run failed:"
        " division by zero. The newest write is 2 h 5 min old; the declared limit is 1 h."
    )
    assert found["state"] == "bad"


def test_a_dataset_is_found_by_an_alias_and_by_its_last_part(catalog):
    """The metastore's name and a bare `countries` lead to the datasets that they mean."""
    shop.fill(catalog)

    assert answer("why", "core.orders", catalog=catalog)["dataset"] == shop.CORE
    assert answer("why", "countries", catalog=catalog)["dataset"] == shop.REF


def test_an_unknown_dataset_is_exit_code_3_with_candidates(catalog):
    """A slip of a letter names what was meant."""
    shop.fill(catalog)

    done = lineward("lineage", "contries", catalog=catalog)

    assert done.returncode == 3
    assert done.stderr == (
        "lineward: no dataset is named 'contries'. Did you mean: s3://shop/ref/countries?\n"
    )


def test_what_was_meant_is_spelt_as_policies_and_questions_take_it(catalog):
    """A file's name brings its own slash: `file/lake/…`, never `file//lake/…`."""
    shop.fill(catalog)
    shop.add_dataset(catalog, "file", "/lake/core/refunds")

    text = lineward("why", "/lake/core/refnds", catalog=catalog).stderr
    spelt = text.partition("Did you mean: ")[2].rstrip("?\n")

    assert spelt == "file/lake/core/refunds"
    assert answer("why", spelt, catalog=catalog)["dataset"] == "/lake/core/refunds"


def test_a_name_in_two_namespaces_is_asked_back(catalog):
    """Nothing is guessed where two datasets end in `orders`."""
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
def test_without_data_a_command_says_what_to_run(tmp_path: Path, command):
    """No data folder: one sentence, exit code 4, and nothing is created."""
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
def test_asking_imports_neither_spark_nor_sqlalchemy(catalog, command):
    """Import nothing that would cost the half second that a command may take."""
    shop.fill(catalog)

    done = lineward(*command, "--json", catalog=catalog, PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0, done.stderr

    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert not imported & {"pyspark", "sqlalchemy", "litestar", "granian", "pandas"}


@pytest.mark.postgres_always
def test_retire_asks_for_it_with_an_audit_row(catalog):
    """The request and its note stand in the catalog, with who it was."""
    shop.fill(catalog)

    done = lineward("retire", shop.REF, "--note", "moved to MDM", catalog=catalog)

    with catalog.connect() as connection:
        asked = connection.exec_driver_sql("SELECT dataset_key, note FROM retirement").all()
        audited = connection.exec_driver_sql("SELECT action, detail FROM audit").all()
    assert done.returncode == 0
    assert asked == [(shop.dataset_key(shop.REF), "moved to MDM")]
    assert audited == [("retire", "s3://shop/ref/countries: moved to MDM")]

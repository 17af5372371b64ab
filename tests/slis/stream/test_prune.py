"""Retention of the catalog."""

from sqlalchemy import insert, update

from lineage import policy
from lineage.catalog.engine import write_transaction
from lineage.catalog.tables import audit, dataset, dataset_write, reader_cursor
from lineage.process.clock import to_micros
from slis.cadence import known_writes
from slis.settings import PipelineSettings
from slis.stream.prune import prune_lake_and_catalog
from tests.slis.catalog_rows import CatalogRows
from tests.slis.lake.lakes import writer_of
from tests.slis.stream.spools import rows, run_event


def test_retention_keeps_the_newest_writes(lander, catalog, tmp_path, at):
    """Keep as many as the settings say, and the first; delete identities of events by age."""
    lander.land(
        *(run_event("COMPLETE", at(4 * n - 36), run=f"r{n}", outputs=["t"]) for n in range(12))
    )
    settings = PipelineSettings(writes_a_dataset=10, event_days=1)

    with catalog.begin() as connection:
        # A forwarder that is behind, or was switched off long ago, keeps no batch.
        connection.execute(insert(reader_cursor).values(reader="marquez", seq=0))

    # One day before is 06:00: the days before that one go, and no part of it.
    prune_lake_and_catalog(writer_of(catalog, tmp_path), settings, at(24 + 6), lake_days=90)

    kept = "SELECT count(*), min(root_run_id) FROM dataset_write"
    assert rows(catalog, kept) == [(11, "r0")]
    assert rows(catalog, "SELECT count(*) FROM event") == [(3,)]
    assert rows(catalog, "SELECT count(*) FROM batch") == [(1,)]


def test_a_dataset_that_was_written_once_keeps_that_write(lander, catalog, tmp_path, at):
    """Keep the write for years of reads: without it, none of them had an origin."""
    lander.land(
        run_event("COMPLETE", at(0), run="once", outputs=["static"]),
        run_event("COMPLETE", at(0), run="old", outputs=["moving"]),
        run_event("COMPLETE", at(1), run="older than kept", outputs=["moving"]),
    )
    with catalog.begin() as connection:
        connection.execute(update(dataset).values(last_seen_at=to_micros(at(24 * 399))))

    prune_lake_and_catalog(
        writer_of(catalog, tmp_path), PipelineSettings(), at(24 * 400), lake_days=90
    )

    kept = rows(catalog, "SELECT root_run_id FROM dataset_write ORDER BY root_run_id")
    assert kept == [("old",), ("once",)]


def test_retention_keeps_half_a_year_of_hourly_writes(embedded, tmp_path, at):
    """Keep all of them for learned limits: with a tenth, false alarms rose 30-fold."""
    hours = 180 * 24
    estate = CatalogRows(embedded, at(0))
    estate.written(estate.dataset("hourly"), at(0))
    [first] = estate.rows(dataset_write)
    later = [
        {**first, "root_run_id": f"r{hour}", "written_at": to_micros(at(hour))}
        for hour in range(1, hours)
    ]
    with write_transaction(embedded) as connection:
        connection.execute(insert(dataset_write), later)

    prune_lake_and_catalog(
        writer_of(embedded, tmp_path), PipelineSettings(), at(hours), lake_days=90
    )

    assert rows(embedded, "SELECT count(*) FROM dataset_write") == [(hours,)]
    assert hours <= known_writes.MAX_WRITES


def test_runs_go_with_the_writes_that_name_them(lander, catalog, tmp_path, at):
    """Delete what a run read and wrote with it; keep a run that is younger."""
    lander.land(
        run_event("COMPLETE", at(0), run="r1", outputs=["t"]),
        run_event("COMPLETE", at(11), run="r2", outputs=["t"]),
    )

    prune_lake_and_catalog(
        writer_of(catalog, tmp_path), PipelineSettings(write_days=1), at(30), lake_days=90
    )

    assert rows(catalog, "SELECT run_id FROM run") == [("r2",)]
    assert rows(catalog, "SELECT count(*) FROM run_io") == [(1,)]


def test_names_that_were_folded_go_when_they_are_old(lander, catalog, tmp_path, at):
    """Delete folded names, of which each run brings one; keep other aliases."""
    lander.policy = policy.parse_policy("folds: [{match: 'n/run_{n}', dataset: n/run}]")
    lander.land(
        run_event("COMPLETE", at(0), run="r1", outputs=["run_1", "/wh/t/"]),
        run_event("COMPLETE", at(11), run="r2", outputs=["run_2", "/wh/t"]),
    )

    prune_lake_and_catalog(
        writer_of(catalog, tmp_path), PipelineSettings(write_days=1), at(30), lake_days=90
    )

    aliases = rows(catalog, "SELECT rule, name FROM dataset_alias ORDER BY 1")
    assert aliases == [("fold", "run_2"), ("trailing_slash", "/wh/t/")]


def test_the_audit_log_is_kept_as_long_as_the_settings_say(catalog, tmp_path, at):
    """Delete older rows, but keep the newest: SQLite would use its number again."""
    with catalog.begin() as connection:
        for hour in (0, 10, 11):
            row = {"at": to_micros(at(hour)), "who": "ada", "action": "retire", "detail": "n/t"}
            connection.execute(insert(audit).values(row))
    kept = "SELECT id FROM audit ORDER BY id"

    prune_lake_and_catalog(
        writer_of(catalog, tmp_path), PipelineSettings(), at(24 * 400), lake_days=90
    )
    assert rows(catalog, kept) == [(1,), (2,), (3,)]

    prune_lake_and_catalog(
        writer_of(catalog, tmp_path), PipelineSettings(audit_days=1), at(24 + 10.5), lake_days=90
    )
    assert rows(catalog, kept) == [(3,)]

    prune_lake_and_catalog(
        writer_of(catalog, tmp_path), PipelineSettings(audit_days=1), at(24 * 9), lake_days=90
    )
    assert rows(catalog, kept) == [(3,)]

"""Metrics of event logs, and their absence where none is read."""

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import open_reader
from service.exporter.evidence import evidence_families
from slis.evidence.merge import note_pass

pytestmark = pytest.mark.postgres_nightly

_FILE = {"log": "app-1", "bytes": 10, "modified_at": 0, "is_complete": True}
_STRATUM = {"producer": "listener", "adapter_version": "1.53.0", "state": "unknown"}
_FIGURES = {"good": 9, "total": 10, "ratio": 0.9, "lower": 0.6, "upper": 0.98}


def _samples(catalog):
    url = catalog.url.render_as_string(hide_password=False)
    with open_reader(url) as reader:
        return {
            (one.name, *one.labels.values()): one.value
            for family in evidence_families(reader)
            for one in family.samples
        }


def test_no_event_log_gives_no_series(catalog):
    """Show no series, as absent evidence is not healthy."""
    assert _samples(catalog) == {}


@pytest.mark.postgres_always
def test_files_problems_and_accuracy_are_shown(catalog):
    """Count one of two files as cut, and one of three texts as not parsed.

    The bounds are shown beside the share.
    """
    files = [
        {**_FILE, "path": "a", "read_at": 5_000_000, "problem": None},
        {**_FILE, "path": "b", "read_at": 4_000_000, "problem": "cut"},
    ]
    text = {"dialect": "spark", "first_seen_at": 0, "last_seen_at": 0}
    texts = [{**text, "sql_key": at, "problem": "broken" if at == 1 else None} for at in range(3)]
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.evidence_file), files)
        note_pass(connection, 7_000_000, unlisted=0, is_whole=True)
        connection.execute(insert(tables.accuracy_stratum), {**_STRATUM, **_FIGURES})
        connection.execute(insert(tables.sql_text), texts)

    assert _samples(catalog) == {
        ("lineage_evidence_files",): 2,
        ("lineage_evidence_problem_files",): 1,
        ("lineage_evidence_unlisted_folders",): 0,
        ("lineage_evidence_read_timestamp_seconds",): 7,
        ("lineage_sql_texts",): 3,
        ("lineage_sql_problem_texts",): 1,
        ("lineage_accuracy_bound_ratio", "listener", "1.53.0", "ratio"): 0.9,
        ("lineage_accuracy_bound_ratio", "listener", "1.53.0", "lower"): 0.6,
        ("lineage_accuracy_bound_ratio", "listener", "1.53.0", "upper"): 0.98,
    }


def test_a_folder_that_can_no_longer_be_listed_is_counted(catalog):
    """Count it by the pass, as no file has a problem."""
    with write_transaction(catalog) as connection:
        note_pass(connection, 7_000_000, unlisted=0, is_whole=True)
        note_pass(connection, 9_000_000, unlisted=2, is_whole=True)

    assert _samples(catalog) == {
        ("lineage_evidence_files",): 0,
        ("lineage_evidence_problem_files",): 0,
        ("lineage_evidence_unlisted_folders",): 2,
        ("lineage_evidence_read_timestamp_seconds",): 7,
    }


def test_a_folder_that_could_never_be_listed_has_no_time(catalog):
    """Show no time for a folder with a wrong name, which is no silence of Spark."""
    with write_transaction(catalog) as connection:
        note_pass(connection, 7_000_000, unlisted=1, is_whole=True)

    samples = _samples(catalog)
    assert samples[("lineage_evidence_unlisted_folders",)] == 1
    assert ("lineage_evidence_read_timestamp_seconds",) not in samples

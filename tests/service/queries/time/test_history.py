"""History of a dataset: schemas with their changes, versions, checksums, writes."""

import pytest
from sqlalchemy import text

from lineage.catalog.queries import newest_write
from lineage.catalog.reader import open_reader
from service.queries.dataset_history import dataset_history
from service.queries.dataset_lookup import resolve_dataset
from service.queries.schema_changes import (
    Retyped,
    SchemaChange,
    SchemaField,
    describe_changes,
    schema_change,
)
from tests.service.commandline import answer, lineward
from tests.slis.stream.spools import run_event

pytestmark = pytest.mark.postgres_nightly

_FIRST, _SECOND, _THIRD = (
    {"id": "int", "at": "date"},
    {"id": "bigint", "at": "date"},
    {"id": "bigint", "email": "string"},
)


def _write(at, run, code, fields):
    facets = {
        "schema": {"fields": [{"name": name, "type": fields[name]} for name in fields]},
        "version": {"datasetVersion": run},
        "checksum": {"algorithm": "MD5", "checksum": run},
    }
    event = run_event("COMPLETE", at, run=run, inputs=["raw"], outputs=[("core", facets)])
    event["job"]["facets"]["sourceCodeLocation"] = {"type": "git", "url": "x", "version": code}
    return event


def _land(lander, at):
    lander.land(
        _write(at(1), "r1", "v1", _FIRST),
        _write(at(2), "r2", "v1", _SECOND),
        _write(at(3), "r3", "v2", _SECOND),
        _write(at(4), "r4", "v3", _THIRD),
    )


def _history(catalog, limit):
    with open_reader(catalog.url.render_as_string(hide_password=False)) as reader:
        return dataset_history(reader, resolve_dataset(reader, "core", "n"), limit=limit)


def test_each_schema_has_its_changes_and_code_versions(lander, catalog, at):
    """List them in order, the first one without a change."""
    _land(lander, at)

    found = _history(catalog, 10)

    assert [schema.change for schema in found.schemas] == [
        None,
        SchemaChange(added=[], removed=[], retyped=[Retyped("id", "int", "bigint")]),
        SchemaChange(
            added=[SchemaField("email", "string")], removed=[SchemaField("at", "date")], retyped=[]
        ),
    ]
    assert [schema.code_versions for schema in found.schemas] == [["v1"], ["v1", "v2"], ["v3"]]
    assert [stamp.value for stamp in found.versions] == ["r4", "r3", "r2", "r1"]
    assert [stamp.value for stamp in found.checksums] == ["md5:r4", "md5:r3", "md5:r2", "md5:r1"]
    assert [write.root_run_id for write in found.writes] == ["r4", "r3", "r2", "r1"]
    assert not found.partial


def test_a_cut_history_is_partial_and_keeps_the_oldest_change(lander, catalog, at):
    """Show the newest two of each."""
    _land(lander, at)

    found = _history(catalog, 2)

    assert found.partial_reason == (
        "only the newest 2 of these are shown: schemas, versions, checksums, writes"
    )
    assert found.schemas[0].change.retyped == [Retyped("id", "int", "bigint")]
    assert [len(found.writes), len(found.versions)] == [2, 2]


def test_the_newest_of_writes_at_one_time_is_that_of_freshness(lander, catalog, at):
    """Order them as `NEWEST_WRITE_FIRST` does."""
    lander.land(*(_write(at(1), run, "v1", _FIRST) for run in ("r1", "r2")))
    with catalog.connect() as connection:
        newest = connection.scalar(text(newest_write("root_run_id", "w.job_name IS NOT NULL")))

    assert _history(catalog, 1).writes[0].root_run_id == newest


def test_the_command_shows_the_history(lander, catalog, at):
    """Print it for people, and as the documented JSON."""
    _land(lander, at)

    shown = lineward("history", "core", "--namespace", "n", catalog=catalog).stdout
    as_json = answer("history", "core", "--namespace", "n", catalog=catalog)

    assert "added email (string); removed at" in shown
    assert [write["code_version"] for write in as_json["writes"]] == ["v3", "v2", "v1", "v1"]


def test_columns_in_another_order_are_another_schema():
    """Describe the change, which no field has."""
    ab, ba = (
        [SchemaField("a", "int"), SchemaField("b", "int")],
        [SchemaField("b", "int"), SchemaField("a", "int")],
    )

    assert describe_changes(schema_change(ab, ba)) == ["the order of its fields"]

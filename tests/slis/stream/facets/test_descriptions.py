"""Descriptions and tags: of datasets, columns, jobs and runs, in any order of batches."""

import json

import pytest

from slis.stream.facets.descriptions import stored_tags
from tests.slis.stream.spools import rows, run_event, symlink

_TEXTS = "SELECT subject, text FROM description ORDER BY subject, text"
_DESCRIBED = """
    SELECT DISTINCT d.name FROM description s JOIN dataset d ON d.dataset_key = s.subject_key
"""
_TAGS = """
    SELECT d.name, t.tag, t.value, t.source FROM tag t JOIN dataset d USING (dataset_key)
    ORDER BY 1, 2, 3
"""
_FIELD_TAGS = "SELECT field, tag, value, source FROM field_tag ORDER BY 1, 2, 3"
_CLAIMS = "SELECT value, job_namespace FROM attribute_claim WHERE kind = 'tier' ORDER BY 1, 2"


def _facets_with_text(text: str, **fields: str) -> dict[str, object]:
    described = [
        {"name": name, "type": "long", "description": each} for name, each in fields.items()
    ]
    return {"documentation": {"description": text}, "schema": {"fields": described}}


def _tags(*tags: tuple[str, str, str | None]) -> dict[str, object]:
    names = ("key", "value", "source")
    return {"tags": [dict(zip(names, tag, strict=True)) for tag in tags]}


def _add_facets(event, *, run_tags=None, job_facets=None):
    event["run"].setdefault("facets", {}).update({"tags": run_tags} if run_tags else {})
    event["job"].setdefault("facets", {}).update(job_facets or {})
    return event


def _write_event(at, run, facets):
    return run_event("COMPLETE", at, run=run, outputs=[("db.t", facets)])


def test_the_newest_description_stays_in_any_order_of_batches(lander, catalog, at):
    """Keep the text before an empty one; a schema is the same with other descriptions."""
    newest = _facets_with_text("People. Their password=hunter22 is secret.", id="the key", at="")
    older = _facets_with_text("Persons", id="a key", at="a day")
    silent = _facets_with_text("", id="", at="")
    job = {"documentation": {"description": "Loads people"}}
    lander.land(_add_facets(_write_event(at(9), "r2", newest), job_facets=job))
    lander.land(_write_event(at(8), "r1", older), _write_event(at(10), "r3", silent))

    assert rows(catalog, "SELECT count(*) FROM schema_version") == [(1,)]
    (_, people), (_, columns), of_job = rows(catalog, _TEXTS)
    assert people.startswith("People.")
    assert "hunter22" not in people
    assert json.loads(columns) == {"id": "the key"}
    assert of_job == ("job", "Loads people")

    # The name turns out to be an alias: its description holds for the dataset.
    lander.land(run_event("COMPLETE", at(11), run="r4", outputs=[("/wh/t", symlink("db.t"))]))
    assert rows(catalog, _DESCRIBED) == [("/wh/t",)]


def test_tags_of_a_model_reach_what_its_run_writes(lander, catalog, at):
    """Store tags and meta of a dbt model, which dbt sends as tags of its run with own sources."""
    own = _tags(("pii", "true", "DBT"), ("tier", "critical", "DBT_META"), ("client", "1", "OL"))
    of_column = {"tags": {"tags": [{"key": "pii", "value": "no", "source": "X", "field": "id"}]}}
    model = run_event("COMPLETE", at(8), inputs=[("in", of_column)], outputs=["mart"])
    # Writes the same dataset without tags, in the same batch.
    other = run_event("COMPLETE", at(8), run="r2", outputs=["mart"])
    other["job"] = {"namespace": "other", "name": "x"}
    stranger = {"tags": _tags(("pii", "false", None))}
    later = run_event("COMPLETE", at(9), run="r3", outputs=[("mart", stranger)])
    of_job = {"tags": _tags(("a", "b", ""))}
    lander.land(_add_facets(model, run_tags=own), other, _add_facets(later, job_facets=of_job))

    assert rows(catalog, _TAGS) == [
        ("mart", "pii", "false", None),
        ("mart", "pii", "true", "DBT"),
        ("mart", "tier", "critical", "DBT_META"),
    ]
    assert rows(catalog, _FIELD_TAGS) == [("id", "pii", "no", "X")]
    assert rows(catalog, _CLAIMS) == [("critical", "j")]
    ((run_tags,),) = rows(catalog, "SELECT tags FROM run WHERE run_id = 'r1'")
    assert {"key": "client", "value": "1", "source": "OL"} in json.loads(run_tags)
    job_tags = rows(catalog, "SELECT text FROM description WHERE subject = 'job_tags'")
    assert job_tags == [('[{"key":"a","value":"b"}]',)]


@pytest.mark.parametrize(
    ("raw", "stored"),
    [
        (None, None),
        ("{", None),
        ('[{"value": "x"}, 7, null]', None),
        ('[{"key": "b", "value": true}, {"key": "a", "value": null}]', "a= b=true"),
        ('[{"key": "k", "value": "password=hunter22"}]', "k=password=[redacted]"),
    ],
)
def test_malformed_tags_are_left_out(raw, stored):
    """Store the same list as the same text in any order, without secrets."""
    found = json.loads(stored_tags(raw) or "null")

    shown = found and " ".join(f"{one['key']}={one.get('value', '')}" for one in found)
    assert shown == stored


def test_the_value_of_a_tag_that_is_named_like_a_secret_is_replaced():
    """Redact by the key: the value alone looks like any word."""
    raw = '[{"key":"db_password","value":"hunter2"},{"key":"team","value":"sales"}]'

    stored = stored_tags(raw)

    assert "hunter2" not in stored
    assert '"sales"' in stored

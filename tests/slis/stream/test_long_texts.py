"""Texts of 50 kB in every field of an event: they land, and indexed values are cut and hashed."""

import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import functions as F
from sqlalchemy import Column, Index, Table, Text, select

from lineage.catalog.tables import metadata
from lineage.names.keys import KEY_BYTES, NAME_BYTES, shorten
from lineage.policy import DEFAULT
from slis.evaluation.evaluation import evaluate
from slis.evidence.parse import shorten_column
from slis.spark.planning import local_rows
from tests.slis.stream.spools import rows, run_event

_ON_POSTGRES = (
    "tests/slis/stream/test_long_texts.py"
    "::test_patterns_of_names_that_grow_when_generalised_are_cut[postgresql]"
)
_ENTRY_BYTES = 2_704  # of PostgreSQL's B-tree
_OTHER_BYTES = 150  # numbers and headers of the widest entry
_ALPHABETS = {
    "one byte": "".join(map(chr, range(0x21, 0x7F))),
    "three bytes": "".join(map(chr, range(0x4E00, 0x8E00))),
    "four bytes": "".join(map(chr, range(0x20000, 0x24000))),
}
# Indexed texts that an event can fill.
_OF_EVENTS = {
    "accuracy_stratum": {"producer", "adapter_version"},
    "column_edge": {"upstream_field", "downstream_field"},
    "dataset": {"name"},
    "dataset_assertion": {"assertion", "column_name", "name"},
    "dataset_checksum": {"checksum"},
    "dataset_read": {"root_run_id"},
    "dataset_version": {"version"},
    "dataset_write": {"root_run_id"},
    "digest": {"owner"},
    "edge_run": {"root_run_id"},
    "edge_told": {"root_run_id"},
    "incident_escalation": {"owner"},
    "name_pattern": {"namespace", "name"},
    "ownership": {"owner"},
    "run": {
        *("run_id", "job_name", "root_job_name", "leaf_job_name", "application_id"),
        "root_run_id",
    },
    "tag": {"tag", "value"},
}
# Filled when an incident notifies an owner, from the bounded `ownership.owner`, or from runs that
# were checked against an oracle, by `run.producer` and `run.adapter_version`.
_LATER = {"accuracy_stratum", "digest", "incident_escalation", "name_pattern"}
# Words, ids and hashes of Lineward, settings of the operator, and names of event logs.
_OF_OTHERS = {
    *("access_audit", "application", "batch", "dataset_alias", "dataset_state", "edge_check"),
    *("error_count", "evidence_file", "execution", "execution_io", "incident", "incident_command"),
    *("incident_event", "incident_impact", "incident_member", "incident_telling", "lag_bucket"),
    "inferred_input",
    *("marquez_counter", "marquez_missing_run", "marquez_pull", "meta", "notification"),
    *("notification_channel", "notification_count", "reader_cursor", "received_alert"),
    *("received_cursor", "run_io", "served_bucket", "served_count", "served_counter"),
    *("served_hour", "service_cursor", "sli_counter", "sli_explained", "sli_hour", "sli_now"),
    "notification_secret",
    *("dataset_claim", "dataset_producer"),  # namespaces of jobs, cut at 200 characters
    "description",
    "attribute_claim",  # likewise, beside values of `tag` and `ownership`
    *("lake_folder", "lease", "log_position", "role_epoch"),  # own paths and names, a topic
    *("collector_removal", "log_collector"),  # as a setting names it
    # Names of Kubernetes' objects; `as_stored` of the kubernetes role cuts the others.
    *("kubernetes_watch", "spark_application", "spark_output", "spark_pod_failure"),
}


def _list_indexed(table: Table) -> Iterator[list[Column[Any]]]:
    yield list(table.primary_key.columns)
    yield from (list(index.columns) for index in table.indexes if isinstance(index, Index))
    yield from ([column] for column in table.columns if column.unique)


def _texts(table: Table) -> set[str]:
    return {
        column.name
        for index in _list_indexed(table)
        for column in index
        if isinstance(column.type, Text)
    }


def _random_texts(alphabet: str, seed: int = 7) -> Callable[[int], str]:
    """Return texts of so many bytes that no compression shortens."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    width = len(alphabet[0].encode())
    return lambda size: "".join(chance.choices(alphabet, k=size // width))


def _facets(text: Callable[[], str], source: dict[str, str]) -> dict[str, Any]:
    entity = {"type": "DATASET", "namespace": text(), "name": text()}
    return {
        "version": {"datasetVersion": text()},
        "checksum": {"algorithm": text(), "value": text()},
        "ownership": {"owners": [{"name": text(), "type": text()}]},
        "tags": {
            "tags": [
                {"key": text(), "value": text(), "source": text()},
                {"key": text(), "value": text(), "field": text()},
            ]
        },
        "documentation": {"description": text()},
        "schema": {"fields": [{"name": text(), "type": text(), "description": text()}]},
        "symlinks": {"identifiers": [{"namespace": text(), "name": text(), "type": text()}]},
        "lifecycleStateChange": {
            "lifecycleStateChange": "OVERWRITE",
            "previousIdentifier": {"namespace": text(), "name": text()},
        },
        "columnLineage": {
            "fields": {
                text(): {
                    "inputFields": [
                        source | {"field": text(), "transformations": [{"description": text()}]},
                        {"namespace": text(), "name": text(), "field": text()},
                    ]
                }
            }
        },
        "lineage": {"inputs": [entity], "fields": {text(): {"inputs": [entity]}}},
        "dataQualityAssertions": {"assertions": _assertions(text)},
    }


def _assertions(text: Callable[[], str]) -> list[dict[str, Any]]:
    texts = {name: text() for name in ("assertion", "column", "name", "severity", "expected")}
    return [{**texts, "actual": text(), "success": passed} for passed in (True, False)]


def _run_facets(text: Callable[[], str]) -> dict[str, Any]:
    return {
        "processing_engine": {
            "name": text(),
            "version": text(),
            "openlineageAdapterVersion": text(),
        },
        "spark_applicationDetails": {"applicationId": text()},
        "spark_properties": {"properties": {"spark.master": text(), text(): text()}},
        "environment-properties": {"environment-properties": {text(): text()}},
        "executionParameters": {"parameters": [{"key": text(), "value": text()}]},
        "errorMessage": {"message": text()},
        "nominalTime": {"nominalStartTime": text()},
        "tags": {"tags": [{"key": text(), "value": text(), "source": "DBT"}]},
    }


def _job_facets(text: Callable[[], str], output: dict[str, str]) -> dict[str, Any]:
    source = {"type": "DATASET", "namespace": text(), "name": text()}
    target = {"type": "DATASET", **output}
    return {
        "jobType": {"processingType": "BATCH", "integration": text(), "jobType": text()},
        "ownership": {"owners": [{"name": text(), "type": text()}]},
        "tags": {"tags": [{"key": "version", "value": text()}, {"key": text(), "value": text()}]},
        "sql": {"query": f"SELECT '{text()}'", "dialect": text()},
        "sourceCodeLocation": {
            name: text() for name in ("version", "url", "path", "tag", "branch")
        },
        "lineage": {"entries": [{**target, "inputs": [source]}]},
    }


def _events(at, alphabet: str) -> Iterator[dict[str, Any]]:
    """Return events with texts of 50 kB in every facet, and names of 2,048 bytes."""
    fresh = _random_texts(alphabet)
    long, name = (lambda: fresh(50_000)), (lambda: fresh(NAME_BYTES))
    bounded = [{"namespace": name(), "name": name()} for _ in range(3)]
    run_id = long()
    parent = {"run": {"runId": long()}, "job": {"namespace": long(), "name": long()}}
    for number, kind in enumerate(("START", "COMPLETE")):
        event = run_event(kind, at(9, number), run=run_id)
        event["producer"] = long()
        event["run"]["facets"] = _run_facets(long) | {"parent": {**parent, "root": parent}}
        event["job"] = bounded[0] | {"facets": _job_facets(long, bounded[1])}
        event["inputs"] = [bounded[2] | {"facets": _facets(long, bounded[1])}]
        event["outputs"] = [bounded[1] | {"facets": _facets(long, bounded[2])}]
        yield event
    declared = {key: event[key] for key in ("eventTime", "producer", "schemaURL", "outputs")}
    yield declared | {"job": bounded[0] | {"facets": _job_facets(long, bounded[1])}, "inputs": []}
    yield {key: declared[key] for key in ("eventTime", "producer")} | {
        "dataset": event["outputs"][0]
    }


def _longest(catalog, table: str, column: str) -> int:
    """Return the most bytes that a row has in the column."""
    given = metadata.tables[table].c[column]
    with catalog.connect() as connection:
        return max(
            (len((row[0] or "").encode()) for row in connection.execute(select(given))), default=0
        )


def test_every_indexed_text_is_declared_by_origin():
    """Declare of each index whether an event can fill it."""
    indexed = {table.name: found for table in metadata.tables.values() if (found := _texts(table))}
    unbounded = {name: found for name, found in indexed.items() if name not in _OF_OTHERS}
    words = {
        "run": {"evidence"},
        "ownership": {"subject"},
        "edge_told": {"oracle"},
        "digest": {"day"},
    }
    words["incident_escalation"] = {"incident_id"}

    assert {name: found - words.get(name, set()) for name, found in unbounded.items()} == _OF_EVENTS


_SHORT = (
    "tests/slis/stream/test_long_texts.py::test_an_event_of_long_texts_lands_with_each_text_cut"
)


@pytest.mark.parametrize(
    "alphabet",
    [
        pytest.param(_ALPHABETS["four bytes"], id="four bytes"),
        *[
            pytest.param(_ALPHABETS[one], id=one, marks=pytest.mark.nightly(short=_SHORT))
            for one in ("one byte", "three bytes")
        ],
    ],
)
def test_an_event_of_long_texts_lands_with_each_text_cut(spark, lander, catalog, at, alphabet):
    """Cut each text to the length that PostgreSQL takes, and leave out none."""
    now = at(9, 2)
    lander.batches._clock = lambda: now  # noqa: SLF001 - so that its datasets are new
    landed = lander.land(*_events(at, alphabet))
    evaluate(spark, catalog, DEFAULT, now + timedelta(minutes=1))

    assert landed.events == 4
    for name, columns in _OF_EVENTS.items():
        sizes = {column: _longest(catalog, name, column) for column in columns}
        found = {column for column, size in sizes.items() if size > KEY_BYTES // 4}
        assert name in _LATER or found == columns, sizes
        for index in _list_indexed(metadata.tables[name]):
            texts = [column.name for column in index if isinstance(column.type, Text)]
            assert sum(_longest(catalog, name, one) for one in texts) < _ENTRY_BYTES - _OTHER_BYTES


# PostgreSQL limits the length.
@pytest.mark.parametrize(
    "catalogs",
    ["postgresql", pytest.param("sqlite", marks=pytest.mark.nightly(short=_ON_POSTGRES))],
    indirect=True,
)
def test_patterns_of_names_that_grow_when_generalised_are_cut(spark, catalog, lander, at):
    """Cut two names of 2,048 bytes that would grow to 8 kB: `{n}` replaces one digit."""
    digits = "".join(f"{letter}1" for letter in _random_texts("abcdefghijklmnopqrstuvwxyz")(1_000))
    namespace = digits[:1_000].replace("1", "7")
    events = [run_event("COMPLETE", at(9, 0, number), run=f"r{number}") for number in range(30)]
    for number, event in enumerate(events):
        event["outputs"] = [{"namespace": namespace, "name": f"{digits[:1_900]}_{number}"}]
    lander.land(*events)

    evaluate(spark, catalog, DEFAULT, at(9, 1))

    assert rows(catalog, "SELECT new_datasets FROM name_pattern") == [(30,)]
    assert _longest(catalog, "name_pattern", "name") <= KEY_BYTES
    assert _longest(catalog, "name_pattern", "namespace") <= KEY_BYTES


def test_python_and_spark_cut_alike(spark):
    """Compute keys from the cut names: an edge of a facet then matches the dataset of an event."""
    lengths = (40, KEY_BYTES, NAME_BYTES)
    texts = [text for most in lengths for text in _around(most)]
    cut = [shorten_column(F.col("text"), most).alias(str(most)) for most in lengths]

    found = local_rows(spark, [(one,) for one in texts], "text string").select(*cut).collect()

    for most, each in zip(lengths, zip(*found, strict=True), strict=True):
        assert list(each) == [shorten(one, most) for one in texts]
        assert max(len(one.encode()) for one in each) <= most
        shown = dict(zip(texts, each, strict=True))
        own = _around(most)
        assert [shown[one] for one in own[:3]] == own[:3]
        assert len({shown[one] for one in own}) == len(set(own))


def _around(most):
    """Return texts that are shorter, as long and longer, in characters of each width."""
    texts = ["", "short", "x" * most, "x" * (most + 1), "é" * most, "\ufffd" * most]
    texts += [_random_texts(alphabet)(3 * most) for alphabet in _ALPHABETS.values()]
    texts += [f"{'x' * (most - 19 - before)}\U0001f600{'y' * most}" for before in range(5)]
    return texts


def test_a_facet_and_an_event_that_give_one_long_name_mean_one_dataset(lander, catalog, at):
    """Cut the name of the facet like that of the event."""
    long = _random_texts(_ALPHABETS["three bytes"])(9_000)
    lander.land(
        run_event("COMPLETE", at(8), run="r1", outputs=[long]),
        run_event(
            "COMPLETE",
            at(9),
            run="r2",
            outputs=[("other", {"symlinks": {"identifiers": [{"namespace": "n", "name": long}]}})],
        ),
    )

    assert rows(catalog, "SELECT count(DISTINCT canonical_key), count(*) FROM dataset") == [(1, 2)]

"""Reading of events: fields of the specified types are read, and the identity is stable."""

import json

import pyarrow as pa
import pytest

from lineage.lake.storage import open_lake
from slis.stream.facts import extract_from_table
from slis.stream.on_executors import decode_found, extract_from_partition
from tests.slis.stream.spools import columns, read, rows, run_event, table

_PARTLY = (
    "partly_unreadable",
    "a field has another type than the specification says; the rest of the event was taken",
)


def _summary(event):
    names = [dataset and (dataset.namespace, dataset.name) for dataset in event.datasets]
    return (event.problem, event.detail), names, event.run.engine


@pytest.mark.parametrize(
    ("path", "value", "problem", "names"),
    [
        (("inputs",), 5, _PARTLY, [("n", "out")]),
        (("inputs", 0), "text", _PARTLY, [None, ("n", "b"), ("n", "out")]),
        (("inputs", 0), None, (None, None), [None, ("n", "b"), ("n", "out")]),
        (("inputs", 0, "name"), 7, (None, None), [("n", "7"), ("n", "b"), ("n", "out")]),
        (("inputs", 0, "name"), None, (None, None), [("n", None), ("n", "b"), ("n", "out")]),
        (("outputs", 0, "facets"), 7, (None, None), [("n", "a"), ("n", "b"), ("n", "out")]),
        (("outputs",), None, (None, None), [("n", "a"), ("n", "b")]),
        (
            ("outputs", 0, "outputFacets"),
            {"outputStatistics": {"rowCount": 1 << 63}},
            _PARTLY,
            [("n", "a"), ("n", "b"), ("n", "out")],
        ),
    ],
    ids=str,
)
def test_a_part_of_another_type_is_left_out_and_the_rest_is_read(at, path, value, problem, names):
    """Read a number as a text where a text is expected; a null is missing, and no problem."""
    engine = {"processing_engine": {"name": "spark", "version": "4.0"}}
    event = run_event("COMPLETE", at(8), inputs=["a", "b"], outputs=["out"], facets=engine)
    place = event
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value

    assert _summary(read(event, at(12))) == (problem, names, "spark")


def test_bytes_that_are_no_text_are_replaced(at):
    """Replace them in a name and in a facet: an old lake may hold such a body."""
    event = run_event("COMPLETE", at(8), outputs=[("t", {"description": "é"})])
    body = json.dumps(event | {"producer": "é"}, ensure_ascii=False).encode()
    broken = body.replace("é".encode(), b"\xff")

    found = read(broken, at(12))

    assert found.run.producer == "\ufffd"
    assert extract_from_table(table([broken], at(12))).described[0].name == "t"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"7", b"\xff", b"[" * 5_000, b'"text"'])
def test_a_body_that_is_no_event_is_a_problem_of_its_own(at, body):
    """Read nothing, and report a missing time."""
    found = read(body, at(12))

    assert found.problem == "core_unreadable"
    assert found.detail.startswith("eventTime: ")
    assert found.detail.endswith("got nothing")


def test_a_nul_is_replaced_wherever_it_is(lander, catalog, at):
    r"""Replace it: PostgreSQL has no NUL; `\\u0000` is a backslash and five characters."""
    event = run_event("COMPLETE", at(8), run="r\0", job="a\0b", outputs=["t\0x", r"t\u0000y"])
    assert b"\\u0000" in json.dumps(event).encode()

    lander.land(event)

    assert rows(catalog, "SELECT name FROM dataset ORDER BY 1") == [(r"t\u0000y",), ("t\ufffdx",)]
    assert rows(catalog, "SELECT run_id, job_name FROM run") == [("r\ufffd", "a\ufffdb")]
    writes = "SELECT d.name FROM dataset_write w JOIN dataset d ON d.dataset_key = w.dataset_key"
    assert sorted(rows(catalog, writes)) == [(r"t\u0000y",), ("t\ufffdx",)]


@pytest.mark.parametrize(
    "facets",
    [
        {"sql": json.dumps({"query": "select 'a\0b'", "dialect": "x\0"})},
        {"tags": {"tags": json.dumps([{"key": "git_sha", "value": "a\0b"}])}},
        {"ownership": json.dumps({"owners": [{"name": "a\0b"}]})},
        {"documentation": {"description": "a\0b"}},
    ],
    ids=lambda facets: next(iter(facets)),
)
def test_a_nul_within_json_within_a_text_lands(lander, catalog, at, facets):
    """Decode such JSON twice: the second time gives the NUL."""
    event = run_event("COMPLETE", at(8), outputs=["t"])
    event["job"]["facets"] |= facets

    lander.land(event)

    assert rows(catalog, "SELECT count(*) FROM run") == [(1,)]


def test_an_event_has_the_key_that_earlier_releases_gave_it(at):
    """Recognize a repeat whose first copy landed before an upgrade."""
    event = run_event("COMPLETE", at(8), inputs=["b", "a"], outputs=["out"])
    dataset = {"eventTime": at(8).isoformat(), "dataset": {"namespace": "n", "name": "t"}}

    keys = [read(one, at(12)).event_key for one in (event, dataset)]

    assert keys == [9_212_909_530_128_095_133, 2_788_758_278_692_457_071]


def test_the_facts_of_a_task_are_those_of_the_driver(at, tmp_path):
    """Send facts as JSON, and join those of all record batches."""
    facets = {
        **columns("in"),
        "schema": {"fields": [{"name": "id", "type": "int", "description": "a key"}]},
        "ownership": {"owners": [{"name": "shop"}]},
        "tags": {"tags": [{"key": "pii", "value": "no"}]},
    }
    events = [
        run_event("START", at(8), inputs=["in"], facets={"tags": {"tags": [{"key": "k"}]}}),
        run_event("COMPLETE", at(9), outputs=[("out", facets)], rows_written=3),
        {"eventTime": at(9).isoformat(), "job": {"namespace": "j", "name": "b"}, "inputs": []},
        b"{",
    ]
    given = table(events, at(12))
    batches = [batch for part in range(4) for batch in given.slice(part, 1).to_batches()]
    other = pa.RecordBatch.from_pylist([{**given.to_pylist()[0], "kind": "range", "body": b"x"}])

    [found] = extract_from_partition([*batches, other], iter, open_lake(tmp_path), "folder")
    decoded = decode_found(found.column(0)[0].as_py())

    whole = extract_from_table(given)
    assert decoded.others == [("range", b"x")]
    assert decoded.facts.events == whole.events
    assert decoded.facts.described == whole.described
    assert decoded.facts.run_io == whole.run_io
    assert {run.run_key for run, _ in decoded.facts.runs} == {whole.runs[0][0].run_key}
    assert sum(file.events for file in decoded.files) == len(events)

"""Graph of the past: which run read which version, and what is unknown now."""

import json

import pytest

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import open_reader
from lineage.process.clock import to_micros
from service.queries.dataset_lookup import resolve_dataset
from service.queries.lineage_at import past_lineage
from tests.service import shop
from tests.service.commandline import lineward
from tests.slis.stream.spools import run_event

pytestmark = pytest.mark.postgres_nightly


def _version(name, version):
    return (name, {"version": {"datasetVersion": version}})


def _write_event(at, run, code, touched, *, kind="COMPLETE"):
    read, wrote = touched
    facets = {"executionParameters": {"parameters": [{"key": "run_date", "value": run}]}}
    event = run_event(kind, at, run=run, inputs=[read], outputs=[wrote], facets=facets)
    event["job"]["facets"]["sourceCodeLocation"] = {"type": "git", "url": "x", "version": code}
    return event


def _land(lander, catalog, at):
    """Land two days of one job, a failure in between, and a second input on the second day."""
    lander.land(
        _write_event(at(1), "d1", "v1", (_version("raw", "1"), _version("core", "7"))),
        _write_event(at(2), "bad", "v2", (_version("raw", "2"), "core"), kind="FAIL"),
        _write_event(at(3), "d2", "v2", (_version("raw", "3"), _version("core", "8"))),
        _write_event(at(4), "d3", "v2", ("ref", "core")),
        run_event("COMPLETE", at(5), run="m", job="mart", inputs=["core"], outputs=["mart"]),
    )
    _meta(catalog, to_micros(at(0)))


def _meta(catalog, began):
    with write_transaction(catalog) as connection:
        row = {"name": "installed_at", "value": f"{began:016d}"}
        connection.execute(tables.meta.insert(), row)


def _then(catalog, instant, direction="both"):
    url = catalog.url.render_as_string(hide_password=False)
    with open_reader(url) as reader:
        named = resolve_dataset(reader, "core", "n")
        return past_lineage(reader, named, to_micros(instant), depth=5, direction=direction)


def test_each_edge_has_the_run_that_had_made_it_so_by_then(lander, catalog, at):
    """Show run, versions, code and parameters; a failure made no edge.

    Later inputs, and datasets made from them, are left out.
    """
    _land(lander, catalog, at)

    then = _then(catalog, at(2, 30))

    (raw,) = then.upstream
    assert (raw.dataset, raw.run.root_run_id, raw.run.status) == ("raw", "d1", "COMPLETE")
    assert (raw.run.read.version, raw.run.wrote.version) == ("1", "7")
    assert (raw.run.code_version, raw.run.parameters) == ("v1", {"run_date": "d1"})
    assert (then.downstream, then.partial) == ([], False)


def test_each_input_keeps_the_newest_run_that_read_it(lander, catalog, at):
    """Show `raw` as the run of 03:00 read it, since that of 04:00 read only `ref`."""
    _land(lander, catalog, at)

    now = _then(catalog, at(6))

    runs = [(node.dataset, node.run.root_run_id) for node in [*now.upstream, *now.downstream]]
    assert runs == [("raw", "d2"), ("ref", "d3"), ("mart", "m")]
    assert (now.upstream[0].run.read.version, now.upstream[0].run.wrote.version) == ("3", "8")


def test_an_edge_that_the_newest_write_did_not_make_is_marked(lander, catalog, at):
    """Mark `raw` after 04:00, as the write did not read it, and not at 03:30."""
    _land(lander, catalog, at)

    earlier = _then(catalog, at(3, 30), direction="upstream")
    now = _then(catalog, at(6), direction="upstream")

    assert [node.run.written_again_at for node in earlier.upstream] == [None]
    assert [node.run.written_again_at for node in now.upstream] == [
        "2026-11-21T04:00:00.000Z",
        None,
    ]


@pytest.mark.postgres_always
def test_runs_past_their_retention_are_reported_as_missing(lander, catalog, at):
    """Keep the edge without a run."""
    _land(lander, catalog, at)
    with write_transaction(catalog) as connection:
        connection.exec_driver_sql("DELETE FROM edge_run")

    then = _then(catalog, at(2), direction="upstream")

    assert [(node.dataset, node.run) for node in then.upstream] == [("raw", None)]
    assert then.partial
    assert "1 edges have no stored successful run at that time" in then.partial_reason


def test_a_time_before_the_first_data_is_unknown(lander, catalog, at):
    """Report missing data, as an empty tree would mean that there was no lineage."""
    _land(lander, catalog, at)

    then = _then(catalog, shop.DAY)

    assert (then.upstream, then.partial) == ([], True)
    assert "no data for that time: watched since 2026-11-21T00:00:00Z" in (then.partial_reason)


@pytest.mark.parametrize(
    ("instant", "rejection"),
    [
        ("yesterday", "expected a timestamp such as"),
        ("2026-11-20T12:00:00", "has no time zone"),
        ("2999-01-01T00:00:00Z", "is in the future"),
        ("0001-01-01T00:00:00+14:00", "at: expected a time of the years 1970 to 2999"),
        ("9999-12-31T23:59:59-14:00", "at: expected a time of the years 1970 to 2999"),
    ],
)
def test_an_invalid_time_is_rejected(catalog, instant, rejection):
    """Exit code 2, and what to write instead."""
    shop.fill(catalog)

    done = lineward("lineage", shop.CORE, "--at", instant, catalog=catalog)

    assert (done.returncode, rejection in done.stderr) == (2, True)


def test_the_command_shows_all_details_of_an_edge(lander, catalog, at):
    """Print checksums, settings and rows, as in JSON."""
    read = {"version": {"datasetVersion": "3"}, "checksum": {"algorithm": "md5", "value": "c0ffee"}}
    event = _write_event(at(1), "d1", "v1", (("raw", read), "core"))
    event["run"]["facets"]["spark_properties"] = {
        "properties": {"spark.executor.instances": "4", "spark.master": "yarn"}
    }
    lander.land(event, _write_event(at(2), "d2", "v1", ("ref", "core")))
    _meta(catalog, to_micros(at(0)))

    shown = lineward(
        *("lineage", "core", "--namespace", "n", "--at", at(6).isoformat()), catalog=catalog
    )

    words = " ".join(shown.stdout.split())
    assert "read checksum md5:c0ffee" in words
    assert "spark.executor.instances=4" in words
    assert "written again without it 2026-11-21" in words


def test_the_command_shows_the_past(lander, catalog, at):
    """Print it for people, and as JSON."""
    _land(lander, catalog, at)
    asked = ("lineage", "core", "--namespace", "n", "--at", at(2, 30).isoformat())

    shown = lineward(*asked, catalog=catalog)
    text = json.loads(lineward(*asked, "--json", catalog=catalog).stdout)

    assert "run d1 COMPLETE" in shown.stdout
    assert "read version 1" in shown.stdout
    assert "code v1" in shown.stdout
    assert [node["run"]["root_run_id"] for node in text["upstream"]] == ["d1"]

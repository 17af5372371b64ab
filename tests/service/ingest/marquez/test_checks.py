import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from sqlalchemy import Engine, insert

from lineage.catalog import tables
from lineage.process.clock import to_micros
from service.exporter.metrics import CatalogCollector
from service.ingest.marquez.checks import Comparer, Prober
from service.ingest.marquez.client import Marquez, MarquezError
from service.ingest.marquez.store import Comparison, Probe, SetAsideRow, Store
from service.runtime.settings import Settings
from tests.fakes.marquez import FakeMarquez, minutes, run_event
from tests.service.ingest.marquez.beside import NOON, counters, marquez_settings, rows, spool
from tests.service.ingest.marquez.pulling import Hands
from tests.service.shop import RUN_ID

_Found = TypeVar("_Found")


def _ask(
    marquez: FakeMarquez, work: Callable[[Marquez], Awaitable[_Found]], *, patience: float = 5.0
) -> _Found:
    async def run() -> _Found:
        client = Marquez(marquez_settings(marquez, timeout_seconds=patience))
        try:
            return await work(client)
        finally:
            await client.close()

    return asyncio.run(run())


def _probe(tmp_path, engine, marquez, *, patience=5.0):
    def work(client):
        return Prober(client, Store(engine), tmp_path / "spool.db", Hands()).round()

    return _ask(marquez, work, patience=patience)


def test_a_probe_measures_the_lineage_of_what_was_written_last(tmp_path, engine, marquez):
    """Use the producer's spelling of its name, and store the duration."""
    event = run_event(1, at=NOON)
    spool(tmp_path, [event])
    marquez.store([event])

    found = _probe(tmp_path, engine, marquez)

    node = "dataset:s3://shop:core/orders"
    assert (found.is_answered, found.status, found.detail) == (True, 200, node)
    assert found.seconds > 0
    assert rows(engine, "SELECT at, seconds FROM marquez_probe") == [(found.at, found.seconds)]


def test_an_unknown_node_is_not_measured(tmp_path, engine, marquez):
    """Record an answer without a duration, as a fast 404 is no query."""
    spool(tmp_path, [run_event(1, at=NOON)])

    found = _probe(tmp_path, engine, marquez)

    assert (found.is_answered, found.status, found.seconds) == (True, 404, None)


@pytest.mark.parametrize(
    ("lineage", "patience", "status"), [((500, 0.0), 5.0, 500), ((200, 2.0), 0.1, None)]
)
def test_a_probe_that_fails_or_takes_too_long_is_no_answer(  # noqa: PLR0913, PLR0917 - of fixtures
    tmp_path, engine, marquez, lineage, patience, status
):
    """Store no duration: a wait of 30 s is no query of 30 s."""
    event = run_event(1, at=NOON)
    spool(tmp_path, [event])
    marquez.store([event])
    marquez.lineage = lineage

    found = _probe(tmp_path, engine, marquez, patience=patience)

    assert (found.is_answered, found.status, found.seconds) == (False, status, None)


def test_a_probe_without_a_dataset_checks_the_server(tmp_path, engine, marquez):
    """Record from the first minute whether the server is up."""
    assert _probe(tmp_path, engine, marquez).is_answered
    marquez.stop()
    assert not _probe(tmp_path, engine, marquez).is_answered


def _add_runs(engine: Engine, *numbers: int, **fields: object) -> None:
    at = to_micros(NOON)
    texts = ("job_namespace", "job_name", "root_job_namespace", "root_job_name")
    with engine.begin() as connection:
        for number in numbers:
            run_id = run_event(number, at=NOON)["run"]["runId"]
            values = dict.fromkeys(texts, "ours") | {"run_id": run_id, "root_run_id": run_id}
            instants = {"first_event_at": at, "last_event_at": at, "landed_at": at}
            row = values | instants | {"run_key": number, "is_history": False} | fields
            connection.execute(insert(tables.run).values(row))


def _compare(engine: Engine, marquez: FakeMarquez) -> Comparison:
    clock = Hands(NOON + timedelta(hours=1))
    return _ask(marquez, lambda client: Comparer(client, Store(engine), clock).round())


def test_runs_missing_on_one_side_are_counted_and_named(engine, marquez):
    """Find run 3 only here, and 4 and 5 only there; leave out new runs and history."""
    _add_runs(engine, 1, 2, 3)
    _add_runs(engine, 9, is_history=True)
    marquez.store([run_event(n, at=NOON + minutes(n)) for n in (1, 2, 4, 5)])
    marquez.store([run_event(4, at=NOON + minutes(6)), run_event(6, at=NOON + minutes(57))])

    found = _compare(engine, marquez)

    assert found == Comparison(found.at, 3, 1, 4, 2)
    missing = rows(engine, "SELECT side, run_id, job_name FROM marquez_missing_run ORDER BY 1, 2")
    ids = {n: run_event(n, at=NOON)["run"]["runId"] for n in (3, 4, 5)}
    assert missing == [("here", ids[4], "etl"), ("here", ids[5], "etl"), ("there", ids[3], "ours")]


def test_a_run_that_arrived_is_no_longer_named(engine, marquez):
    """Name the missing runs of the last comparison."""
    _add_runs(engine, 1)
    assert _compare(engine, marquez).missing_there == 1
    marquez.store([run_event(1, at=NOON)])

    assert _compare(engine, marquez).missing_there == 0
    assert rows(engine, "SELECT * FROM marquez_missing_run") == []


def test_runs_known_from_evidence_only_are_not_compared(engine, marquez):
    """Leave them out, as their events were never sent."""
    _add_runs(engine, 1)
    _add_runs(engine, 2, run_id="local-17/3", evidence="alone")
    _add_runs(engine, 3, evidence="failed")
    marquez.store([run_event(n, at=NOON) for n in (1, 3)])

    found = _compare(engine, marquez)

    assert (found.sampled_ours, found.missing_there) == (2, 0)
    assert counters(engine) == {}


def test_a_rejected_run_is_counted_and_stops_no_comparison(engine, marquez):
    """Count it neither as present nor as missing, and compare the others."""
    _add_runs(engine, 1, 2)
    _add_runs(engine, 3, run_id="no/uuid")
    marquez.store([run_event(1, at=NOON)])

    found = _compare(engine, marquez)

    assert (found.sampled_ours, found.missing_there) == (2, 1)
    assert counters(engine) == {"compare_refused": 1}


@pytest.mark.parametrize("status", [401, 403, 429])
def test_a_rejected_client_is_no_answer_for_a_run(engine, marquez, status):
    """Raise, as a wrong token would otherwise compare nothing and find nothing missing."""
    _add_runs(engine, 1)
    marquez.status = status

    with pytest.raises(MarquezError):
        _compare(engine, marquez)

    assert rows(engine, "SELECT * FROM marquez_comparison") == []


def test_a_marquez_that_is_away_is_not_compared(engine, marquez):
    """Raise, so that no run is called missing."""
    _add_runs(engine, 1)
    marquez.status = 500

    with pytest.raises(MarquezError):
        _compare(engine, marquez)

    assert rows(engine, "SELECT * FROM marquez_comparison") == []


def _scrape(engine: Engine, now: datetime) -> dict[str, float]:
    url = engine.url.render_as_string(hide_password=False)
    registry = CollectorRegistry()
    registry.register(CatalogCollector(Settings(catalog_url=url), lambda: now))
    lines = generate_latest(registry).decode().splitlines()
    samples = (line.rsplit(" ", 1) for line in lines if line.startswith("lineage_marquez"))
    return {name.removeprefix("lineage_marquez_"): float(value) for name, value in samples}


def test_metrics_leave_out_old_probes_and_comparisons(catalog):
    """Keep counters, and leave out a probe or comparison that is too old."""
    now = datetime.now(UTC)
    store, at = Store(catalog), to_micros(now)
    store.cursor()
    store.note_forwarded(40, 38)
    store.set_aside(SetAsideRow(7, RUN_ID, "http_422", "why", b"{}", 2, at))
    store.pull_state("http://marquez:5000", at)
    store.note_pulled("http://marquez:5000", at, taken=5, rejected=1)
    store.note_probe(Probe(at, is_answered=True, seconds=1.25, status=200, detail="x"))
    store.note_comparison(Comparison(at, 100, 2, 90, 1), [])

    counters = {
        "forwarded_total": 38.0,
        "unforwarded_total": 0.0,
        'set_aside_total{reason="http_422"}': 1.0,
        "pulled_total": 5.0,
        "pull_refused_total": 1.0,
        "pull_timestamp_seconds": at // 1_000 / 1_000,
    }
    assert _scrape(catalog, now) == counters | {
        "up": 1.0,
        "probe_seconds": 1.25,
        'missing_runs{side="there"}': 2.0,
        'missing_runs{side="here"}': 1.0,
        'compared_runs{side="there"}': 100.0,
        'compared_runs{side="here"}': 90.0,
    }
    assert _scrape(catalog, now + timedelta(hours=4)) == counters


def test_without_a_marquez_there_is_no_metric(engine):
    """Show no metric, not even 0."""
    assert _scrape(engine, datetime.now(UTC)) == {}

"""Order, repeats and the split into batches do not matter."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineage.policy import DEFAULT
from slis.evaluation.evaluation import evaluate
from tests.slis.stream.merge.test_exactly_once import contents
from tests.slis.stream.spools import Lander, columns, run_event
from tests.suite.examples import is_long

_SYMLINK = {"symlinks": {"identifiers": [{"namespace": "n", "name": "db.t"}]}}
_SCHEMA = {"schema": {"fields": [{"name": "id", "type": "long"}]}}


def _estate(at):
    """Return events of two runs of one application, one of which completes again hours later.

    Add other runs: one that fails, a stream, a partition, a table under two names, and two runs
    with column lineage, of which one names inputs too.
    """
    app, stream = (
        ("a1", "shop"),
        {"processing": "STREAMING", "inputs": ["topic"], "outputs": ["live"]},
    )
    return [
        run_event("START", at(8), run="r1", job="shop.a", inputs=["in"], root=app),
        run_event(
            "COMPLETE",
            at(9),
            run="r1",
            job="shop.a",
            outputs=[("/wh/t", _SYMLINK)],
            root=app,
            rows_written=3,
        ),
        run_event(
            "COMPLETE", at(8, 30), run="r2", job="shop.b", inputs=["in"], outputs=["db.t"], root=app
        ),
        # A run that was cleared and started again under its id: it wrote two hours later.
        run_event("COMPLETE", at(10, 30), run="r2", job="shop.b", outputs=["db.t"], root=app),
        run_event(
            "START", at(9), run="r3", job="late", inputs=["db.t"], outputs=[("out", _SCHEMA)]
        ),
        run_event("FAIL", at(10), run="r3", job="late"),
        run_event("COMPLETE", at(10, 1), run="r3", job="late", outputs=["out"]),
        run_event("RUNNING", at(8, 10), run="s1", job="stream", rows_written=1, **stream),
        run_event("RUNNING", at(9, 10), run="s1", job="stream", rows_written=1, **stream),
        run_event(
            "COMPLETE",
            at(11),
            run="r4",
            job="daily",
            inputs=["db.t"],
            outputs=["/wh/p/dt=2026-11-20"],
        ),
        run_event("START", at(8), run="r5", job="facets", inputs=["in"]),
        run_event(
            "COMPLETE", at(9), run="r5", job="facets", outputs=[("facets", columns("in", "topic"))]
        ),
        run_event(
            "COMPLETE", at(9), run="r6", job="seeded", outputs=[("seeded", columns("in", "seed"))]
        ),
    ]


def _land(spark, catalog, at, batches):
    with tempfile.TemporaryDirectory() as folder:
        lander = Lander(catalog, Path(folder), at(12))
        for batch in batches:
            lander.land(*batch)
    evaluate(spark, catalog, DEFAULT, at(12, 30))
    found = contents(catalog, but=_NOT_COMPARED)
    catalog.dispose()
    return found


# The catalog's own epoch, and the duration of the evaluation.
_NOT_COMPARED = ("batch", "reader_cursor", "meta", "sli_counter", "evaluation")
_expected = {}


@pytest.mark.postgres_nightly("a batch is merged by the SQL of test_runs.py")
@settings(
    max_examples=20 if is_long() else 2, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_order_repeats_and_batches_do_not_matter(spark, catalogs, at, data):
    """Land shuffled events, with repeats, cut into batches anywhere.

    Compare every table of the catalog, those of the SLIs included.
    """
    events = _estate(at)
    order = data.draw(st.permutations(range(len(events))))
    repeats = data.draw(st.lists(st.sampled_from(range(len(events))), min_size=1, max_size=4))
    delivered = [events[number] for number in [*order, *repeats]]
    cuts = sorted(data.draw(st.sets(st.integers(1, len(delivered) - 1), min_size=1, max_size=3)))
    batches = [delivered[a:b] for a, b in zip([0, *cuts], [*cuts, len(delivered)], strict=True)]
    catalog = catalogs()
    kind = catalog.dialect.name
    if kind not in _expected:
        _expected[kind] = _land(spark, catalogs(), at, [events])

    assert _land(spark, catalog, at, batches) == _expected[kind]

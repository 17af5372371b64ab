"""Benchmark of queries: it runs the documented queries. Tests do not check its speed."""

from lab.bench.query import query
from lab.bench.query.questions import estates
from tests.suite.classes import interpreter_variables


def test_a_small_estate_is_queried_alone_and_during_events(monkeypatch):
    """Run service, pipeline and 1,000 events a second for 100 datasets."""
    for name, value in interpreter_variables().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(query, "_WARM_SECONDS", 2.0)
    monkeypatch.setattr(query, "estates", lambda scale: [next(estates(scale))])

    report = query.run(requests=60, scale=0.02)

    lineage, marquez = report.timings
    assert (lineage.datasets, lineage.edges) == (100, 142)
    for one in (lineage, marquez):
        assert 0 < one.p50_ms <= one.p95_ms
        assert 0 < one.while_events_p50_ms <= one.while_events_p95_ms
        assert one.kilobytes > 10, "100 datasets are more than that"
    assert lineage.recursive_sql_ms is not None
    assert lineage.holds == (lineage.while_events_p95_ms < 50)
    assert report.oldest_answer_seconds > 0
    [graph] = report.graphs
    assert graph.service_mib > 50

"""Edges written by the benchmark: each counts for the oldest response, with or without a query."""

from contextlib import closing

from sqlalchemy import Engine, func, select

from lab.bench.query.roles import Markers
from lineage.catalog import tables
from service.runtime.settings import Settings
from tests.suite.waiting import until


def _list_datasets(catalog: Engine) -> list[str]:
    """Return the datasets downstream of the first one, in their order."""
    edge, dataset = tables.edge.c, tables.dataset.c
    of = select(dataset.name).join(tables.edge, edge.downstream_key == dataset.dataset_key)
    with catalog.connect() as connection:
        return list(connection.scalars(of.order_by(func.length(dataset.name), dataset.name)))


def test_queries_continue_until_every_edge_was_in_a_response(embedded):
    """Count each age once: each response has one edge more than the one before."""
    answers = [0]

    def ask() -> bytes:
        answers[0] += 1
        return " ".join(_list_datasets(embedded)[: answers[0]]).encode()

    settings = Settings(catalog_url=embedded.url.render_as_string(hide_password=False))
    with closing(Markers(settings)) as markers:
        markers.start()
        until(lambda: len(_list_datasets(embedded)) >= 2)
        ages = markers.end(ask)

    assert len(ages) == len(_list_datasets(embedded)) == answers[0]
    assert ages == sorted(ages, reverse=True), "what was written first waited longest"

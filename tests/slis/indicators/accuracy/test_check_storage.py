"""Checks in the catalog: each edge once for each version of the producer."""

from slis.indicators.accuracy.check_storage import keep_checks
from tests.slis.stream.spools import Lander, rows, run_event


def test_the_named_run_wrote_last_in_any_order_of_comparison(catalog, tmp_path, at):
    """Choose by time: logs are listed in no order, so the newest of eight days may come first."""
    Lander(catalog, tmp_path, at(12)).land(
        run_event("COMPLETE", at(1), run="r1", inputs=["a"], outputs=["b"]),
        run_event("COMPLETE", at(2), run="r2", inputs=["a"], outputs=["b"]),
    )
    ((upstream, downstream),) = rows(catalog, "SELECT upstream_key, downstream_key FROM edge")
    edge = {"upstream_key": upstream, "downstream_key": downstream, "outcome": "good"}
    checks = [{**edge, "oracle": "event_log", "root_run_id": run} for run in ("r2", "r1")]

    for check in checks:
        with catalog.begin() as connection:
            keep_checks(connection, [check], 5)

    assert rows(catalog, "SELECT root_run_id FROM edge_check") == [("r2",)]

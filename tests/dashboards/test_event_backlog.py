"""Event backlog of the on-call dashboard: all events that wait for the pipeline, counted once."""

from pathlib import Path

import pytest

from dashboards.grafana.queries import waiting_events
from tests.alerts.rules.promtool import asked_at_once

_LOG = {"lineage_pipeline_backlog_events": "7x5"}
_SPOOL = {'lineage_collector_spool_waiting_events{instance="a"}': "30x5"}
_SHIPPERS = {
    'lineage_shipper_waiting_events{instance="a"}': "30x5",
    'lineage_shipper_waiting_events{instance="b"}': "400x5",
    # This shipper cannot read its spool.
    'lineage_shipper_waiting_events{instance="c"}': "NaN NaN NaN NaN NaN",
}


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        (_LOG | _SPOOL, 7),
        (_LOG | _SPOOL | _SHIPPERS, 437),
        (_SPOOL | _SHIPPERS, 430),
        (_SPOOL, 30),
    ],
    ids=["spool", "kafka", "kafka without a catalog", "spool on another machine"],
)
def test_each_event_that_waits_is_counted_once(
    tmp_path: Path, series: dict[str, str], expected: int
):
    """Add what shippers hold to what the service counts."""
    queries = (4, waiting_events(), (f"{{}} {expected}",))

    assert asked_at_once(tmp_path, "groups: []\n", series, queries) == ""

"""Events as producers send them, cut to what the collector looks at."""

import json
import uuid
from typing import Any

RUN_ID = "01a1fbd9-377d-765b-b4c7-0039a32d1efd"
_SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs"


def run_event(**changes: object) -> dict[str, Any]:
    """Return a RunEvent; a change of None removes the field."""
    return _with(
        {
            "eventTime": "2026-11-21T09:00:00.123Z",
            "producer": "https://example.org/shop",
            "schemaURL": f"{_SPEC}/RunEvent",
            "eventType": "COMPLETE",
            "run": {"runId": RUN_ID},
            "job": {"namespace": "shop", "name": "orders.daily"},
            "inputs": [{"namespace": "file", "name": "/raw/orders"}],
            "outputs": [{"namespace": "file", "name": "/core/orders"}],
        },
        changes,
    )


def job_event(**changes: object) -> dict[str, Any]:
    """Return a JobEvent."""
    left = {"eventType": None, "run": None, "schemaURL": f"{_SPEC}/JobEvent"}
    return run_event(**(left | changes))


def dataset_event(**changes: object) -> dict[str, Any]:
    """Return a DatasetEvent."""
    left = dict.fromkeys(("eventType", "run", "job", "inputs", "outputs"))
    dataset = {"namespace": "file", "name": "/core/orders"}
    left |= {"dataset": dataset, "schemaURL": f"{_SPEC}/DatasetEvent"}
    return run_event(**(left | changes))


def body(event: object) -> bytes:
    """Return the event as it is sent."""
    return json.dumps(event).encode()


def new_body() -> bytes:
    """Return a RunEvent that was never sent before."""
    return body(run_event(run={"runId": str(uuid.uuid4())}))


def with_facet(value_json: str) -> bytes:
    """Return a RunEvent with `$.run.facets.x` as this text: JSON that `json` would not write."""
    run = {"runId": RUN_ID, "facets": {"x": "@"}}
    return body(run_event(run=run)).replace(b'"@"', value_json.encode("utf-8", "surrogatepass"))


def _with(event: dict[str, Any], changes: dict[str, object]) -> dict[str, Any]:
    return {name: value for name, value in (event | changes).items() if value is not None}

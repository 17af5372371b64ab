"""Test of a release: it posts an event and reads the SLIs of its dataset from the API.

`helm test` runs this file in a pod. It needs only the standard library of Python.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from datetime import UTC, datetime
from pathlib import Path

NAMESPACE = "lineward-helm-test"
DATASET = "probe"
_PRODUCER = "https://github.com/lineward"
_SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_DROP = {
    "_producer": _PRODUCER,
    "_schemaURL": "https://openlineage.io/spec/facets/1-0-1/LifecycleStateChangeDatasetFacet.json",
    "lifecycleStateChange": "DROP",
}
_PAUSE_SECONDS = 2.0
_REQUEST_SECONDS = 10.0


def build_event(run_id: str, state: str, facets: dict[str, object]) -> bytes:
    """Build an event of a run that reads and writes the dataset of the test."""
    dataset = {"namespace": NAMESPACE, "name": DATASET}
    event = {
        "eventType": state,
        "eventTime": datetime.now(UTC).isoformat(),
        "producer": _PRODUCER,
        "schemaURL": _SCHEMA,
        "run": {"runId": run_id},
        "job": {"namespace": NAMESPACE, "name": "helm-test"},
        "inputs": [dataset],
        "outputs": [{**dataset, "facets": facets}],
    }
    return json.dumps(event).encode()


def call(url: str, token_file: str, body: bytes | None = None) -> bytes:
    """Send one request and return the body of its answer."""
    headers = {"Content-Type": "application/json"}
    if token_file:
        headers["Authorization"] = f"Bearer {Path(token_file).read_text().strip()}"
    request = urllib.request.Request(url, data=body, headers=headers)  # noqa: S310 - ours
    with urllib.request.urlopen(request, timeout=_REQUEST_SECONDS) as answer:  # noqa: S310
        content: bytes = answer.read()
    return content


def post(run_id: str, state: str, facets: dict[str, object] | None = None) -> None:
    """Post one event of the run to the collector."""
    url = f"{os.environ['COLLECTOR_URL']}/api/v1/lineage"
    call(url, os.environ.get("COLLECTOR_TOKEN_FILE", ""), build_event(run_id, state, facets or {}))
    print(f"{state} of run {run_id} is stored by the collector")


def read_slis(run_id: str) -> list[dict[str, object]]:
    """Return the SLIs of the dataset once the run is its last one; none before."""
    query = urllib.parse.urlencode({"dataset": DATASET, "dataset_namespace": NAMESPACE})
    url = f"{os.environ['API_URL']}/api/v1/dataset?{query}"
    try:
        found = json.loads(call(url, os.environ.get("API_TOKEN_FILE", "")))
    except urllib.error.HTTPError as error:
        if error.code not in (404, 503):  # not known yet; not ready yet
            raise
        return []
    is_ours = (found["last_run"] or {}).get("run_id") == run_id
    states: list[dict[str, object]] = found["states"]
    return states if is_ours else []


def await_slis(run_id: str, deadline: float) -> list[dict[str, object]]:
    """Ask the API until it has the SLIs of the run, or until the deadline."""
    while time.monotonic() < deadline:
        try:
            if states := read_slis(run_id):
                return states
        except (urllib.error.URLError, TimeoutError) as error:
            if isinstance(error, urllib.error.HTTPError):
                raise
            print(f"the API does not answer yet: {error}")
        time.sleep(_PAUSE_SECONDS)
    return []


def print_slis(states: list[dict[str, object]]) -> None:
    """Print each SLI of the dataset with its reason, or that there is none."""
    for one in states:
        reason = f" ({one['reason']})" if one["reason"] else ""
        print(f"{one['sli']} {one['name']} of {NAMESPACE}/{DATASET}: {one['state']}{reason}")
    if not states:
        print("failed: the API has no SLI of the run in time; see logs/pipeline.log in the pod")


def main() -> int:
    """Run the test; the exit code is 0 where the SLIs came back."""
    run_id = str(uuid.uuid4())
    deadline = time.monotonic() + float(os.environ.get("TIMEOUT_SECONDS", "240"))
    try:
        post(run_id, "START")
        post(run_id, "COMPLETE")
        states = await_slis(run_id, deadline)
        print_slis(states)
        # A dataset that its job drops is expected no more: no later test run is late.
        post(run_id=str(uuid.uuid4()), state="COMPLETE", facets={"lifecycleStateChange": _DROP})
    except (urllib.error.URLError, TimeoutError, OSError) as error:
        detail = error.read().decode() if isinstance(error, urllib.error.HTTPError) else ""
        print(f"failed: {getattr(error, 'url', '')} {error} {detail}")
        return 1
    return 0 if states else 1


if __name__ == "__main__":
    sys.exit(main())

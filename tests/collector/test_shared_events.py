"""Events of real producers: accepted, but for named exceptions with their reason."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from collector.errors import InvalidEventError
from collector.events import parse_event
from collector.settings import Limits

pytestmark = pytest.mark.shared

# OpenLineage requires the field, and Marquez's example data is older than that.
_NO_SCHEMA = "$.schemaURL: required, and missing"
_MISSING = re.compile(r".*: required, and missing")
# Expected results of OpenLineage's own tests: json-unit placeholders, and fields left out on
# purpose. No producer sends these.
_TEMPLATES = "expected-templates"


def _bodies(file: Path) -> list[bytes]:
    raw = file.read_bytes()
    if file.suffix == ".json":
        return [raw]
    lines = [line for line in raw.splitlines() if line.strip()]
    # The recordings of the listener wrap each body with how and when it came.
    wrapped = [json.loads(line).get("body") for line in lines]
    return [
        line if body is None else json.dumps(body).encode()
        for line, body in zip(lines, wrapped, strict=True)
    ]


def _outcome(body: bytes) -> str:
    try:
        return parse_event(body, Limits()).kind
    except InvalidEventError as rejection:
        return rejection.detail


def _outcomes(folder: Path) -> dict[str, list[str]]:
    files = sorted(file for file in folder.rglob("*.json*") if "eventlog" not in file.name)
    assert files, folder
    return {
        str(file.relative_to(folder)): [_outcome(body) for body in _bodies(file)] for file in files
    }


def test_every_event_of_the_spark_listener_is_accepted(shared):
    """Accept the recorded events of ten applications."""
    outcomes = _outcomes(shared / "events" / "spark-4.3-listener")

    kinds = Counter(kind for file in outcomes.values() for kind in file)

    assert len(outcomes) == 10
    assert set(kinds) == {"run"}
    assert kinds["run"] > 150


def test_events_of_other_producers_are_accepted_but_for_named_ones(shared):
    """List each exception of Airflow, Spark on other platforms, and Marquez's examples."""
    outcomes = _outcomes(shared / "events" / "open")

    rejected = {
        file: [detail for detail in details if detail not in {"run", "job", "dataset"}]
        for file, details in outcomes.items()
        if _TEMPLATES not in file
    }

    apples = [f"edge-cases/marquez_apples/{name}.json" for name in _APPLES]
    marquez = "edge-cases/marquez_open_lineage"
    assert {file: details for file, details in rejected.items() if details} == {
        **{file: [_NO_SCHEMA] for file in apples},
        f"{marquez}/event_without_schema_url.json": [_NO_SCHEMA],
        f"{marquez}/listener/1.json": [_NO_SCHEMA],
        f"{marquez}/listener/2.json": [_NO_SCHEMA],
        # A run that has no identity can be folded with nothing.
        "edge-cases/compat_history_missing_runid.json": ["$.run.runId: required, and missing"],
        "compat-tests/minimal_handmade/simple_run_event.json": [
            "$.run.runId: Invalid UUID, got 'run_id'"
        ],
    }


_APPLES = (
    "1_pick_apples",
    "2_apple_filling",
    "3_apple_cider",
    "5_apple_vinegar",
    "6_apple_pie",
    "7_pick_different_apples",
    "8_apple_filling",
    "9_apple_pie",
)


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("event_required_no_timezone.json", "run"),
        ("event_required_nanoseconds.json", "run"),
        ("event_required_only.json", "run"),
        ("event_unicode.json", "run"),
        ("event_large.json", "run"),
        ("event_dataset_event.json", "dataset"),
        # It has an eventType and no run; its schemaURL says what it is.
        ("event_job_event.json", "job"),
    ],
)
def test_unusual_but_usable_events_are_accepted(shared, file, kind):
    """Accept them, as a rejected event is lost to every reader."""
    folder = shared / "events" / "open" / "edge-cases" / "marquez_open_lineage"

    assert _outcome((folder / file).read_bytes()) == kind


def test_templates_of_expected_events_are_rejected_for_missing_fields(shared):
    """Reject placeholders, and templates without a required field."""
    outcomes = _outcomes(shared / "events" / "open" / _TEMPLATES)
    details = [detail for file in outcomes.values() for detail in file]

    rejected = {detail for detail in details if detail not in {"run", "job", "dataset"}}
    others = {detail for detail in rejected if not _MISSING.fullmatch(detail)}

    assert len(details) > 100
    assert {detail.split(",")[0] for detail in others} <= {
        "$.eventTime: Invalid RFC3339 encoded datetime",
        "$.run.runId: Invalid UUID",
        "$: expected run and job (RunEvent)",
    }
    assert all("${json-unit" in detail for detail in others if ", got" in detail), others

"""Live game day against a real `lineward up`: its faults are notified correctly."""

import json
from pathlib import Path

import pytest

from tests.e2e.live import staging
from tests.suite.waiting import until

# Its jobs write every 12 seconds: beside other tests they would be late, and rightly notified.
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.alone,
    pytest.mark.nightly(
        short="tests/lab/gameday/driver/test_whole.py::test_each_fault_notifies_once_an_owner_who_can_fix_it"
    ),
]


def test_each_fault_is_notified_once_to_its_owner_and_resolved(tmp_path: Path):
    """Inject faults at once: root and list of each are correct; silent faults stay silent."""
    with staging(tmp_path) as staged:
        done = staged.play("--faults", "4", "--seed", "3", seconds=1800)
        until(lambda: staged.up.ask("datasets") == [])

    assert done.returncode == 0, done.stdout
    score = json.loads(done.stdout)
    notified = [each for each in score["faults"] if each["expect"] != "silence"]
    silent = [each for each in score["faults"] if each["expect"] == "silence"]
    assert sorted(each["kind"] for each in notified) == [
        "killed_job",
        "late_source",
        "schema_drift",
        "silent_listener",
    ]
    for each in notified:
        assert each["detected"], each
        assert each["pages"] == (each["expect"] == "page"), each
        assert (each["root_right"], each["owner_right"]) == (True, True), each
        assert (each["impact_precision"], each["impact_recall"]) == (1.0, 1.0), each
        assert each["seconds_to_resolved"] is not None, each
    assert {each["kind"] for each in silent} == {"retried_run", "retired_job"}
    assert not any(each["detected"] for each in silent)
    assert score["false_pages"] == 0
    assert (score["baseline"], score["peak_rss_bytes"]) == (None, None)

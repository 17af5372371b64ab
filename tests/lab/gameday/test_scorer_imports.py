"""Imports of the scorer: it loads no part of the system under test."""

import subprocess
import sys

import pytest

_DETECTORS = {"alerts", "slis", "service", "collector", "lineage"}


def loaded_with(module):
    """Return the packages of a fresh interpreter after this one import."""
    code = f"import sys, {module}\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return set(done.stdout.decode().split())


@pytest.mark.parametrize(
    "judge", ["scorer", "score_shapes", "truth_shapes", "fake_receivers", "verdict"]
)
def test_no_code_of_the_detector_is_loaded_with_it(judge):
    """Allow no detour either."""
    assert not loaded_with(f"lab.gameday.{judge}") & _DETECTORS


@pytest.mark.parametrize("part", ["running", "course", "figures"])
def test_the_live_player_loads_no_detector(part):
    """Load the policy's model and calendars, and nothing that judges."""
    assert loaded_with(f"lab.gameday.live.{part}") & _DETECTORS <= {"lineage"}


def test_an_import_of_the_detector_is_detected():
    """Detect the import: planning of faults reads the policy's model."""
    assert "lineage" in loaded_with("lab.gameday.faults")

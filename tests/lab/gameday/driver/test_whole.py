"""Command `lineward gameday`, small and whole: history, collector, Spark, incidents, messages."""

import json

import pytest

from lab.gameday.live.plan import PLAYED_KINDS
from tests.service.commandline import lineward

# Takes a minute and a half in another process, so it starts early.
pytestmark = pytest.mark.xdist_group("e2e")

ASKED = ("--seed", "1", "--datasets", "80", "--days", "5", "--faults", "4")
KINDS = tuple(f"--kind={kind}" for kind in PLAYED_KINDS)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Return the folder of the run, and its output."""
    folder = tmp_path_factory.mktemp("gameday") / "day"
    asked = (*ASKED, *KINDS, "--keep", str(folder), "--json")
    done = lineward("gameday", *asked, seconds=900)
    assert done.returncode == 0, done.stdout + done.stderr[-2_000:]
    return folder, json.loads(done.stdout)


def test_each_fault_notifies_once_an_owner_who_can_fix_it(played):
    """Page for nothing else."""
    _, score = played

    found = [
        (each["detected"], each["root_right"], each["owner_right"]) for each in score["faults"]
    ]
    assert found == [(True, True, True)] * 4
    assert sorted(each["kind"] for each in score["faults"]) == sorted(PLAYED_KINDS)
    for each in score["faults"]:
        assert each["pages"] == (each["expect"] == "page"), each
    assert score["false_pages"] == 0


def test_the_incident_step_can_be_run_alone(played):
    """Compare the score, which takes seconds."""
    folder, score = played

    done = lineward("gameday", "--reuse", str(folder), "--json", seconds=200)

    again = json.loads(done.stdout)
    assert {**again, "wall_seconds": 0, "peak_rss_bytes": 0} == {
        **score,
        "wall_seconds": 0,
        "peak_rss_bytes": 0,
    }


def test_nothing_is_left_without_a_folder_to_keep(tmp_path):
    """Delete the run's folder, also if the days have no room for a fault."""
    asked = ("--datasets", "50", "--days", "2", "--faults", "1", "--kind", "late_source")
    done = lineward("gameday", *asked, TMPDIR=str(tmp_path))

    assert done.returncode == 6
    assert "no job of the 50 datasets in 2 days is free" in done.stderr
    assert list(tmp_path.glob("lineward-gameday-*")) == []


def test_an_unknown_kind_is_rejected():
    """Name the known ones."""
    done = lineward("gameday", "--kind", "earthquake")

    assert done.returncode == 6
    assert "earthquake: expected one of killed_job," in done.stderr

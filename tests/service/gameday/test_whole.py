"""`lineward gameday`, small and whole: history, collector, Spark, incidents, messages."""

import json

import pytest

from runbooks.gameday.live.plan import TOLD_KINDS
from tests.service.commandline import lineward
from tests.suite.classes import interpreting

# A minute and a half in another process: it begins early.
pytestmark = pytest.mark.xdist_group("e2e")

ASKED = ("--seed", "1", "--datasets", "80", "--days", "5", "--faults", "4")
KINDS = tuple(f"--kind={kind}" for kind in TOLD_KINDS)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Its folder, and what it printed."""
    folder = tmp_path_factory.mktemp("gameday") / "day"
    asked = (*ASKED, *KINDS, "--keep", str(folder), "--json")
    done = lineward("gameday", *asked, seconds=900, **interpreting())
    assert done.returncode == 0, done.stdout + done.stderr[-2_000:]
    return folder, json.loads(done.stdout)


def test_each_fault_is_told_once_to_who_can_mend_it(played):
    """And nothing else rings."""
    _, score = played

    texts = [
        (each["detected"], each["root_right"], each["owner_right"]) for each in score["faults"]
    ]
    assert texts == [(True, True, True)] * 4
    assert sorted(each["kind"] for each in score["faults"]) == sorted(TOLD_KINDS)
    for each in score["faults"]:
        assert each["pages"] == (each["expect"] == "page"), each
    assert score["false_pages"] == 0


def test_the_incident_step_can_be_run_alone(played):
    """It gives the same, in seconds."""
    folder, score = played

    done = lineward("gameday", "--reuse", str(folder), "--json", seconds=200)

    again = json.loads(done.stdout)
    assert {**again, "wall_seconds": 0, "peak_rss_bytes": 0} == {
        **score,
        "wall_seconds": 0,
        "peak_rss_bytes": 0,
    }


def test_a_kind_that_is_none_is_refused():
    """With those that there are."""
    done = lineward("gameday", "--kind", "earthquake")

    assert done.returncode == 6
    assert "earthquake: there are killed_job," in done.stderr

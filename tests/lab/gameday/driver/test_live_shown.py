"""Output at the end of a live game day."""

import json

import msgspec
import pytest
import structlog
from typer.testing import CliRunner

from lab.commands.gameday import app
from lab.gameday.driver.live import Played
from lab.gameday.score_shapes import Score
from service.ingest.collector_client import CollectorClient
from tests.lab.gameday.truths import KILLED, RIGHT, SECOND, message, truth

SLOW = msgspec.structs.replace(RIGHT, seconds_to_delivery=90.0, seconds_to_resolved=None)


@pytest.fixture
def shown(monkeypatch):
    """Print by `lineward gameday live`, of a day that was played elsewhere."""

    def run(*arguments: str, stray: bool = False):
        stranger = [message(2_000, root=KILLED.impact[0])] if stray else []
        messages = (*stranger, message(1_040, what="ticket"), message(1_060))
        faults = (RIGHT, SLOW) if stray else (RIGHT, RIGHT)
        score = Score(7, 100, 0, faults, len(stranger), None, 300.0, None)
        begun_at = (KILLED.starts_at - 45 * SECOND,) * 2
        failed_at = (KILLED.starts_at, None)
        played = Played(score, truth(KILLED, KILLED), messages, begun_at, failed_at, 3)
        monkeypatch.setattr("lab.gameday.driver.live.play", lambda *_: played)
        monkeypatch.setattr(CollectorClient, "is_there", lambda _: True)
        return CliRunner().invoke(app, ["live", "--listen", "127.0.0.1:0", *arguments])

    yield run
    structlog.reset_defaults()  # the command logs errors alone, as long as its process lasts


def test_durations_are_shown_by_both_clocks(shown):
    """Count from when the fault could be known, from its injection, and from the FAIL."""
    done = shown()

    assert done.exit_code == 0
    assert "fault -> delivered: p50 60.0 s, p95 60.0 s, most 60.0 s, of 2" in done.stdout
    assert "from the injection: p50 105.0 s, p95 105.0 s, most 105.0 s, of 2" in done.stdout
    assert "FAIL -> message: p50 40.0 s, p95 40.0 s, most 40.0 s, of 1" in done.stdout
    assert "false pages: 0; about others: 3" in done.stdout


def test_a_failed_criterion_is_shown_and_fails(shown):
    """List the pages without a fault, beside JSON as well, since a score alone is no lead."""
    done = shown(stray=True)

    assert done.exit_code == 1
    for output in (done, shown("--json", stray=True)):
        stray = "page to keys/shop: s3://lake mart/revenue (i1, 2000 s after the beginning)"
        assert f"notifications without an injected fault: {stray}" in output.stderr
    assert "failed: false pages: 1" in done.stdout
    assert "failed: never resolved: killed_job" in done.stdout


def test_the_monthly_form_has_nulls_for_unknown_figures(shown):
    """Print null instead of a zero that looks like a measurement."""
    printed = json.loads(shown("--json").stdout)

    assert sorted(printed) == sorted(Score.__struct_fields__)
    assert (printed["baseline"], printed["peak_rss_bytes"], printed["days"]) == (None, None, 0)

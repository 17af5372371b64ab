"""Turns that read the event logs and judge edges, also when logs fail."""

from datetime import timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
from structlog.testing import capture_logs

from lineage.policy.file import PolicyFile
from slis.evaluation import edge_evaluation, edge_turns
from slis.evaluation.edge_turns import EdgeTurns
from slis.evidence import scan
from slis.periodic import Evaluations
from slis.settings import PipelineSettings, SharedPaths
from tests.slis.evidence.made_logs import log
from tests.slis.sli_frames import day
from tests.slis.stream.spools import rows, spool

NOON = day(8, 12)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def judged(monkeypatch):
    """Return the times at which edges were judged."""
    instants: list = []

    def judge(_spark, _engine, _policy, now, *, settle, backlog_since) -> None:  # noqa: ARG001
        instants.append(now)

    monkeypatch.setattr(edge_evaluation, "evaluate_edges", judge)
    return instants


@pytest.fixture
def turns(spark, embedded, tmp_path, monkeypatch):
    """Return a function for turns over a new catalog with one evaluation: `turns(folders)`."""
    # The thread is the tests' own: its settings would hold for all tests that follow.
    monkeypatch.setattr(edge_turns, "in_evaluation_pool", lambda _spark: None)

    def make(folders: str, policy: Path | None = None) -> EdgeTurns:
        place, settings = SharedPaths(data_dir=tmp_path), PipelineSettings(event_logs=folders)
        evaluations = Evaluations(MINUTE, MINUTE)
        evaluations.begun(NOON)
        given = (spark, embedded, place, settings)
        return EdgeTurns(*given, policy=PolicyFile(policy), evaluations=evaluations)

    make.engine = embedded
    return make


def test_logs_are_read_and_edges_judged_though_one_folder_cannot_be_listed(turns, tmp_path, judged):
    """Log the folder as an error of the pipeline, by name."""
    log(tmp_path / "logs" / "app-1", "orders")

    with capture_logs() as logged:
        turns(f"file:/there/is/none, file:{tmp_path}/logs").take(NOON + MINUTE)

    assert rows(turns.engine, "SELECT count(*) FROM execution") == [(1,)]
    assert judged == [NOON + MINUTE]
    (error,) = [one for one in logged if one["log_level"] == "error"]
    assert error["event"] == "event_logs_unlisted"
    assert error["problem"].startswith("file:/there/is/none: ")


def test_files_of_a_killed_pass_are_deleted_without_logs(turns, tmp_path, judged):
    """Delete gigabytes that no other part would delete."""
    (tmp_path / "unpacked").mkdir()
    (tmp_path / "unpacked" / "left").touch()

    turns("").take(NOON + MINUTE)

    assert not (tmp_path / "unpacked").exists()
    assert judged == [NOON + MINUTE]
    assert rows(turns.engine, "SELECT count(*) FROM meta WHERE name LIKE 'evidence%'") == [(0,)]


def test_names_in_logs_are_folded_by_the_policy(turns, tmp_path, judged):
    """Fold it as the stream does: a log and its events name one dataset."""
    log(tmp_path / "logs" / "app-1", "run_7")
    policy = tmp_path / "lineward.yaml"
    policy.write_text("folds: [{match: 's3://lake/run_{n}', dataset: s3://lake/run}]")

    turns(f"file:{tmp_path}/logs", policy).take(NOON + MINUTE)

    assert rows(turns.engine, "SELECT namespace, name FROM dataset") == [("s3://lake", "run")]
    assert judged == [NOON + MINUTE]


def test_memory_of_a_failed_turn_is_freed(turns, monkeypatch):
    """Free it for the next turn."""
    freed, failing = Mock(), Mock(side_effect=ValueError("edges"))
    monkeypatch.setattr(edge_evaluation, "evaluate_edges", failing)
    monkeypatch.setattr(edge_turns.garbage_collection, "free", freed)

    with pytest.raises(ValueError, match="edges"):
        turns("").take(NOON + MINUTE)

    freed.assert_called_once()


@pytest.mark.parametrize(
    ("received", "minutes"), [([NOON - 4 * MINUTE, NOON], 10), ([NOON + 2 * MINUTE], 5), ([], 5)]
)
def test_evidence_waits_for_the_events_that_wait(
    embedded, tmp_path, monkeypatch, received, minutes
):
    """Give runs that ended while the oldest event waits as long as all others for their events.

    The pipeline was down for minutes: its event logs are read before its spool is.
    """
    asked = {}
    for _, module, hold in edge_turns._OTHER_ORACLES:  # noqa: SLF001
        monkeypatch.setattr(f"{module}.{hold}", lambda *given: asked.update(held=given[-1]))
    monkeypatch.setattr(
        scan, "scan_logs", lambda *_, **given: asked.update(given) or Mock(unlisted=[])
    )
    monkeypatch.setattr("slis.indicators.accuracy.catalog.compare", Mock(return_value=0))
    monkeypatch.setattr(edge_evaluation, "evaluate_edges", lambda *_, **given: asked.update(given))
    for name in ("in_evaluation_pool", "garbage_collection"):
        monkeypatch.setattr(edge_turns, name, Mock())
    place, evaluations = SharedPaths(data_dir=tmp_path), Evaluations(MINUTE, MINUTE)
    for at in received:
        spool(place.spool, [b"{}"], received_at=at)
    evaluations.begun(NOON)

    given = (None, embedded, place, PipelineSettings(event_logs="file:/logs"))
    EdgeTurns(*given, policy=PolicyFile(None), evaluations=evaluations).take(NOON + MINUTE)

    assert asked["settle"] == asked["held"] == minutes * MINUTE
    assert asked["backlog_since"] == min(received, default=None)

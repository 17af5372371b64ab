"""Actions from end to end: the command line and the API, against a real collector."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from lineage.catalog import tables
from lineage.process.clock import to_micros
from runbooks.actions.errors import FailedActionError
from runbooks.actions.registry import ACTIONS
from service.actions.adapters import CollectorAdapter
from service.runtime.data_folder import hold_folder
from service.runtime.settings import Settings
from tests.collector import bodies
from tests.collector.running import Collector
from tests.runbooks.actions.acting import World
from tests.service import shop
from tests.service.commandline import lineward
from tests.suite.ports import free_port

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)


class Place:
    """Data folder with a catalog, a lake and a collector that runs."""

    def __init__(self, engine: Engine, folder: Path, collector: Collector) -> None:
        self.world = World(engine, folder)
        self.collector = collector
        self.variables = {
            "LINEWARD_DATA_DIR": str(folder),
            "LINEWARD_COLLECTOR_PORT": str(collector.port),
        }

    def act(self, *arguments: str):
        """Run `lineward act ARGUMENTS`."""
        return lineward("act", *arguments, **self.variables)

    def audit_rows(self) -> list[tuple[str, str, str]]:
        """Return interface, action and answer of each audit row."""
        t = tables.audit.c
        with self.world.engine.connect() as connection:
            rows = connection.execute(select(t.via, t.action, t.answer).order_by(t.id)).all()
        return [tuple(row) for row in rows]


@pytest.fixture
def place(embedded: Engine, tmp_path: Path) -> Iterator[Place]:
    """Start a collector on a folder laid out like that of `lineward up`."""
    collector = Collector(tmp_path, log=tmp_path / "collector.log").ready()
    yield Place(embedded, tmp_path, collector)
    collector.kill()


def test_a_repeated_replay_adds_no_event(place):
    """Plan without a change, replay, and find the same events after a second replay."""
    events = [bodies.new_body() for _ in range(3)]
    place.world.lay(*((NOW, "http", body) for body in events))
    asked = ("replay", "--from", "2026-11-21", "--to", "2026-11-22")

    planned = place.act(*asked)
    spooled = place.collector.rows("SELECT count(*) FROM event")
    first, second = place.act(*asked, "--yes"), place.act(*asked, "--yes")

    assert (planned.returncode, first.returncode, second.returncode) == (0, 0, 0), first.stderr
    assert "dry run, would:" in planned.stdout
    assert "add --yes" in planned.stdout
    assert spooled == [(0,)]
    rows = place.collector.rows("SELECT origin, body FROM event ORDER BY body")
    assert rows == sorted((("history", body) for body in events), key=lambda row: row[1])
    assert [row[:2] for row in place.audit_rows()] == [("cli", "act replay")] * 5


def test_rejected_events_are_requeued_by_the_command(place):
    """Print what is rejected again, keep it, and exit with 6."""
    place.collector.post(bodies.body(bodies.run_event(run=None)))

    planned = place.act("requeue-rejected", "--json")
    done = place.act("requeue-rejected", "--yes")

    plan = json.loads(planned.stdout)
    assert (plan["dry_run"], plan["plan"]["figures"]) == (True, {"events": 1, "cut": 0})
    assert done.returncode == 6
    assert "0 were accepted, 1 rejected again" in done.stdout
    assert place.collector.rows("SELECT count(*) FROM rejected") == [(1,)]


def test_a_collector_that_is_away_fails_the_action(tmp_path):
    """Fail after bounded attempts if nobody listens, or the token's file is missing."""
    for settings in (
        Settings(collector_port=free_port()),
        Settings(collector_token_file=tmp_path / "no-such-token"),
    ):
        collector = CollectorAdapter(settings, give_up_seconds=0.1)
        with pytest.raises(FailedActionError, match="nothing is repeated by that"):
            collector.post([b"{}"], "history")
        with pytest.raises(FailedActionError, match="nothing is repeated by that"):
            collector.requeue(b"{}", "http", 1)


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("restart-role", "pipeline"), 6, "kubectl -n NAMESPACE rollout restart"),
        (("resubmit", "jobs/orders"), 6, "LINEWARD_KUBERNETES_URL"),
        (("reinfer", "nobody"), 2, "no run has the id"),
        (("notify-downstream", "nothing", "--note", "x"), 2, "no dataset is named"),
        (("open-suppression", "*", "--until", "2020-01-01", "--reason", "x"), 2, "is over"),
    ],
)
def test_a_rejected_action_has_its_exit_code_and_an_audit_row(place, arguments, code, text):
    """Fail for real: no supervisor, no Kubernetes, no such run or dataset."""
    done = place.act(*arguments)

    assert (done.returncode, text in done.stderr) == (code, True), done.stderr
    ((via, action, answer),) = place.audit_rows()
    assert (via, action, answer[:9]) == ("cli", f"act {arguments[0]}", "rejected:")


def test_a_silent_collector_is_removed_by_its_name(place):
    """Reject a wrong name with a list, and a collector that is up; print the plan; request it."""
    at = to_micros(NOW)
    place.world.insert(
        "log_collector",
        {"collector": "c-1", "heartbeat_at": at},
        {"collector": "c-2", "heartbeat_at": at + 1},
    )
    place.world.insert("ingestion_gap", {"started_at": at, "ended_at": None})

    wrong, up = place.act("remove-collector", "c-3"), place.act("remove-collector", "c-2")
    planned = place.act("remove-collector", "c-1")
    done = place.act("remove-collector", "c-1", "--yes")

    silent = "silent collectors: c-1 (since 2026-11-21 09:00:00 UTC)"
    assert (wrong.returncode, up.returncode) == (2, 6)
    assert f"no collector is named 'c-3'; {silent}" in wrong.stderr
    assert f"the collector c-2 is not silent; {silent}" in up.stderr
    assert "remove the collector c-1, which has been silent since 2026-11-21" in planned.stdout
    assert (done.returncode, "within seconds" in done.stdout) == (0, True), done.stderr
    with place.world.engine.connect() as connection:
        asked = connection.exec_driver_sql("SELECT collector FROM collector_removal").all()
    assert asked == [("c-1",)]


def test_a_restart_is_requested_from_the_running_supervisor(place):
    """Leave a file that the supervisor takes; without a supervisor there is no request."""
    run = place.world.folder / "run"
    run.mkdir()
    role = {"role": "pipeline", "state": "running", "pid": 1, "restarts": 0}
    (run / "status.json").write_text(json.dumps([role]))
    with hold_folder(run / "up.lock"):
        done = place.act("restart-role", "pipeline", "--yes")

    assert done.returncode == 0, done.stderr
    assert (run / "restart-pipeline").exists()


def test_downstream_owners_are_notified_by_the_real_graph_and_policy(place, tmp_path):
    """Notify the owner of `mart/daily`, which is downstream of `core/orders`."""
    shop.fill(place.world.engine)
    with place.world.engine.begin() as connection:
        table = tables.dataset_policy
        mart = table.c.dataset_key == shop.dataset_key(shop.MART)
        connection.execute(table.update().where(mart).values(owner="bi"))
    policy = tmp_path / "lineward.yaml"
    policy.write_text('owners: [{name: bi, slack: "#bi"}]\n')
    place.variables["LINEWARD_POLICY"] = str(policy)
    done = place.act("notify-downstream", "core/orders", "--note", "late", "--yes")

    assert done.stdout == "notified bi\n", done.stderr
    with place.world.engine.connect() as connection:
        t = tables.notification.c
        assert connection.execute(select(t.channel, t.kind)).all() == [("slack:#bi", "notice")]


def test_without_a_catalog_no_action_runs(tmp_path):
    """Exit code 4."""
    done = lineward("act", "restart-role", "pipeline", LINEWARD_DATA_DIR=str(tmp_path))

    assert done.returncode == 4
    assert not (tmp_path / "catalog.db").exists()


def test_every_action_is_a_command():
    """Use the action's name, and its description from the API as help."""
    from service.cli.commands.act import app  # noqa: PLC0415 - as the command line imports it

    commands = {
        (one.name or one.callback.__name__).replace("_", "-"): one.callback.__doc__
        for one in app.registered_commands
    }
    assert set(commands) == set(ACTIONS)

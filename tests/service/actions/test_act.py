"""Actions from end to end: the command line and the API, against a real collector."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from lineage.catalog import tables
from runbooks.actions.errors import FailedActionError
from runbooks.actions.registry import ACTIONS
from service.actions.collector_adapter import CollectorAdapter
from service.runtime.data_dir_lock import hold
from service.runtime.settings import Settings
from tests.collector import bodies
from tests.collector.running import Collector
from tests.runbooks.actions.acting import World
from tests.service import shop
from tests.service.commandline import lineward
from tests.suite.ports import free_port

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)


class Place:
    """A data folder with catalog, lake and a collector that runs."""

    def __init__(self, engine: Engine, folder: Path, collector: Collector) -> None:
        self.world = World(engine, folder)
        self.collector = collector
        self.variables = {
            "LINEWARD_DATA_DIR": str(folder),
            "LINEWARD_COLLECTOR_PORT": str(collector.port),
        }

    def act(self, *arguments: str):
        """`lineward act ARGUMENTS`."""
        return lineward("act", *arguments, **self.variables)

    def audited(self) -> list[tuple[str, str, str]]:
        """Via, action and answer of each row."""
        t = tables.audit.c
        with self.world.engine.connect() as connection:
            rows = connection.execute(select(t.via, t.action, t.answer).order_by(t.id)).all()
        return [tuple(row) for row in rows]


@pytest.fixture
def place(embedded: Engine, tmp_path: Path) -> Iterator[Place]:
    """All in one folder, as `lineward up` has it."""
    collector = Collector(tmp_path, log=tmp_path / "collector.log").ready()
    yield Place(embedded, tmp_path, collector)
    collector.kill()


def test_a_replay_twice_is_there_once(place):
    """The plan first, without a change; then it is done; then again, and the spool is the same."""
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
    assert [row[:2] for row in place.audited()] == [("cli", "act replay")] * 5


def test_refused_events_are_requeued_by_the_command(place):
    """What is refused again is told, stays, and makes the exit code 6."""
    place.collector.post(bodies.body(bodies.run_event(run=None)))

    planned = place.act("requeue-rejected", "--json")
    done = place.act("requeue-rejected", "--yes")

    plan = json.loads(planned.stdout)
    assert (plan["dry_run"], plan["plan"]["figures"]) == (True, {"events": 1, "cut": 0})
    assert done.returncode == 6
    assert "0 were accepted, 1 rejected again" in done.stdout
    assert place.collector.rows("SELECT count(*) FROM rejected") == [(1,)]


def test_a_collector_that_is_away_fails_the_action(tmp_path):
    """Nobody listens, or its token's file is gone: said, after a bounded time of trying."""
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
        (("restart-role", "pipeline"), 6, "kubectl rollout restart"),
        (("resubmit", "jobs/orders"), 6, "LINEWARD_KUBERNETES_URL"),
        (("reinfer", "nobody"), 2, "no run has the id"),
        (("notify-downstream", "nothing", "--note", "x"), 2, "no dataset is named"),
        (("open-suppression", "*", "--until", "2020-01-01", "--reason", "x"), 2, "is over"),
    ],
)
def test_what_is_refused_ends_with_its_code_and_stands_in_the_log(place, arguments, code, text):
    """By the real means: no supervisor, no Kubernetes, no such run or dataset."""
    done = place.act(*arguments)

    assert (done.returncode, text in done.stderr) == (code, True), done.stderr
    ((via, action, answer),) = place.audited()
    assert (via, action, answer[:9]) == ("cli", f"act {arguments[0]}", "rejected:")


def test_a_restart_is_asked_of_the_supervisor_that_runs_there(place):
    """By a file that it takes away; a folder that nobody holds has none."""
    run = place.world.folder / "run"
    run.mkdir()
    role = {"role": "pipeline", "state": "running", "pid": 1, "restarts": 0}
    (run / "status.json").write_text(json.dumps([role]))
    with hold(run / "up.lock"):
        done = place.act("restart-role", "pipeline", "--yes")

    assert done.returncode == 0, done.stderr
    assert (run / "restart-pipeline").exists()


def test_owners_downstream_are_told_by_the_real_graph_and_policy(place, tmp_path):
    """`mart/daily` is made of `core/orders`; its owner has a channel in the policy."""
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


def test_without_a_catalog_nothing_can_be_written_down_and_nothing_is_done(tmp_path):
    """Exit code 4."""
    done = lineward("act", "restart-role", "pipeline", LINEWARD_DATA_DIR=str(tmp_path))

    assert done.returncode == 4
    assert not (tmp_path / "catalog.db").exists()


def test_every_action_is_a_command():
    """Of the same name; its help says what the API says of it."""
    from service.cli.commands.act import app  # noqa: PLC0415 - as the command line imports it

    commands = {
        (one.name or one.callback.__name__).replace("_", "-"): one.callback.__doc__
        for one in app.registered_commands
    }
    assert set(commands) == set(ACTIONS)

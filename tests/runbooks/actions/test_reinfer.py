import json
from typing import Any

import pytest

from collector.events import parse_event
from collector.settings import Limits
from lineage.names.keys import key
from runbooks.actions.action import SqlTables
from runbooks.actions.errors import FailedActionError, InvalidActionError, RejectedActionError
from tests.runbooks.actions.acting import World, run_event
from tests.service import shop

RUN = "0195f1c2-7f8e-7000-8000-000000000001"
RUN_KEY, GROUP = 7, 70
NAMES = ("core/orders", "raw/orders", "ref/countries", "mart/daily")
TABLES = ("db.core.items", "db.core.prices", "db.sales.items")


def _execution(number: int, **more: object) -> dict[str, Any]:
    flags = dict.fromkeys(("is_whole", "is_settled", "is_checked"), True)
    own = {"execution_key": number, "application_id": "app", "execution_id": number}
    instants = {"started_at": 1, "ended_at": 2}
    return {**own, **flags, **instants, "group_key": GROUP, "run_key": None, **more}


def _touched_row(number: int, name: str, direction: str) -> dict[str, Any]:
    return {
        "execution_key": number,
        "dataset_key": shop.dataset_key(name),
        "direction": direction,
    }


@pytest.fixture
def filled(world: World) -> World:
    """Add a run whose command ran a second execution; its own event named nothing."""
    world.insert("dataset", *map(shop.dataset_row, NAMES))
    world.insert("dataset", *(shop.dataset_row(name, "postgres://db") for name in TABLES))
    world.insert("run", {**shop.run_row(), "run_key": RUN_KEY, "run_id": RUN})
    world.insert("execution", _execution(70, run_key=RUN_KEY), _execution(71))
    world.insert(
        "execution_io",
        _touched_row(70, "core/orders", "write"),
        _touched_row(71, "raw/orders", "read"),
        _touched_row(71, "ref/countries", "read"),
        _touched_row(71, "core/orders", "read"),
    )
    return world


def test_a_plan_has_the_content_of_the_log_and_changes_nothing(filled):
    """Propose all datasets that the group read, except its outputs."""
    before = filled.everything()
    plan = filled.plan("reinfer", run=RUN)

    assert plan.does == (
        "declare 2 edges into 1 datasets for etl",
        "s3://shop/raw/orders is read for s3://shop/core/orders (event_log)",
        "s3://shop/ref/countries is read for s3://shop/core/orders (event_log)",
    )
    assert plan.figures == {"edges": 2, "events": 1, "event_log": 2, "sql": 0}
    assert filled.everything() == before


def test_a_job_event_marked_as_inferred_is_posted(filled):
    """Declare as history, by openlineage-python, valid for the own collector, without a claim."""
    filled.act("reinfer", run=RUN)

    ((origin, body),) = filled.collector.posted
    event = json.loads(body)
    assert (origin, parse_event(body, Limits()).kind) == ("history", "job")
    assert event["schemaURL"].endswith("/JobEvent")
    assert (event["job"]["namespace"], event["job"]["name"]) == ("jobs", "etl")
    assert event["job"]["facets"]["lineward_inferred"]["runId"] == RUN
    assert event["job"]["facets"]["lineward_inferred"]["oracles"] == ["event_log"]
    assert [one["name"] for one in event["inputs"]] == ["raw/orders", "ref/countries"]
    assert [one["name"] for one in event["outputs"]] == ["core/orders"]
    assert "run" not in event


def test_the_same_again_is_the_same_to_the_byte(filled):
    """Post it so that the collector has it once."""
    filled.act("reinfer", run=RUN)
    filled.now += 3_600_000_000
    filled.act("reinfer", run=RUN)

    first, second = filled.collector.posted
    assert first == second


def test_several_outputs_are_several_events(filled):
    """Post one event each: a common one would mix their inputs."""
    filled.insert("execution", _execution(80, group_key=80, run_key=RUN_KEY))
    filled.insert(
        "execution_io",
        _touched_row(80, "mart/daily", "write"),
        _touched_row(80, "core/orders", "read"),
    )
    filled.act("reinfer", run=RUN)

    events = [json.loads(body) for _, body in filled.collector.posted]
    made = {e["outputs"][0]["name"]: [one["name"] for one in e["inputs"]] for e in events}
    assert made == {"core/orders": ["raw/orders", "ref/countries"], "mart/daily": ["core/orders"]}


def test_a_failed_execution_wrote_nothing(filled):
    """Conclude nothing from an execution with an error."""
    filled.insert(
        "execution", _execution(90, group_key=90, run_key=RUN_KEY, error_message="no space left")
    )
    filled.insert(
        "execution_io",
        _touched_row(90, "mart/daily", "write"),
        _touched_row(90, "core/orders", "read"),
    )

    assert filled.plan("reinfer", run=RUN).figures["edges"] == 2


def _add_sql(world: World, *statements: SqlTables) -> World:
    world.sql.of = {"SELECT 1": list(statements)}
    world.lay((shop.DAY, "http", run_event(RUN, sql="SELECT 1")))
    return world


def test_sql_adds_what_no_log_has(filled):
    """Find names of two parts or more, each of which matches one dataset alone."""
    _add_sql(filled, SqlTables(("core.prices",), ("core.items",)))
    plan = filled.plan("reinfer", run=RUN)

    assert plan.figures == {"edges": 3, "events": 2, "event_log": 2, "sql": 1}
    assert (
        plan.does[1] == "postgres://db/db.core.prices is read for postgres://db/db.core.items (sql)"
    )


def test_a_name_that_fits_several_or_none_is_listed_and_not_guessed(filled):
    """List it; a name of one part too, which may be a view of the session."""
    _add_sql(filled, SqlTables(("db.items", "prices", "core.nothing"), ("core.items",)))
    plan = filled.plan("reinfer", run=RUN)

    assert plan.figures["sql"] == 0
    caution = "names in its SQL that fit no one dataset: core.nothing, db.items, prices"
    assert caution in plan.cautions


def test_a_query_without_a_target_is_of_the_runs_only_output(filled):
    """Use the text of a saved DataFrame, which names inputs alone."""
    filled.insert("run_io", shop.io_row(RUN_KEY, key("s3://shop", "core/orders"), "write"))
    _add_sql(filled, SqlTables(("core.prices",), ()))

    assert filled.plan("reinfer", run=RUN).figures["sql"] == 1


def test_an_unknown_run_or_one_without_traces_is_rejected(filled):
    """Report bodies that the collector rejects as not done."""
    with pytest.raises(InvalidActionError, match="no run has the id"):
        filled.plan("reinfer", run="0195f1c2-7f8e-7000-8000-00000000000f")
    filled.insert(
        "run", {**shop.run_row(), "run_key": 8, "run_id": "lonely", "root_run_id": "lonely"}
    )
    with pytest.raises(RejectedActionError, match="LINEWARD_PIPELINE_EVENT_LOGS"):
        filled.plan("reinfer", run="lonely")
    filled.act("reinfer", run=RUN)
    filled.collector.rejects = {filled.collector.posted[0][1]: "too large"}
    with pytest.raises(FailedActionError, match="too large"):
        filled.act("reinfer", run=RUN)

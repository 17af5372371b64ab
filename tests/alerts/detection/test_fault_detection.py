"""Severity, owner and root of an incident, detected from the contents of the catalog."""

import pytest
from sqlalchemy import insert, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.policy.model import DatasetRule, JobRule, Owner, Policy
from tests.alerts.detection.catalog_builder import DAY, NAMESPACE, dataset, job, micros
from tests.alerts.detection.conftest import NOON

pytestmark = pytest.mark.postgres_nightly


def test_a_critical_dataset_downstream_makes_a_page_with_its_time(failed):
    """Page: the board is due an hour after midnight, which is less than four hours ahead."""
    late = 21 * 3600
    failed.at(late)
    failed.until(late + 60)

    assert (failed.one.severity, failed.one.because) == ("page", "soon")
    assert failed.one.hit_at == micros(DAY + 3600)


def test_a_fault_is_a_ticket_while_there_is_time(failed):
    """Open a ticket for the same fault at noon."""
    failed.at(NOON + 120)
    failed.until(NOON + 180)

    assert (failed.one.severity, failed.one.because) == ("ticket", "later")


def test_the_owner_of_the_job_comes_before_those_of_its_datasets(failed):
    """Take the owner of the job from the policy."""
    failed.policy = Policy(jobs=(JobRule(match="spark/make_raw", owner="ingest"),))
    failed.at(NOON + 120)
    failed.until(NOON + 180)

    assert failed.one.owner == "ingest"


def test_a_standing_gap_is_a_ticket(watched):
    """Open a ticket although a critical dataset has the gap."""
    watched.estate.add("board", tier="critical")
    watched.estate.say("board", "bad", "no_inputs", sli="M1", was_good=False)
    watched.at(NOON)
    watched.until(NOON + 60)

    assert (watched.one.root_kind, watched.one.severity) == ("standing_gap", "ticket")


@pytest.mark.parametrize(
    ("known", "is_notified"),
    [
        ({}, False),
        ({"tier": "important"}, True),
        ({"is_declared": True}, True),
    ],
    ids=["unknown", "important", "declared"],
)
def test_a_new_input_that_nobody_writes_waits_for_the_digest(watched, known, is_notified):
    """Notify at once if the policy declares the input, or an important dataset is downstream."""
    watched.policy = Policy(owners=(Owner(name="platform", slack="#platform"),))
    watched.estate.add("topic", **({"tier": "optional"} | known))
    watched.estate.clear_last_write("topic")
    watched.estate.say("topic", "bad", "never_reported", sli="M1", was_good=False)
    watched.at(NOON)
    watched.until(NOON + 60)

    assert watched.one.root_kind == "standing_gap"
    assert bool(watched.rows(tables.notification)) == is_notified


def test_reads_without_a_source_are_a_ticket_of_the_digest(watched):
    """Open a `provenance` ticket, and none where the dataset has an incident of its own gap."""
    watched.policy = Policy(owners=(Owner(name="platform", slack="#platform"),))
    for name in ("topic", "feed"):
        watched.estate.add(name, tier="critical")
        watched.estate.clear_last_write(name)
        watched.estate.say(name, "bad", "never_reported", sli="M5", was_good=False)
    watched.estate.say("feed", "bad", "never_reported", sli="M1", was_good=False)
    watched.at(NOON)
    watched.until(NOON + 60)

    opened = {each.root_key: (each.root_kind, each.severity) for each in watched.rows()}
    assert opened == {
        dataset("topic"): ("provenance", "ticket"),
        dataset("feed"): ("standing_gap", "ticket"),
    }
    assert len(watched.rows(tables.notification)) == 1  # of `feed`; the digest has `topic`


def test_lineage_that_stopped_pages(watched):
    """Page when a dataset loses the lineage that it had."""
    watched.estate.add("board", tier="critical")
    watched.estate.say("board", "bad", "no_inputs", sli="M1")
    watched.at(NOON)
    watched.until(NOON + 60)

    assert (watched.one.root_kind, watched.one.severity) == ("unreported", "page")


@pytest.mark.parametrize(
    ("sli", "reason", "words"),
    [
        (
            "facts",
            "unexpected_source",
            "Dataset mart has an undeclared upstream dataset; 1 dataset bad",
        ),
        ("M5", None, "Dataset mart has an unknown origin; 1 dataset bad"),
    ],
)
def test_a_ticket_names_its_fault_of_provenance(watched, sli, reason, words):
    """Distinguish a new source from reads without any source: both are of one kind."""
    watched.estate.add("mart", tier="critical")
    watched.estate.say("mart", "bad", reason, sli=sli)
    watched.at(NOON)
    watched.until(NOON + 60, every=30)

    assert (watched.one.root_kind, watched.one.what) == ("provenance", words)


def test_a_job_that_retries_failed_when_it_failed_first(failed):
    """Name the newest run, and keep the onset."""
    again = failed.estate.fail("raw", NOON + 100)
    failed.at(NOON + 120)
    failed.until(NOON + 180)

    assert failed.one.onset == micros(NOON + 60)
    assert again in failed.one.evidence


@pytest.mark.parametrize(
    ("name", "times", "root"),
    [
        ("raw", {"last_started_at": DAY - 600}, ("make_raw", "lost")),
        ("raw", {"last_started_at": DAY + 1200}, ("make_core", "silent")),  # it may still end
        ("raw", {"last_started_at": DAY - 600, "last_written_at": DAY - 700}, None),  # not due
        ("mart", {"last_started_at": DAY - 600}, ("make_core", "silent")),
    ],
)
def test_a_run_that_never_ended_is_the_root_before_its_own_dataset_is_late(
    watched, name, times, root
):
    """Name the run although `core` is late first; runs usually take ten minutes.

    The limit of `core` is shorter.
    """
    late = DAY + 1800
    watched.estate.add("raw", "core", "mart")
    watched.estate.chain("raw", "core", "mart")
    own = tables.dataset_activity.c.dataset_key == dataset(name)
    with write_transaction(watched.engine) as connection:
        connection.execute(update(tables.dataset_limit).values(duration_seconds=600.0))
        instants = {column: micros(at) for column, at in times.items()}
        connection.execute(update(tables.dataset_activity).where(own).values(**instants))
    watched.estate.say("core", "bad", "silent", since=late, limit_seconds=float(late))
    watched.at(late)
    watched.until(late + 60)

    assert (watched.one.root_name, watched.one.root_kind) == (root or ("make_core", "silent"))


@pytest.mark.postgres_always
def test_an_edge_of_the_past_explains_nothing(failed):
    """Open two faults: `core` was not made of `raw` for nine days."""
    with write_transaction(failed.engine) as connection:
        old = update(tables.edge).where(tables.edge.c.downstream_key == dataset("core"))
        connection.execute(old.values(last_seen_at=micros(-8 * DAY)))
    failed.at(NOON + 120)
    failed.until(NOON + 180)

    roots = {row.root_name: row.unknown for row in failed.rows()}
    assert roots == {"make_raw": None, "make_core": "no_upstream"}


def test_a_declared_edge_counts_without_a_report(failed):
    """List `silent` as affected, although its job does not report its inputs."""
    failed.estate.add("silent")
    inputs = (f"{NAMESPACE}/core",)
    silent = DatasetRule(match=f"{NAMESPACE}/silent", expect_inputs=inputs)
    failed.policy = Policy(datasets=(silent,))
    failed.at(NOON + 120)
    failed.until(NOON + 180)

    affected = {row.dataset_key: row.hops for row in failed.rows(tables.incident_impact)}
    assert affected[dataset("silent")] == 2


@pytest.mark.postgres_always
def test_jobs_that_one_upgrade_breaks_are_one_incident(watched):
    """Open one incident of several teams for the platform, with the counts of both sides."""
    estate = watched.estate
    broken = [f"broken{number}" for number in range(4)]
    estate.add(*broken, *(f"well{number}" for number in range(30)))
    estate.add_good_runs(watched.rows(tables.dataset_activity), "4.2.0")
    watched.at(NOON)
    for number, name in enumerate(broken):
        estate.fail(name, NOON + 60, engine_version="4.3.1")
        estate.own(name, f"team{number}")
        estate.say(name, "bad", "job_failed", limit_seconds=NOON + 90.0)
    watched.at(NOON + 120)
    watched.until(NOON + 180)

    assert watched.one.what.startswith("Jobs with spark 4.3.1 fail; 4 datasets")
    assert (watched.one.root_entity, watched.one.owner) == ("cause", None)
    assert "4 of 4 failing jobs have it, and 0 of 30" in watched.one.evidence


def test_the_cause_is_known_before_the_second_job_affects_a_dataset(watched):
    """Leave the first owner unpaged, as the cause belongs to the platform."""
    estate = watched.estate
    estate.add("first", "second", *(f"well{number}" for number in range(60)))
    estate.add_good_runs(watched.rows(tables.dataset_activity), "4.2.0")
    watched.at(NOON)
    for name in ("first", "second"):
        estate.fail(name, NOON + 60, engine_version="4.3.1")
    estate.say("first", "bad", "job_failed", limit_seconds=NOON + 90.0)
    watched.at(NOON + 120)
    watched.until(NOON + 180)

    assert (watched.one.root_entity, watched.one.owner) == ("cause", "sales")
    assert watched.one.what.startswith("Jobs with spark 4.3.1 fail; 1 dataset")


def _fail_after_upgrade(watched, *, others, came=0.0):
    """Let one of 200 jobs fail with a version with which a job of other owners is good."""
    estate = watched.estate
    estate.add("first", "other", *(f"well{number}" for number in range(200)))
    estate.add_good_runs(watched.rows(tables.dataset_activity), "4.2.0")
    estate.own("other", others)
    watched.at(NOON)
    newer = [row for row in watched.rows(tables.dataset_activity) if "other" in row.last_job_name]
    with write_transaction(estate.engine) as connection:
        of_other = update(tables.run).where(tables.run.c.root_job_name == "make_other")
        connection.execute(of_other.values(first_event_at=micros(came)))
    estate.add_good_runs(newer, "4.3.1")
    _fails(estate, "first", NOON + 60)
    watched.at(NOON + 120)
    watched.until(NOON + 180)


def test_a_rollout_is_owned_by_the_platform_at_its_first_failure(watched):
    """Open it for the platform at once, instead of a handover at the second failure."""
    _fail_after_upgrade(watched, others="shipping")

    assert (watched.one.root_entity, watched.one.owner) == ("cause", None)
    assert "1 of 1 failing jobs have it, and 1 of 201 good jobs" in watched.one.evidence


@pytest.mark.postgres_always
@pytest.mark.parametrize(
    "came",
    [
        pytest.param({"others": "sales"}, id="a team that upgrades its own jobs"),
        pytest.param({"others": "shipping", "came": -8 * DAY}, id="the other has had it for long"),
        pytest.param({"others": None}, id="of nobody known"),
    ],
)
def test_an_upgrade_of_one_team_is_owned_by_it(watched, came):
    """Open it for the team: no other team uses the new version now."""
    _fail_after_upgrade(watched, **came)

    assert (watched.one.root_entity, watched.one.owner) == ("job", "sales")


def test_the_platform_keeps_a_rollout_while_other_jobs_are_good(watched):
    """Keep it with the platform: one job still fails when a hundred are good by the evening."""
    _fail_after_upgrade(watched, others="shipping")
    every = watched.rows(tables.dataset_activity)
    watched.estate.add_good_runs(
        [row for row in every if row.last_job_name != "make_first"], "4.3.1"
    )

    assert watched.at(NOON + 200) + watched.until(NOON + 400) == []
    assert (watched.one.root_entity, watched.one.owner) == ("cause", None)


@pytest.mark.postgres_always
def test_outputs_of_the_same_run_are_affected_before_they_are_late(failed):
    """List the downstream datasets of both outputs of the job, `raw` and `twin`."""
    failed.estate.add("twin", "twin_mart")
    failed.estate.chain("twin", "twin_mart")
    with write_transaction(failed.engine) as connection:
        table = tables.dataset_activity
        mine = update(table).where(table.c.dataset_key.in_([dataset("raw"), dataset("twin")]))
        connection.execute(mine.values(last_write_root_run_id="last-night"))
    failed.at(NOON + 120)
    failed.until(NOON + 180)

    affected = {row.dataset_key: row.hops for row in failed.rows(tables.incident_impact)}
    assert (affected[dataset("twin")], affected[dataset("twin_mart")]) == (0, 1)


def test_the_list_grows_when_another_job_fails_by_the_same_cause(watched):
    """Add the downstream datasets of the third job, which failed after the notification."""
    estate = watched.estate
    names = ("first", "second", "third")
    estate.add(*names, *(f"{name}_mart" for name in names), *(f"well{each}" for each in range(60)))
    for name in names:
        estate.chain(name, f"{name}_mart")
    estate.add_good_runs(watched.rows(tables.dataset_activity), "4.2.0")
    watched.at(NOON)
    for name in names[:2]:
        _fails(estate, name, NOON + 60)
    watched.at(NOON + 120)
    watched.until(NOON + 180)
    before = {row.dataset_key for row in watched.rows(tables.incident_impact)}
    _fails(estate, "third", NOON + 240)
    watched.at(NOON + 300)
    watched.until(NOON + 360)

    listed = {row.dataset_key for row in watched.rows(tables.incident_impact)}
    assert watched.one.root_entity == "cause"
    assert dataset("first_mart") in before
    assert listed - before == {dataset("third"), dataset("third_mart")}


def _fails(estate, name, at):
    estate.fail(name, at, engine_version="4.3.1")
    estate.say(name, "bad", "job_failed", limit_seconds=at + 30.0)


@pytest.mark.postgres_always
@pytest.mark.parametrize(
    ("cadence", "roots"), [(DAY, {"make_raw"}), (2 * DAY, {"make_raw", "make_mart"})]
)
def test_datasets_that_are_due_are_looked_through(watched, cadence, roots):
    """Look at `core`, which has the longest limit; a dataset written every other day is not due."""
    estate = watched.estate
    estate.add("raw", "core", "mart")
    estate.chain("raw", "core", "mart")
    with write_transaction(watched.engine) as connection:
        own = update(tables.dataset_limit).where(
            tables.dataset_limit.c.dataset_key == dataset("core")
        )
        connection.execute(own.values(cadence_seconds=cadence))
    watched.at(DAY)
    estate.fail("raw", DAY + 60)
    estate.say("raw", "bad", "job_failed", limit_seconds=DAY + 90.0)
    estate.say("mart", "bad", "silent", limit_seconds=DAY + 120.0)
    watched.at(DAY + 180)
    watched.until(DAY + 240)

    assert {row.root_name for row in watched.rows()} == roots


@pytest.mark.parametrize(
    ("freshness", "roots"),
    [("learning", {"make_raw", "core"}), ("good", {"make_raw", "core", "make_mart"})],
)
def test_a_standing_gap_does_not_explain_late_data(watched, freshness, roots):
    """Excuse no upstream by `core`, which is unreported, unless its writes are known otherwise."""
    estate = watched.estate
    estate.add("raw", "core", "mart")
    estate.chain("raw", "core", "mart")
    estate.say("core", "bad", "never_reported", sli="M1", was_good=False)
    estate.say("core", freshness)
    estate.fail("raw", NOON + 60)
    estate.say("raw", "bad", "job_failed", limit_seconds=NOON + 90.0)
    estate.say("mart", "bad", "silent", limit_seconds=NOON + 120.0)
    watched.at(NOON + 180)
    watched.until(NOON + 240)

    assert {row.root_name for row in watched.rows()} == roots


def _produced_by(failed, *namespaces: str) -> None:
    """Store runs of root jobs in these namespaces that write `raw`, the oldest first."""
    rows = [
        {"dataset_key": dataset("raw"), "job_namespace": namespace, "landed_at": at}
        for at, namespace in enumerate(namespaces)
    ]
    with write_transaction(failed.engine) as connection:
        connection.execute(insert(tables.dataset_producer), rows)


def _below(root: str) -> dict[str, str]:
    """Return the columns of a run whose job has a root job."""
    return {
        "root_job_namespace": "airflow",
        "root_job_name": root,
        "leaf_job_namespace": "spark",
        "leaf_job_name": "make_raw",
    }


def test_the_owner_of_the_root_job_owns_its_tasks(failed):
    """Keep the meaning of a rule for the DAG; a rule for the task itself comes first."""
    _produced_by(failed, "airflow")
    failed.estate.fail("raw", NOON + 70, **_below("daily"))
    root = JobRule(match="airflow/daily", owner="platform")
    failed.policy = Policy(jobs=(root,))
    failed.at(NOON + 120)
    failed.until(NOON + 180)
    assert (failed.one.root_name, failed.one.owner) == ("make_raw", "platform")

    failed.policy = Policy(jobs=(root, JobRule(match="spark/make_raw", owner="ingest")))
    failed.until(NOON + 240)
    assert failed.one.owner == "ingest"


def test_a_window_over_the_root_job_hides_its_tasks(failed):
    """Suppress tasks by a window for their DAG."""
    _produced_by(failed, "airflow")
    failed.estate.fail("raw", NOON + 70, **_below("daily"))
    failed.plan("airflow/daily", NOON + 3600)
    failed.at(NOON + 120)
    failed.until(NOON + 180)

    assert failed.one.state == "suppressed"


def test_an_unrelated_root_job_decides_nothing(failed):
    """Ignore the root that an unrelated event names with the id of the failed run."""
    _produced_by(failed, "airflow", "evil")
    run = failed.estate.fail("raw", NOON + 70, **_below("daily"))
    failed.estate.fail("raw", NOON + 70, **_below("x") | {"root_job_namespace": "evil"}, run_id=run)
    failed.policy = Policy(jobs=(JobRule(match="evil/x", owner="evil"),))
    failed.plan("evil/x", NOON + 3600)
    failed.at(NOON + 120)
    failed.until(NOON + 180)

    assert (failed.one.owner, failed.one.state) == ("sales", "open")


def test_the_job_s_own_facet_names_the_owner_where_no_dataset_has_one(failed):
    """Take the owner from the job's own facet: the job never wrote, so its datasets have none."""
    _produced_by(failed, "spark")
    failed.estate.own("raw", None)
    row = {"subject": "job", "subject_key": job("raw"), "owner": "ingest", "last_seen_at": 0}
    with write_transaction(failed.engine) as connection:
        connection.execute(insert(tables.ownership).values(**row))
    failed.at(NOON + 120)
    failed.until(NOON + 180)

    assert failed.one.owner == "ingest"

"""Runs of a history, and their events."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from collector.events import parse_event
from collector.settings import Limits
from lab.gameday.estate import Shape, build_estate
from lab.gameday.history import slabs
from lab.gameday.injected import Injected
from lab.gameday.model import DAY, HOUR, MINUTE_MICROS, other_name
from lab.gameday.posting import format_instant
from lab.gameday.runs import schedule_runs
from lab.gameday.slots import begins_at
from lineage.process.clock import SECOND_MICROS

ESTATE = build_estate(Shape(seed=1, datasets=100, days=4))
BEGINS = begins_at(ESTATE)


def events_of(*injected: Injected):
    """Return all events, as (received_at, JSON)."""
    return [
        (event.received_at, json.loads(event.body))
        for slab in slabs(ESTATE, injected)
        for event in slab.events
    ]


@pytest.fixture(scope="module")
def quiet():
    return events_of()


def written(events, name):
    """Return root runs that ended a write of the dataset."""
    return [
        event["run"]["facets"]["parent"]["root"]["run"]["runId"]
        for _, event in events
        if event["eventType"] == "COMPLETE" and name in [each["name"] for each in event["outputs"]]
    ]


def reported(cadence, **wanted: object):
    """Return a job with a listener that reads something."""
    return next(
        job
        for job in ESTATE.jobs
        if job.cadence == cadence
        and job.reporting == "listener"
        and job.inputs
        and all(getattr(job, name) == value for name, value in wanted.items())
    )


def times(job, injected=()):
    """Return when the job's runs began, in hours since the beginning."""
    found = [run for run in schedule_runs(ESTATE, tuple(injected)) if run.job == job.number]
    return [(run.started_at - BEGINS) / HOUR for run in found]


def test_runs_come_in_the_order_in_which_they_begin():
    """Sort a retry by its own start, minutes later: the slab may have ended meanwhile."""
    began = [run.started_at for run in schedule_runs(ESTATE)]
    assert began == sorted(began)


def test_slabs_are_days_in_the_order_of_arrival():
    """Put every event into the slab in which it arrives, exactly once."""
    ends, count = BEGINS, 0
    for slab in slabs(ESTATE):
        assert slab.starts_at == ends
        at = [event.received_at for event in slab.events]
        assert at == sorted(at)
        assert all(each < slab.ends_at for each in at)
        ends, count = slab.ends_at, count + 1
    assert (ends, count) == (BEGINS + 4 * DAY, 4)


def test_the_same_seed_gives_the_same_bytes():
    """Compare event by event."""
    first, second = ([each.events for each in slabs(ESTATE)] for _ in range(2))
    assert first == second


def test_the_collector_takes_every_event(quiet):
    """Check each by the collector's own rules; no two are alike."""
    bodies = [json.dumps(event).encode() for _, event in quiet]
    assert all(parse_event(body, Limits()).kind == "run" for body in bodies)
    assert len(set(bodies)) == len(bodies)


def test_the_listeners_defects_are_there(quiet):
    """Find COMPLETE after FAIL, two runs a write, START-only runs, plans in names, a cold start."""
    states: dict[str, list[str]] = {}
    for _, event in quiet:
        states.setdefault(event["run"]["runId"], []).append(event["eventType"])
    kinds = Counter(" ".join(each) for each in states.values())
    rdds = [e for _, e in quiet if e["job"]["facets"]["jobType"]["jobType"] == "RDD_JOB"]
    names = {event["job"]["name"].split(".")[1] for _, event in quiet if event["outputs"]}
    twofold = reported("daily", is_twofold=True)
    roots = Counter(written(quiet, ESTATE.datasets[twofold.outputs[0]].name))
    lags = [at - _micros(e["eventTime"]) for at, e in quiet if "." not in e["job"]["name"]]

    assert {event["eventType"] for event in rdds} == {"START"}
    assert not [kind for kind in kinds if "FAIL" in kind and not kind.endswith("FAIL COMPLETE")]
    assert {"adaptive_spark_plan", "execute_insert_into_hadoop_fs_relation_command"} <= names
    assert set(roots.values()) == {2}
    assert max(lags) > 3 * SECOND_MICROS


def _micros(text):
    return (datetime.fromisoformat(text) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
        microseconds=1
    )


def test_zeros_at_the_end_of_a_time_are_dropped():
    """Vary texts as the listener does: a comparison of texts would be wrong."""
    assert [format_instant(at) for at in (0, 940_000, 1_500_000)] == [
        b"1970-01-01T00:00:00Z",
        b"1970-01-01T00:00:00.94Z",
        b"1970-01-01T00:00:01.5Z",
    ]


def test_jobs_without_a_listener_leave_no_events(quiet):
    """Let their runs happen without events."""
    silent = {
        ESTATE.jobs[run.job].name
        for run in schedule_runs(ESTATE)
        if not run.circumstances.is_reported
    }
    reporting = {event["job"]["name"].split(".")[0] for _, event in quiet}

    assert silent
    assert not silent & reporting


def test_a_job_that_waits_does_not_run_while_its_source_is_late():
    """Run it when its input arrives; run one that does not wait at its slot."""
    waiting = next(
        job
        for job in ESTATE.jobs
        if job.waits and ESTATE.datasets[job.inputs[0]].cadence == job.cadence == "daily"
    )
    source = ESTATE.writer_of[waiting.inputs[0]]
    late = Injected("late_source", (source.number,), BEGINS + DAY, BEGINS + DAY + 20 * HOUR)
    heedless = [
        job
        for job in ESTATE.readers_of[waiting.inputs[0]]
        if not job.waits and job.cadence == "daily"
    ]
    assert source.inputs == () or source.cadence == "daily"

    usual, held = times(waiting), times(waiting, [late])

    assert usual[0] == held[0]
    assert held[1] > 24 + 20
    assert all(times(job) == times(job, [late]) for job in heedless)


def test_a_killed_job_is_run_again_when_it_is_fixed():
    """Fail each run meanwhile; nothing downstream that waits has run."""
    job = reported("hourly")
    killed = Injected("killed_job", (job.number,), BEGINS + 30 * HOUR, BEGINS + 35 * HOUR, "fail")
    found = [run for run in schedule_runs(ESTATE, (killed,)) if run.job == job.number]
    failed = [run for run in found if run.circumstances.fate == "fail"]
    repeated = next(run for run in found if run.started_at >= killed.ends_at)

    assert len(failed) == 5
    assert repeated.started_at == killed.ends_at
    assert repeated.circumstances.fate != "fail"


def test_a_lost_run_has_no_end():
    """Send START alone, of the application too, as after a kill of its JVM."""
    job = reported("hourly")
    lost = Injected("killed_job", (job.number,), BEGINS + 30 * HOUR, BEGINS + 33 * HOUR, "lost")
    own = [e for _, e in events_of(lost) if e["job"]["name"].startswith(f"{job.name}.")]
    states: dict[str, set[str]] = {}
    for event in own:
        states.setdefault(event["run"]["runId"], set()).add(event["eventType"])

    assert sum("COMPLETE" not in each and "RUNNING" in each for each in states.values()) >= 3


def test_a_silent_listener_reports_no_run(quiet):
    """Compare the runs, which are the same; the events of some are missing."""
    job = reported("hourly")
    silent = Injected("silent_listener", (job.number,), BEGINS + 30 * HOUR, BEGINS + 36 * HOUR)
    name = ESTATE.datasets[job.outputs[0]].name

    assert times(job, [silent]) == times(job)
    assert len(set(written(events_of(silent), name))) == len(set(written(quiet, name))) - 6


def test_a_renamed_dataset_is_written_under_the_other_name():
    """Skip the old one until the fix; then drop the other one."""
    job = reported("hourly")
    renamed = Injected("renamed_dataset", (job.number,), BEGINS + 30 * HOUR, BEGINS + 36 * HOUR)
    events = events_of(renamed)
    other = other_name(ESTATE.datasets[job.outputs[0]].full_name)[1]
    changes = [
        output["facets"]["lifecycleStateChange"]["lifecycleStateChange"]
        for _, event in events
        for output in event["outputs"]
        if output["name"] == other and event["eventType"] == "COMPLETE"
    ]

    assert set(changes[:-1]) == {"OVERWRITE"}
    assert changes[-1] == "DROP"


def test_a_leak_names_less_and_less():
    """Drop one input first; in the end no run names any."""
    job = next(j for j in ESTATE.jobs if len(j.inputs) > 1 and j.reporting == "listener")
    leak = Injected("provenance_leak", (job.number,), BEGINS, BEGINS + 4 * DAY)
    counts = [
        len(run.circumstances.inputs)
        for run in schedule_runs(ESTATE, (leak,))
        if run.job == job.number
    ]

    assert counts == sorted(counts, reverse=True)
    assert (counts[0], counts[-1]) == (len(job.inputs) - 1, 0)


def test_an_outage_loses_what_arrives_in_it():
    """Use a slab of its own without a collector: posted events are counted, and lost."""
    outage = Injected("collector_outage", (), BEGINS + 30 * HOUR, BEGINS + 32 * HOUR)
    found = list(slabs(ESTATE, [outage]))
    deaf = [slab for slab in found if slab.is_deaf]
    arrived = sum(len(slab.events) for slab in slabs(ESTATE))

    assert [(slab.starts_at, slab.ends_at) for slab in deaf] == [(outage.starts_at, outage.ends_at)]
    assert deaf[0].events == []
    assert deaf[0].lost > 0
    assert sum(len(slab.events) + slab.lost for slab in found) == arrived


def test_a_wrong_clock_shifts_event_times():
    """Keep the arrival times."""
    job = reported("hourly")
    skew = Injected(
        "clock_skew", (job.number,), BEGINS + 30 * HOUR, BEGINS + 36 * HOUR, shift_seconds=-10_800
    )
    own = [(at, e) for at, e in events_of(skew) if e["job"]["name"].startswith(f"{job.name}.")]
    lags = [(at - _micros(e["eventTime"])) / HOUR for at, e in own]

    assert max(lags) > 3
    assert min(lags) < 0.1


def test_a_backfill_is_for_days_long_gone():
    """Set the nominal time of its runs; the regular runs continue."""
    job = reported("daily", is_orchestrated=True)
    backfill = Injected("backfill", (job.number,), BEGINS + 30 * HOUR, BEGINS + 34 * HOUR)
    found = [run for run in schedule_runs(ESTATE, (backfill,)) if run.job == job.number]
    old = [run for run in found if run.nominal_at < run.started_at - DAY]

    assert len(old) == 5
    assert len(found) == len(times(job)) + 5


def test_a_nightly_run_waits_for_a_backfill_and_still_runs():
    """Begin the backfill right before its slot."""
    job = reported("daily", is_orchestrated=True)
    slot = next(run.nominal_at for run in schedule_runs(ESTATE) if run.job == job.number) + DAY
    backfill = Injected("backfill", (job.number,), slot - SECOND_MICROS, slot + 4 * HOUR)
    found = [run for run in schedule_runs(ESTATE, (backfill,)) if run.job == job.number]

    (own,) = [run for run in found if run.nominal_at == slot]
    assert own.started_at > slot
    assert len(found) == len(times(job)) + 5


def test_a_nightly_run_waits_for_a_backfill_whose_runs_overlap():
    """Leave no pause in which nothing runs: each takes longer than the next is put off."""
    job = reported("daily", is_orchestrated=True)
    estate = _change_job(job.number, usual_seconds=45 * 60, spread=0.01)
    slot = next(run.nominal_at for run in schedule_runs(estate) if run.job == job.number) + DAY
    backfill = Injected("backfill", (job.number,), slot - 20 * MINUTE_MICROS, slot + 4 * HOUR)
    found = [run for run in schedule_runs(estate, (backfill,)) if run.job == job.number]

    assert len([run for run in found if run.nominal_at == slot]) == 1


def test_a_reader_fails_by_a_new_schema_once_it_was_written():
    """Let readers be well until the next run of the daily job, which wrote before the change."""
    job = next(job for job in ESTATE.jobs if job.cadence == "daily" and _reader_numbers(job))
    [number, *_] = _reader_numbers(job)
    estate = _change_job(number, cadence="hourly", waits=False, usual_seconds=60)
    starts_at = [run for run in schedule_runs(estate) if run.job == job.number][1].ended_at + HOUR
    ends_at = starts_at + 34 * HOUR
    drift = Injected("schema_drift", (job.number,), starts_at, ends_at, "", (number,))
    found = list(schedule_runs(estate, (drift,)))
    changed = next(run for run in found if run.job == job.number and run.circumstances.schema)
    failed = [run for run in found if run.job == number and run.circumstances.fate == "fail"]

    assert changed.started_at > starts_at + 20 * HOUR
    assert changed.ended_at <= failed[0].started_at <= changed.ended_at + HOUR
    assert failed[-1].started_at < ends_at


def _change_job(number, **changes: object):
    """Return the estate with one job changed."""
    changed = msgspec.structs.replace(ESTATE.jobs[number], **changes)
    jobs = (changed if each.number == number else each for each in ESTATE.jobs)
    return msgspec.structs.replace(ESTATE, jobs=tuple(jobs))


def _reader_numbers(job):
    return sorted({each.number for out in job.outputs for each in ESTATE.readers_of.get(out, ())})


def test_a_nightly_run_needs_no_input_newer_than_a_backfill():
    """Wait for an input newer than the previous night's run, as without a backfill."""
    punctual = {
        run.job for run in schedule_runs(ESTATE) if run.started_at == run.nominal_at > BEGINS + DAY
    }
    job = next(
        job
        for job in ESTATE.jobs
        if job.number in punctual
        and (job.waits, job.cadence) == (True, "daily")
        and {ESTATE.datasets[each].cadence for each in job.inputs} == {"daily"}
    )
    slot = [run for run in schedule_runs(ESTATE) if run.job == job.number][1].nominal_at
    backfill = Injected("backfill", (job.number,), slot - MINUTE_MICROS, slot + 4 * HOUR)
    found = [run for run in schedule_runs(ESTATE, (backfill,)) if run.job == job.number]

    (own,) = [run for run in found if run.nominal_at == slot]
    assert own.started_at < slot + 6 * HOUR


def test_a_retired_job_drops_its_datasets():
    """Run it no more."""
    job = reported("daily")
    gone = Injected("retired_job", (job.number,), BEGINS + 30 * HOUR, BEGINS + 4 * DAY)
    drops = [run for run in schedule_runs(ESTATE, (gone,)) if run.drops]
    last = max(run.started_at for run in schedule_runs(ESTATE, (gone,)) if run.job == job.number)

    assert [(run.job, run.drops, run.started_at) for run in drops] == [
        (job.number, "own", gone.starts_at)
    ]
    assert last == gone.starts_at

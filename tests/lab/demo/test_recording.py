import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from lab.demo import recording

NIGHT = datetime(2026, 11, 21, 2, tzinfo=UTC)
SHOP = Path("/data/my shop")


def _decoded(events):
    return [json.loads(event) for event in events]


def _times(events):
    return [datetime.fromisoformat(event["eventTime"]) for event in events]


def _run_ids(events):
    return [event["run"]["runId"] for event in events]


def test_a_replay_keeps_the_distances_between_events():
    """Place the last event at the requested time, and the others at their former distance."""
    recorded = recording.load()

    replayed = _decoded(recorded.ending(NIGHT, SHOP))

    before = _times(_decoded(recorded.events))
    shift = NIGHT - max(before)
    assert _times(replayed) == [time + shift for time in before]


def test_a_replay_changes_only_times_ids_and_the_folder():
    """Undo these changes, and compare with the listener's events: no lineage is invented."""
    recorded = recording.load()
    replayed = list(recorded.ending(NIGHT, SHOP))

    ids = dict(zip(_run_ids(_decoded(replayed)), _run_ids(_decoded(recorded.events)), strict=True))
    undone = []
    for event, original in zip(replayed, recorded.events, strict=True):
        text = event.decode().replace(str(SHOP), recording.FOLDER)
        for new, old in ids.items():
            text = text.replace(new, old)
        undone.append(_drop_clock(json.loads(text)))
        assert SHOP.name.encode() in event or recording.FOLDER.encode() not in original

    assert undone == [_drop_clock(event) for event in _decoded(recorded.events)]


def _drop_clock(event):
    details = event["run"]["facets"].get("spark_applicationDetails", {})
    return event | {"eventTime": "", "application": details.pop("applicationId", None) and ""}


def test_run_ids_are_the_same_within_a_replay_and_others_in_the_next():
    """Keep the parent that children name; no two nights share a run."""
    recorded = recording.load()
    first = _decoded(recorded.ending(NIGHT, SHOP))
    second = _decoded(recorded.ending(NIGHT + timedelta(days=1), SHOP))

    parents = {
        event["run"]["facets"]["parent"]["run"]["runId"]
        for event in first
        if "parent" in event["run"]["facets"]
    }
    assert parents <= set(_run_ids(first))
    assert not set(_run_ids(first)) & set(_run_ids(second))


def test_the_nights_are_a_day_apart_with_a_little_jitter():
    """Return thirty nights, the newest at the requested time, each at another minute."""
    raw = recording.load().of(["raw"])

    replayed = _decoded(recording.daily(raw, last=NIGHT, days=30, shop=SHOP))

    ends = [time for time, event in zip(_times(replayed), replayed, strict=True) if _is_last(event)]
    assert (len(ends), ends[-1]) == (30, NIGHT)
    gaps = {later - earlier for earlier, later in pairwise(ends)}
    assert len(gaps) > 1
    assert all(abs(gap - timedelta(days=1)) < timedelta(minutes=10) for gap in gaps)


def _is_last(event):
    return event["eventType"] == "COMPLETE" and "parent" not in event["run"]["facets"]


def test_the_recording_names_no_machine_and_no_person():
    """Use a neutral folder, user and address on any machine."""
    text = b"\n".join(recording.load().events)

    for event in _decoded(recording.load().events):
        details = event["run"]["facets"].get("spark_applicationDetails", {})
        assert details.get("userName", "shop") == "shop"
        assert details.get("driverHost", "127.0.0.1") == "127.0.0.1"
        names = [one["name"] for one in event["inputs"] + event["outputs"]]
        assert all(name.startswith(f"{recording.FOLDER}/") for name in names)
    assert b"/tmp" not in text
    assert b"/home" not in text


def test_each_instrumented_job_is_in_the_recording():
    """Find each job: a renamed or dropped one would have no past."""
    jobs = {event["job"]["name"].partition(".")[0] for event in _decoded(recording.load().events)}

    assert jobs == {"raw", "core", "mart", "churn", "stock"}

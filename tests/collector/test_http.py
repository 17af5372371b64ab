"""Answers of the collector, from a real process over a real socket."""

import gzip
import json
import zlib

import pytest

from collector.settings import Limits
from tests.collector.bodies import body, dataset_event, job_event, new_body, run_event
from tests.suite.http_client import CLIENT
from tests.suite.waiting import until

BATCH = "/api/v1/lineage/batch"
_TEN_MEGABYTES = 10 << 20


def _stored_rows(collector, raw):
    rows = collector.rows("SELECT CAST(body AS BLOB), origin, kind FROM event ORDER BY seq")
    return [(origin, kind) for kept, origin, kind in rows if kept == raw]


def _counter(collector, line):
    text = CLIENT.get(f"{collector.url}/metrics").text
    found = [float(row.split()[-1]) for row in text.splitlines() if row.startswith(line)]
    return found[0] if found else 0.0


def test_an_acknowledged_event_is_stored_and_its_repeat_is_the_same_row(collector):
    """Answer 201 to both, as the sender of a repeat is done too."""
    raw = new_body()

    answers = [collector.post(raw).status_code for _ in range(2)]

    assert answers == [201, 201]
    assert _stored_rows(collector, raw) == [("http", "run")]


def test_gzip_is_stored_inflated(collector):
    """Store JSON however it came, and treat the same event in plain as its repeat."""
    raw = new_body()

    packed = collector.post(gzip.compress(raw), content_encoding="gzip")

    assert (packed.status_code, collector.post(raw).status_code) == (201, 201)
    assert _stored_rows(collector, raw) == [("http", "run")]


@pytest.mark.parametrize(
    ("packed", "encoding", "status", "error"),
    [
        (gzip.compress(b"0" * (_TEN_MEGABYTES + 1)), "gzip", 413, "TooLargeError"),
        (gzip.compress(new_body())[:-9], "gzip", 400, "MalformedRequestError"),
        (gzip.compress(new_body()) + b"more", "gzip", 400, "MalformedRequestError"),
        (gzip.compress(gzip.compress(new_body())), "gzip, gzip", 415, "EncodingError"),
        (zlib.compress(new_body()), "deflate", 415, "EncodingError"),
        (new_body(), "br", 415, "EncodingError"),
        (new_body(), "gzip", 400, "MalformedRequestError"),
        (gzip.compress(new_body()), "identity", 400, "InvalidEventError"),
    ],
    ids=["explodes", "cut", "more behind it", "twice", "deflate", "brotli", "plain", "not named"],
)
def test_an_invalid_or_oversized_encoding_is_rejected(collector, packed, encoding, status, error):
    """Inflate one complete gzip up to 10 MiB, and nothing else."""
    answer = collector.post(packed, content_encoding=encoding)

    assert (answer.status_code, answer.json()["error"]) == (status, error)


def test_a_rejected_event_is_stored_with_its_reason_and_path(collector):
    """Store it, as nobody may read the log of its sender."""
    raw = body(run_event(run={"runId": "nightly-42"}))

    answer = collector.post(raw)

    detail = "$.run.runId: Invalid UUID, got 'nightly-42'"
    fields = {"error": "InvalidEventError", "detail": detail, "path": "$.run.runId"}
    assert (answer.status_code, answer.json()) == (400, fields)
    kept = (raw, "invalid_event", "$.run.runId", detail)
    assert kept in collector.rows("SELECT body, reason, path, detail FROM rejected")


def test_rejected_events_of_a_history_load_are_counted_apart(collector):
    """Store the origin, as a backfill of broken lines is no current error."""
    raw = body(run_event(run={"runId": "nightly-43"}))

    collector.post_as_own(raw, lineward_origin="history")

    assert (raw, "history") in collector.rows("SELECT body, origin FROM rejected")


def test_each_kind_of_event_is_stored_as_such(collector):
    """Accept dataset and job events, which have no run."""
    sent = {"run": new_body(), "job": body(job_event()), "dataset": body(dataset_event())}

    answers = {kind: collector.post(raw).status_code for kind, raw in sent.items()}

    assert answers == dict.fromkeys(sent, 201)
    assert {kind: _stored_rows(collector, raw) for kind, raw in sent.items()} == {
        kind: [("http", kind)] for kind in sent
    }


@pytest.mark.parametrize(
    ("method", "path", "status", "allowed"),
    [
        ("GET", "/api/v1/lineage", 405, "POST"),
        ("PUT", BATCH, 405, "POST"),
        ("POST", "/metrics", 405, "GET"),
        ("GET", "/api/v2/lineage", 404, "/api/v1/lineage/batch"),
        ("POST", "/api/v1/lineages", 404, "/api/v1/lineage"),
    ],
)
def test_an_answer_to_a_wrong_address_has_the_right_one(collector, method, path, status, allowed):
    """Name the address, as this is the most frequent mistake in a listener's settings."""
    answer = CLIENT.request(method, collector.url + path, content=b"{}")

    assert answer.status_code == status
    assert allowed in answer.json()["detail"]


@pytest.mark.parametrize(
    "path", ["/api/v1/lineage/", "//api/v1/lineage", "/api//v1/lineage//", "/api/v1/lineage/batch/"]
)
def test_a_path_with_too_many_slashes_is_accepted(collector, path):
    """Check that a client that joins its address and its path with two slashes loses nothing."""
    raw = new_body()
    sent = b"[" + raw + b"]" if "batch" in path else raw

    assert CLIENT.post(f"{collector.url}{path}", content=sent).is_success
    assert _stored_rows(collector, raw) == [("http", "run")]


def test_a_valid_batch_is_answered_without_a_body(collector):
    """Answer 204, and store one row for each event, in order."""
    sent = [json.loads(new_body()) for _ in range(3)]

    answer = collector.post(body(sent), BATCH)

    kept = [json.loads(row[0]) for row in collector.rows("SELECT body FROM event ORDER BY seq")]
    assert (answer.status_code, answer.content) == (204, b"")
    assert [event for event in kept if event in sent] == sent


@pytest.mark.parametrize(
    "odd",
    [
        b'{"eventTime": "\\ud800"}',
        b'["\\udc00\\ud800"]',
        b"NaN",
        b'{"eventTime": "a\nb"}',
        b'{"eventTime": "\\x"}',
        b'{"a":' * 1_500 + b"1" + b"}" * 1_500,
        b'{"a": }',
        b'{"a": "\xff"}',
        b"x" * 300_000,
    ],
    ids=["surrogate", "two", "NaN", "line break", "escape", "deep", "empty", "latin", "long"],
)
def test_an_event_of_a_batch_that_is_no_json_does_not_reject_its_neighbours(collector, odd):
    """Store it with its reason, like an event that is sent alone."""
    good = [new_body() for _ in range(2)]

    answer = collector.post(b"[" + good[0] + b", " + odd + b"," + good[1] + b"]", BATCH)

    text = answer.json()
    assert (answer.status_code, text["status"]) == (200, "partial_success")
    assert [one["index"] for one in text["failed_events"]] == [1]
    assert [_stored_rows(collector, one) for one in good] == [[("http", "run")]] * 2
    head = (odd[: Limits().max_rejected_bytes],)
    assert head in collector.rows("SELECT body FROM rejected")


@pytest.mark.parametrize("cut", [b'[{"a": 1}, {"b', b'{"a": 1}', b"[1] x"])
def test_a_batch_that_is_no_array_is_stored_with_its_reason(collector, cut):
    """Store it, as nobody may read the log of its sender."""
    answer = collector.post(cut, BATCH)

    assert (answer.status_code, answer.json()["path"]) == (400, "$")
    assert (cut, "not_json") in collector.rows("SELECT body, reason FROM rejected")


def test_a_bad_event_of_a_batch_does_not_reject_its_neighbours(collector):
    """Name the event and the reason, and mark it as not retriable."""
    good = [json.loads(new_body()) for _ in range(2)]

    answer = collector.post(body([good[0], run_event(run={}), good[1], 7]), BATCH)

    assert answer.status_code == 200
    assert answer.json() == {
        "status": "partial_success",
        "summary": {
            "received": 4,
            "successful": 2,
            "failed": 2,
            "retriable": 0,
            "non_retriable": 2,
        },
        "failed_events": [
            {"index": 1, "reason": "$.run.runId: required, and missing", "retriable": False},
            {
                "index": 3,
                "reason": "$: expected an OpenLineage event, an object; got int",
                "retriable": False,
            },
        ],
    }
    kept = [json.loads(row[0]) for row in collector.rows("SELECT body FROM event")]
    assert [event in kept for event in good] == [True, True]


@pytest.mark.parametrize("raw", [b"", b"{}", b"[", b"[{]", b"null", b"[" * 100_000])
def test_an_invalid_batch_is_a_400(collector, raw):
    """Store no part of a text that is no array of JSON values."""
    answer = collector.post(raw, BATCH)

    assert (answer.status_code, answer.json()["path"]) == (400, "$")


def test_an_empty_batch_is_fine(collector):
    """Answer 204."""
    assert collector.post(b"[]", BATCH).status_code == 204


@pytest.mark.parametrize("origin", ["history", "marquez", "marquez-history"])
def test_the_origin_is_stored(collector, origin):
    """Mark history, which counts in no SLI, and events of Marquez, which are not sent back."""
    raw = new_body()

    answer = collector.post_as_own(b"[" + raw + b"]", BATCH, lineward_origin=origin)

    assert answer.status_code == 204
    assert _stored_rows(collector, raw) == [(origin, "run")]
    assert collector.post_as_own(new_body(), lineward_origin="me").status_code == 400


def test_a_large_batch_is_taken_whole(collector):
    """Bound a batch by its inflated size, and not by the bound on one event."""
    sent = [json.loads(new_body()) for _ in range(4_000)]
    raw = body(sent)
    assert len(raw) > 1 << 20

    assert collector.post(raw, BATCH).status_code == 204
    assert collector.post(raw, BATCH).status_code == 204

    last = sent[-1]["run"]["runId"]
    found = "SELECT count(*) FROM event WHERE instr(body, CAST(? AS BLOB))".replace(
        "?", f"'{last}'"
    )
    assert collector.rows(found) == [(1,)]


def test_livez_and_readyz_answer(collector):
    """Commit for `readyz`, and use no disk for `livez`."""
    answers = [CLIENT.get(f"{collector.url}/{name}") for name in ("livez", "readyz")]

    assert [(answer.status_code, answer.text) for answer in answers] == [
        (200, "alive\n"),
        (200, "ready\n"),
    ]


def test_accepted_repeated_and_rejected_events_are_counted(collector):
    """Show producers that repeat events or send invalid ones."""
    names = [
        'lineage_collector_events_total{outcome="stored"}',
        'lineage_collector_events_total{outcome="duplicate"}',
        'lineage_collector_refused_total{reason="invalid_event"}',
        "lineage_collector_duplicate_keys_total",
    ]
    before = [_counter(collector, name) for name in names]
    raw = new_body().replace(b'"producer"', b'"producer": "x", "producer"')

    for sent in (raw, raw, b"[]", b"{}"):
        collector.post(sent)

    def counted():
        after = [_counter(collector, name) for name in names]
        return [new - old for new, old in zip(after, before, strict=True)]

    # Not all are counted by who answers: one may show before another.
    until(lambda: sum(counted()) >= 6)
    assert counted() == [1, 1, 2, 2]


def test_only_the_bearer_of_the_token_may_send(start, tmp_path):
    """Ignore the newline at the end of the file, and need no token for health checks."""
    secret = tmp_path / "token"
    secret.write_text("s3cret-x\n")
    collector = start(token_file=secret).ready()

    def answer(given):
        headers = {"authorization": given} if given else {}
        url = f"{collector.url}/api/v1/lineage"
        return CLIENT.post(url, content=new_body(), headers=headers).status_code

    wrong = ["", "s3cret-x", "Bearer", "Bearer s3cret", "Bearer s3cret-x1", "Basic s3cret-x"]
    assert [answer(given) for given in wrong] == [401] * len(wrong)
    assert answer("Bearer s3cret-x") == 201
    assert "s3cret" not in collector.log()

"""Valid and invalid events, with the JSON path of the error."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector import json_text
from collector.errors import InvalidEventError
from collector.events import ValidEvent, parse_event
from collector.settings import Limits
from tests.collector.bodies import body, dataset_event, job_event, run_event, with_facet

LIMITS = Limits()
FINE = {"namespace": "a", "name": "b"}
ODD = ['"\\u0000"', '"\\ud83d\\ude00"', '"\u202e"', "9" * 4_300, "1e308", "{}", "null", '"NaN"']


def _parse_or_error(raw: bytes) -> ValidEvent | InvalidEventError:
    try:
        return parse_event(raw, LIMITS)
    except InvalidEventError as rejection:
        return rejection


def _rejection(raw: bytes) -> InvalidEventError:
    with pytest.raises(InvalidEventError) as caught:
        parse_event(raw, LIMITS)
    return caught.value


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (run_event(), "run"),
        (run_event(eventType=None), "run"),
        (run_event(inputs=None, outputs=None), "run"),
        (run_event(eventTime="2026-11-21T09:00:00.123"), "run"),
        (run_event(eventTime="2026-11-21T09:00:00.123456789Z"), "run"),
        (run_event(eventTime="2026-11-21T19:00:00+10:00"), "run"),
        (run_event(eventTime="2026-11-21T19:00:00.5+10:00[Australia/Sydney]"), "run"),
        (run_event(eventTime="2026-11-21T09:00:00Z[Etc/GMT+0]"), "run"),
        (run_event(eventTime="2026-11-21T09:00Z"), "run"),
        (run_event(schemaURL="https://openlineage.io/spec/9-9-9/OpenLineage.json"), "run"),
        (run_event(run={"runId": "01A1FBD9-377D-765B-B4C7-0039A32D1EFD", "facets": {}}), "run"),
        (run_event(somethingNew={"a": [1, None]}), "run"),
        (job_event(), "job"),
        (job_event(eventType="COMPLETE"), "job"),
        (dataset_event(), "dataset"),
    ],
)
def test_an_event_of_each_kind_is_accepted_unchanged(event, kind):
    """Keep the raw body, and accept unknown fields."""
    raw = body(event)

    assert parse_event(raw, LIMITS) == ValidEvent(kind, raw, 0)


@pytest.mark.parametrize(
    ("event", "path"),
    [
        (run_event(eventTime=None), "$.eventTime"),
        (run_event(eventTime="yesterday"), "$.eventTime"),
        (run_event(eventTime="2026-11-21T09:00:00[Europe/London]"), "$.eventTime"),
        (run_event(eventTime="2026-11-21T09:00:00Z[Europe/London"), "$.eventTime"),
        (run_event(eventTime="2026-13-21T09:00Z"), "$.eventTime"),
        (run_event(eventTime=1_700_000_000), "$.eventTime"),
        *(
            (make(eventTime=time), "$.eventTime")
            for make in (run_event, job_event, dataset_event)
            for time in (
                "0001-01-01T00:00:00+01:00",
                "0001-01-01T00:00:00",
                "1969-12-31T23:59:59.999999Z",
                "1970-01-01T00:59:59+01:00",
                "2200-01-01T00:00:00Z",
                "2199-12-31T23:59:59-00:01",
                "9999-12-31T23:59:59-14:00",
            )
        ),
        (run_event(producer=None), "$.producer"),
        (run_event(schemaURL=None), "$.schemaURL"),
        (run_event(eventType="DONE"), "$.eventType"),
        (run_event(run=None), "$.run"),
        (run_event(run={}), "$.run.runId"),
        (run_event(run={"runId": "nightly-42"}), "$.run.runId"),
        (run_event(run={"runId": 42}), "$.run.runId"),
        (run_event(job=None), "$.job"),
        (run_event(job={"name": "a"}), "$.job.namespace"),
        (run_event(job={"namespace": "a"}), "$.job.name"),
        (run_event(job={"namespace": "a", "name": " \t"}), "$.job.name"),
        (run_event(job={"namespace": "a", "name": "b\0c"}), "$.job.name"),
        (run_event(job={"namespace": "é" * 1_025, "name": "b"}), "$.job.namespace"),
        (run_event(inputs={}), "$.inputs"),
        (
            run_event(inputs=[FINE, {"name": "c"}]),
            "$.inputs[1].namespace",
        ),
        (run_event(outputs=[{"namespace": "a", "name": ""}]), "$.outputs[0].name"),
        (run_event(outputs=[{"namespace": "a", "name": "b", "facets": []}]), "$.outputs[0].facets"),
        (dataset_event(dataset={"namespace": "a"}), "$.dataset.name"),
        (job_event(job=None), "$"),
        ([run_event()], "$"),
        ("text", "$"),
        (None, "$"),
    ],
)
def test_an_invalid_event_is_rejected_with_its_path(event, path):
    """Name the field that the producer's owner has to fix."""
    rejection = _rejection(body(event))

    assert (rejection.status, rejection.path) == (400, path)
    assert rejection.detail.startswith(f"{path}: ")


def test_a_run_event_without_its_run_is_no_job_event():
    """Use the type that the producer declares, and not the fields that are left."""
    assert _rejection(body(run_event(run=None))).path == "$.run"


@pytest.mark.parametrize("offset", ["+18:01", "-18:01", "+23:59", "-23:59"])
def test_an_offset_that_spark_does_not_read_is_rejected(offset):
    """Reject it, as the pipeline would find no time and lose the run."""
    rejection = _rejection(body(run_event(eventTime=f"2026-11-21T09:00:00{offset}")))

    assert rejection.path == "$.eventTime"
    assert "an offset of at most 18 hours" in rejection.detail


@pytest.mark.parametrize("offset", ["+18:00", "-18:00"])
def test_the_largest_offset_is_accepted(offset):
    """Accept what Spark reads."""
    raw = body(run_event(eventTime=f"2026-11-21T09:00:00{offset}"))

    assert parse_event(raw, LIMITS).kind == "run"


def test_an_impossible_time_is_shown_with_the_accepted_years():
    """Show the value and the range to the producer's owner."""
    rejection = _rejection(body(run_event(eventTime="0001-01-01T00:00:00+01:00")))

    assert rejection.detail == (
        "$.eventTime: expected a time of the years 1970 to 2199, got '0001-01-01T00:00:00+01:00'"
    )


def test_the_message_shows_the_value_and_never_all_of_it():
    """Cut a value of a megabyte."""
    rejection = _rejection(body(run_event(run={"runId": "nightly-" + "4" * 1_000})))

    assert rejection.detail == f"$.run.runId: Invalid UUID, got '{'nightly-' + '4' * 72}'"


@pytest.mark.parametrize(
    ("raw", "reason", "path"),
    [
        (b"", "not_json", "$"),
        (b"nul", "not_json", "$"),
        (b"\xef\xbb\xbf" + body(run_event()), "not_json", "$"),
        (body(run_event()).decode().encode("utf-16"), "not_json", "$"),
        (body(run_event()) + b"x", "not_json", "$"),
        (body(run_event())[:-1], "not_json", "$.outputs"),
        (with_facet("NaN"), "not_json", "$.run.facets.x"),
        (with_facet("[1, -Infinity]"), "not_json", "$.run.facets.x[1]"),
        (with_facet('"\\ud800"'), "not_json", "$.run.facets.x"),
        (with_facet('"\\udc00\\ud800"'), "not_json", "$.run.facets.x"),
        (with_facet('"\ud800"'), "not_utf8", "$.run.facets.x"),
        (with_facet('"\x01"'), "not_json", "$.run.facets.x"),
        (with_facet('"@"').replace(b"@", b"\xff"), "not_utf8", "$.run.facets.x"),
        (with_facet("1e400"), "invalid_event", "$.run.facets.x"),
        (with_facet('["7", {"y": ' + "9" * 4_301 + "}]"), "invalid_event", "$.run.facets.x[1].y"),
        (with_facet("01"), "not_json", "$.run.facets.x"),
        (with_facet("'a'"), "not_json", "$.run.facets.x"),
        (with_facet('"' + "[" * 100 + '" x'), "not_json", "$.run.facets.x"),
    ],
)
def test_text_that_a_reader_cannot_read_is_rejected(raw, reason, path):
    """Reject at once what PostgreSQL, Spark or Python would fail to read later."""
    rejection = _rejection(raw)

    assert (rejection.status, rejection.reason, rejection.path) == (400, reason, path)


@pytest.mark.parametrize("value", ODD)
def test_unusual_but_valid_facets_are_accepted(value):
    """Leave facets to the pipeline, as a rejected event is lost to every reader."""
    raw = with_facet(value)

    assert parse_event(raw, LIMITS) == ValidEvent("run", raw, 0)


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [65, 900, 5_000, 100_000])
@pytest.mark.parametrize("closed", [True, False])
def test_nesting_is_rejected_however_deep_it_is(opening, depth, closed):
    """Bound the depth at every position, also of an incomplete text."""
    closing = "]" if opening == "[" else "}"
    raw = with_facet(opening * depth + "1" + closing * depth * closed)

    assert _rejection(raw).reason == "too_deep"


def test_nesting_up_to_the_bound_and_brackets_in_text_are_accepted():
    """Count four levels of the event itself, and no bracket in a string."""
    raw = with_facet("[" * 61 + '"' + "[{" * 500 + '\\"[\\\\"' + "]" * 61)

    assert parse_event(raw, LIMITS).kind == "run"


@pytest.mark.parametrize("innermost", ["{}", "[]", '{"a": 1}', '["a"]', '{"a": null, "b": "["}'])
@pytest.mark.parametrize("opening", ["[", '{"a":', '{"b": "]", "a":'])
def test_the_first_level_past_the_bound_is_rejected(opening, innermost):
    """Count the innermost container, whether or not it is empty."""
    closing = "]" if opening == "[" else "}"
    fits, does_not = (with_facet(opening * n + innermost + closing * n) for n in (60, 61))

    assert parse_event(fits, LIMITS).kind == "run"
    assert _rejection(does_not).detail == "$: nested deeper than 64"


def _depth(value: object) -> int:
    if not isinstance(value, dict | list):
        return 0
    return 1 + max(map(_depth, value.values() if isinstance(value, dict) else value), default=0)


_nested = st.recursive(
    st.none() | st.integers() | st.text('[]{}"\\', max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('[{"'), inner, max_size=3),
    max_leaves=20,
)


@given(value=_nested, bound=st.integers(1, 8))
def test_the_bound_is_exact_for_any_value(value, bound):
    """Agree with a recursive count, whatever brackets there are in texts and keys."""
    raw = msgspec.json.encode(value)

    if _depth(value) <= bound:
        assert json_text.decode_json(raw, bound) == value
    else:
        with pytest.raises(InvalidEventError, match="nested deeper than"):
            json_text.decode_json(raw, bound)


def test_the_depth_check_is_linear_for_a_string_without_an_end():
    """Check 1 MiB of escaped quotes at once; a quadratic check took an hour."""
    raw = b"[" * 10 + b"{" * 60 + b'"' + b'\\"' * 500_000

    assert _rejection(raw).reason == "too_deep"


@pytest.mark.parametrize(
    ("value", "repeats"),
    [
        ('{"a": 1, "b": 1}', 0),
        ('{"a":1,"a":1}', 1),
        ('{"a": 1, "a" : 2}', 1),
        ('{"a"\n:1,"a"\t:2,"a":3}', 2),
        ('{"a": {"b": 1}, "c": {"b": 1}}', 0),
        ('{"a": "\\":", "b": "\\u0022:"}', 0),
        ('{"a": "\\u0022:", "a": 2}', 1),
        ('{"a": 1, "\\u0061": 2}', 1),
        ("[" + '{"a":1,"a":2},' * 3 + "1]", 3),
        ('{"a" :' + "9" * 4_300 + "}", 0),
    ],
)
def test_repeated_keys_are_accepted_and_counted(value, repeats):
    """Count the keys of a real producer, with any spaces around the colons."""
    assert parse_event(with_facet(value), LIMITS).duplicate_keys == repeats


_text = st.text(st.characters(exclude_categories=()), max_size=40)


@given(name=_text, escaped=st.booleans())
def test_any_name_is_accepted_or_rejected_and_reads_back_equal(name, escaped):
    """Change no name silently, and fail at none (P5)."""
    event = run_event(job={"namespace": "shop", "name": name})
    raw = json.dumps(event, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    judged = _parse_or_error(raw)

    if isinstance(judged, ValidEvent):
        assert json.loads(judged.body)["job"]["name"] == name
        assert judged.duplicate_keys == 0
        return
    surrogate = any(0xD800 <= ord(character) <= 0xDFFF for character in name)
    assert surrogate or not name.strip() or "\0" in name
    assert judged.path == "$.job.name"


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_text, inner, max_size=4),
    max_leaves=12,
)


@given(facet=_json)
def test_any_json_as_a_facet_is_accepted_or_rejected(facet):
    """Return an event or an `InvalidEventError` for any facet."""
    raw = body(run_event(run={"runId": run_event()["run"]["runId"], "facets": {"x": facet}}))
    judged = _parse_or_error(raw)

    if isinstance(judged, ValidEvent):
        assert judged == ValidEvent("run", raw, 0)
    else:
        assert judged.path is not None


@given(st.binary(max_size=200), st.integers(0, 300))
def test_any_bytes_are_an_event_or_rejected(noise, at):
    """Raise no other exception for noise anywhere in an event."""
    raw = body(run_event())
    judged = _parse_or_error(raw[:at] + noise + raw[at:])

    assert isinstance(judged, ValidEvent) or judged.path is not None

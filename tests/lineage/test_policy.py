import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lineage import states
from lineage.policy import (
    DEFAULT,
    Decision,
    PolicyError,
    PolicyFile,
    load,
    owner_of_job,
    parse,
    resolve,
)
from lineage.policy.durations import seconds_of, written
from lineage.policy.resolution import suppressions_of

DOCUMENT = Path(__file__).parents[2] / "docs" / "policy.md"


@pytest.fixture(scope="module")
def documented():
    """The example that people copy."""
    return parse(DOCUMENT.read_text(encoding="utf-8").split("```")[1].removeprefix("yaml\n"))


def test_the_documented_example_decides_as_documented(documented):
    """A folder's owner and limit hold for the dataset whose own rule names only its tier."""
    assert resolve(documented, "s3://lake", "mart/revenue") == Decision(
        tier="critical",
        owner="shop",
        regulated=True,
        limit_seconds=26 * 3600,
        calendar="germany",
        rule="s3://lake/mart/revenue",
        is_declared=True,
    )
    assert resolve(documented, "postgres://h:5432", "shop.public.customers").pii
    assert resolve(documented, "kafka://h:9092", "orders").source
    assert resolve(documented, "grandmas.kitchen", "apples").owner == "platform"
    assert owner_of_job(documented, "shop", "daily") == "shop"
    assert owner_of_job(documented, "other", "daily") is None


def test_the_documented_example_says_all_the_rest(documented):
    """Objectives, aliases, windows and expected edges come out as they were written."""
    revenue = ("s3://lake", "mart/revenue")

    assert documented.declared() == (revenue,)
    assert documented.expected_edges() == ((("s3://lake", "core/orders"), revenue),)
    assert documented.overrules() == (
        (("hive://metastore:9083", "mart.revenue"), revenue),
        (("s3://lake", "tmp/copy"), ("s3://lake", "tmp/copy")),
    )
    assert documented.objective(states.COVERAGE, "critical") == Decimal("0.995")
    assert documented.objective(states.COVERAGE, "important") == Decimal("0.80")
    assert documented.objective(states.INGESTION_LAG, "all") == Decimal("0.99")
    (window,) = suppressions_of(documented, "s3://lake", "core/orders")
    assert window.from_ == datetime(2026, 11, 21, 7, tzinfo=UTC)
    assert suppressions_of(documented, *revenue) == []


def test_without_a_file_the_defaults_hold():
    """An empty file says no more than none."""
    assert parse("") == DEFAULT
    assert parse("").hash == DEFAULT.hash
    assert resolve(DEFAULT, "s3://b", "x") == Decision()


def test_every_field_is_documented():
    """A field that the reference leaves out is one that nobody finds."""
    text = DOCUMENT.read_text(encoding="utf-8")
    sections = msgspec.structs.fields(type(DEFAULT))
    fields = [field.encode_name for field in sections]
    fields += [f.encode_name for f in msgspec.structs.fields(type(parse(RULE).datasets[0]))]

    assert [field for field in fields if not re.search(rf"{field}(`|\[\])", text)] == []


RULE = "datasets: [{match: x}]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "owners:\n- name: a\n- name: b\n  slack: 5",
            "lineward.yaml:4: $.owners[1].slack: expected str, got int: '5'",
        ),
        (
            "owners:\n- name: a\n  slak: x",
            "lineward.yaml:3: $.owners[0].slak: unknown key 'slak'; did you mean 'slack'?",
        ),
        (
            "dataset: []",
            "lineward.yaml:1: $.dataset: unknown key 'dataset'; did you mean 'datasets'?",
        ),
        (
            "datasets:\n- match: {nam: x}",
            "lineward.yaml:2: $.datasets[0].match.nam: unknown key 'nam'; did you mean 'name'?",
        ),
        (
            "datasets:\n- match: x\n  tier: crit",
            (
                "lineward.yaml:3: $.datasets[0].tier: invalid enum value 'crit': 'crit'; "
                "one of critical, important, optional"
            ),
        ),
        (
            "datasets:\n\n- tier: critical",
            "lineward.yaml:3: $.datasets[0]: object missing required field match",
        ),
        (
            "datasets:\n- match: x\n  limit: 5 apples",
            (
                "lineward.yaml:2: $.datasets[0]: expected a duration such as "
                '"26h", "90m" or "2d 6h", got \'5 apples\''
            ),
        ),
        (
            "datasets:\n- match: x\n  limit: 0",
            "lineward.yaml:2: $.datasets[0]: 0 is not between one second and one year",
        ),
        (
            "datasets:\n- match: x\n\n  owner: nobody",
            (
                "lineward.yaml:4: $.datasets[0].owner: no owner is called 'nobody': "
                "add it under owners"
            ),
        ),
        (
            "owners: [{name: a}]\njobs:\n- {match: x, owner: b}",
            "lineward.yaml:3: $.jobs[0].owner: no owner is called 'b': add it under owners",
        ),
        (
            "owners:\n- name: a\n- name: a",
            "lineward.yaml:3: $.owners[1].name: 'a' is there already",
        ),
        (
            "datasets: [{match: x, calendar: c}]",
            (
                "lineward.yaml:1: $.datasets[0].calendar: no calendar is called 'c': "
                "add it under calendars"
            ),
        ),
        (
            "datasets: [{match: 'x*', expect_inputs: [y]}]",
            "lineward.yaml:1: $.datasets[0].match: expect_inputs needs a match without wildcards",
        ),
        (
            "datasets: [{match: x, expect_inputs: ['y*']}]",
            "lineward.yaml:1: $.datasets[0].expect_inputs[0]: names one dataset: no wildcards",
        ),
        (
            "aliases: [{name: 'x*', dataset: y}]",
            "lineward.yaml:1: $.aliases[0].name: names one dataset: no wildcards",
        ),
        (
            "suppressions:\n- {name: x, match: y, from: 2026-11-21T00:00:00Z}",
            "lineward.yaml:2: $.suppressions[0]: object missing required field until",
        ),
        (
            (
                "suppressions:\n- name: x\n  match: y\n  from: 2026-11-21T00:00:00\n"
                "  until: 2026-11-22T00:00:00Z"
            ),
            (
                "lineward.yaml:4: $.suppressions[0].from: "
                "expected datetime with a timezone component: '2026-11-21T00:00:00'"
            ),
        ),
        (
            (
                "suppressions:\n- {name: x, match: y, from: 2026-11-21T00:00:00Z, "
                "until: 2026-11-21T00:00:00Z}"
            ),
            (
                "lineward.yaml:2: $.suppressions[0]: until is not after from "
                "(2026-11-21T00:00:00+00:00)"
            ),
        ),
        (
            "objectives:\n  coverage:\n    critical: 1.5",
            "lineward.yaml:3: $.objectives.coverage.critical: 1.5 is no ratio above 0 and up to 1",
        ),
        (
            "objectives: {cover: {critical: 0.5}}",
            "lineward.yaml:1: $.objectives.cover: unknown key 'cover'; did you mean 'coverage'?",
        ),
        (
            "time_zone: Mars/Olympus",
            "lineward.yaml:1: $.time_zone: 'Mars/Olympus' is no time zone such as Europe/Berlin",
        ),
        ("retention_days: 0", "lineward.yaml:1: $.retention_days: expected int >= 1: '0'"),
        ("[1]", "lineward.yaml:1: $: expected object, got array"),
        ("owners: []\nowners: []", "lineward.yaml:2: $: 'owners' twice"),
        ("a: [", "lineward.yaml:1: $: expected the node content, but found '<stream end>'"),
    ],
)
def test_a_wrong_file_is_refused_with_line_and_path(text, message):
    """Whoever wrote it can go to the line and knows what to write there."""
    with pytest.raises(PolicyError) as refusal:
        parse(text)

    assert str(refusal.value) == message


def test_a_tag_of_python_is_refused():
    """The file is data: it makes no objects and runs nothing."""
    with pytest.raises(PolicyError, match="constructor"):
        parse("owners: !!python/object/apply:os.getcwd []")


_NESTED = st.recursive(st.none() | st.integers() | st.text(), st.lists)


@given(st.text(max_size=60) | _NESTED.map(yaml.safe_dump))
def test_whatever_the_file_holds_it_is_taken_or_refused(text):
    """No text may end the process that reads it."""
    refusal = ""
    try:
        parse(text)
    except PolicyError as error:
        refusal = str(error)

    assert refusal == "" or refusal.startswith("lineward.yaml:")


def test_of_two_equally_specific_rules_the_later_wins():
    """Whoever adds a line at the end expects it to count."""
    policy = parse(
        "datasets: [{match: 'a/x*', tier: critical}, {match: 'a/*x', tier: optional},"
        " {match: 'a/*', tier: important}]"
    )

    assert resolve(policy, "a", "x").tier == "optional"
    assert resolve(policy, "a", "xy").tier == "critical"
    assert resolve(policy, "a", "y").tier == "important"


def test_a_pattern_is_matched_in_the_spelling_that_names_are_folded_to():
    """People write the scheme that their jobs use."""
    policy = parse("datasets: [{match: 's3a://b/x/', pii: true}, {match: 's3n://c/*', pii: true}]")

    assert resolve(policy, "s3://b", "x").pii
    assert resolve(policy, "s3://c", "y").pii
    assert policy.declared() == (("s3://b", "x"),)


def test_a_specific_no_overrules_a_general_yes():
    """A source pattern over a whole bucket may have an exception."""
    policy = parse(
        "sources: ['s3://landing/*']\ndatasets: [{match: s3://landing/made, source: false}]"
    )

    assert resolve(policy, "s3://landing", "x").source
    assert not resolve(policy, "s3://landing", "made").source


def test_what_is_no_wildcard_stands_for_itself():
    """A dot in a name is no regular expression."""
    policy = parse("datasets: [{match: 'a/b.c', pii: true}, {match: 'a/?', tier: critical}]")

    assert resolve(policy, "a", "b.c").pii
    assert not resolve(policy, "a", "bxc").pii
    assert resolve(policy, "a", "z").tier == "critical"
    assert resolve(policy, "a", "zz").tier is None


def test_a_namespace_pattern_never_reaches_into_the_name():
    """Parts given apart are matched apart."""
    policy = parse("datasets: [{match: {namespace: 'a*', name: 'b'}, pii: true}]")

    assert resolve(policy, "ax", "b").pii
    assert not resolve(policy, "ax", "y/b").pii


def test_the_hash_tells_versions_apart_and_layouts_not():
    """An evaluation records by which policy it judged."""
    assert parse("retention_days: 7").hash == parse("# note\nretention_days:  7\n").hash
    assert parse("retention_days: 7").hash != parse("retention_days: 8").hash


def test_a_wrong_file_never_replaces_the_good_one(tmp_path):
    """The old policy stays in force, the error can be shown, and a mended file is taken."""
    path = tmp_path / "lineward.yaml"
    path.write_text("retention_days: 7")
    file = PolicyFile(path)

    path.write_text("retention_days: never")
    assert (file.current().retention_days, file.error) == (
        7,
        "lineward.yaml:1: $.retention_days: expected int, got str: 'never'",
    )
    path.write_text("retention_days: 30")
    assert (file.current().retention_days, file.error) == (30, None)
    path.unlink()
    assert file.current().retention_days == 30
    assert "cannot be read" in file.error


def test_a_wrong_file_at_the_start_is_refused(tmp_path):
    """There is no older one to keep: better no start than the wrong alerts."""
    path = tmp_path / "lineward.yaml"
    path.write_text("tiers: {}")

    with pytest.raises(PolicyError, match=r"lineward.yaml:1: \$.tiers: unknown key"):
        PolicyFile(path)
    with pytest.raises(PolicyError, match="cannot be read"):
        load(tmp_path / "absent.yaml")
    assert PolicyFile(None).current() is DEFAULT


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("26h", 93_600), ("90m", 5_400), ("2d 6h", 194_400), ("1w", 604_800), (5, 5)],
)
def test_durations_are_read_as_people_write_them(text, seconds):
    """A unit stands behind each number; a bare number is seconds."""
    assert seconds_of(text) == seconds


@given(st.integers(1, 366 * 86_400))
def test_a_duration_is_written_as_it_is_read(seconds):
    """What the draft of a policy says is what the policy takes."""
    assert seconds_of(written(seconds)) == seconds

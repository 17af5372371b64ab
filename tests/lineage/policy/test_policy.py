import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest

from lineage import states
from lineage.policy import (
    DEFAULT,
    PolicyDecision,
    decide_policy,
    owner_of_job,
    parse_policy,
)
from lineage.policy.resolution import suppressions_of
from lineage.policy.values import seconds_of

DOCUMENT = Path(__file__).parents[3] / "docs" / "policy.md"


@pytest.fixture(scope="module")
def documented():
    """Return the example that people copy."""
    return parse_policy(DOCUMENT.read_text(encoding="utf-8").split("```")[1].removeprefix("yaml\n"))


def test_the_documented_example_decides_as_documented(documented):
    """Apply owner and limit of a folder to a dataset whose own rule names only its tier."""
    assert decide_policy(documented, "s3://lake", "mart/revenue") == PolicyDecision(
        tier="critical",
        owner="shop",
        regulated=True,
        limit_seconds=26 * 3600,
        calendar="germany",
        rule="s3://lake/mart/revenue",
        is_declared=True,
    )
    assert decide_policy(documented, "postgres://h:5432", "shop.public.customers").pii
    assert decide_policy(documented, "kafka://h:9092", "orders").source
    assert decide_policy(documented, "grandmas.kitchen", "apples").owner == "platform"
    assert owner_of_job(documented, "shop", "daily") == "shop"
    assert owner_of_job(documented, "other", "daily") is None


def test_the_documented_example_sets_all_other_fields(documented):
    """Return objectives, aliases, windows and expected edges as written."""
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
    """Treat `{}` like a missing file."""
    assert parse_policy("{}") == DEFAULT
    assert parse_policy("{}").hash == DEFAULT.hash
    assert decide_policy(DEFAULT, "s3://b", "x") == PolicyDecision()


def test_every_field_is_documented():
    """Find each field in the reference."""
    text = DOCUMENT.read_text(encoding="utf-8")
    sections = msgspec.structs.fields(type(DEFAULT))
    fields = [field.encode_name for field in sections]
    fields += [f.encode_name for f in msgspec.structs.fields(type(parse_policy(RULE).datasets[0]))]

    assert [field for field in fields if not re.search(rf"{field}(`|\[\])", text)] == []


RULE = "datasets: [{match: x}]"


def test_the_later_of_two_equally_specific_rules_wins():
    """Count a line that is added at the end."""
    policy = parse_policy(
        "datasets: [{match: 'a/x*', tier: critical}, {match: 'a/*x', tier: optional},"
        " {match: 'a/*', tier: important}]"
    )

    assert decide_policy(policy, "a", "x").tier == "optional"
    assert decide_policy(policy, "a", "xy").tier == "critical"
    assert decide_policy(policy, "a", "y").tier == "important"


def test_a_pattern_is_matched_in_the_spelling_that_names_are_folded_to():
    """Accept the scheme that people's jobs use."""
    policy = parse_policy(
        "datasets: [{match: 's3a://b/x/', pii: true}, {match: 's3n://c/*', pii: true}]"
    )

    assert decide_policy(policy, "s3://b", "x").pii
    assert decide_policy(policy, "s3://c", "y").pii
    assert policy.declared() == (("s3://b", "x"),)


def test_a_specific_no_overrules_a_general_yes():
    """Allow for exceptions from a source pattern over a whole bucket."""
    policy = parse_policy(
        "sources: ['s3://landing/*']\ndatasets: [{match: s3://landing/made, source: false}]"
    )

    assert decide_policy(policy, "s3://landing", "x").source
    assert not decide_policy(policy, "s3://landing", "made").source


def test_characters_other_than_wildcards_match_literally():
    """Match a dot literally."""
    policy = parse_policy("datasets: [{match: 'a/b.c', pii: true}, {match: 'a/?', tier: critical}]")

    assert decide_policy(policy, "a", "b.c").pii
    assert not decide_policy(policy, "a", "bxc").pii
    assert decide_policy(policy, "a", "z").tier == "critical"
    assert decide_policy(policy, "a", "zz").tier is None


def test_a_namespace_pattern_never_reaches_into_the_name():
    """Match the parts separately."""
    policy = parse_policy("datasets: [{match: {namespace: 'a*', name: 'b'}, pii: true}]")

    assert decide_policy(policy, "ax", "b").pii
    assert not decide_policy(policy, "ax", "y/b").pii


def test_the_hash_depends_on_the_content_and_not_on_the_layout():
    """Identify the policy of an evaluation by its content."""
    assert (
        parse_policy("retention_days: 7").hash == parse_policy("# note\nretention_days:  7\n").hash
    )
    assert parse_policy("retention_days: 7").hash != parse_policy("retention_days: 8").hash


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("26h", 93_600), ("90m", 5_400), ("2d 6h", 194_400), ("1w", 604_800), (5, 5)],
)
def test_durations_are_read_as_people_write_them(text, seconds):
    """Require a unit behind each number; a bare number is seconds."""
    assert seconds_of(text) == seconds

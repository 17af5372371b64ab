"""Claims that have no effect, as `lineward lint` lists them."""

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from lineage.policy import parse_policy
from lineage.process.clock import to_micros
from service.cli.commands.lint import policy_lines
from slis.evaluation.policy_names import renew_names
from tests.service.lint_catalog import NOW, add, run_lint

pytestmark = pytest.mark.postgres_nightly

_MINE, _EVIL = ("s3://lake", "mart/revenue"), ("s3://evil", "b")


def _insert(catalog, table, **row):  # noqa: ANN003
    with write_transaction(catalog) as connection:
        connection.execute(insert(table), row)


def _claim(catalog, rule, by, dataset):
    at = to_micros(NOW)
    times = dict.fromkeys(("first_seen_at", "last_seen_at", "landed_at", "last_landed_at"), at)
    claimed = {"alias_key": key(*_MINE), "namespace": _MINE[0], "name": _MINE[1]}
    fields = {"dataset_key": key(*dataset), "rule": rule, "job_namespace": by, "is_refused": True}
    _insert(catalog, tables.dataset_claim, **claimed, **fields, **times)


def _policy(catalog, tier, origin, **row):  # noqa: ANN003
    flags = dict.fromkeys(("is_source", "is_generated", "is_streaming"), False)
    fields = {"tier": tier, "tier_origin": origin, "is_declared": False, **flags, **row}
    _insert(catalog, tables.dataset_policy, dataset_key=key(*_MINE), **fields)


@pytest.mark.postgres_always
def test_each_claim_without_effect_is_listed_with_its_sender(catalog):
    add(catalog, *_MINE)
    add(catalog, *_EVIL)
    _claim(catalog, "symlink", "evil", _EVIL)
    _claim(catalog, "rename", "", _EVIL)
    _claim(catalog, "drop", "cleanup", _MINE)

    found = run_lint(catalog).findings

    end = "last at 2026-11-21T12:00Z; rejected"
    assert [(one.kind, one.evidence) for one in found] == [
        ("claim", f"job namespace cleanup reports that it was dropped, {end}"),
        ("claim", f"an event without a run reports that it was renamed to s3://evil/b, {end}"),
        ("claim", f"job namespace evil reports that it is another name of s3://evil/b, {end}"),
    ]


def test_the_suggested_line_keeps_names_apart_and_answers_the_claim(catalog):
    """Accept no claim by copying all lines at once."""
    add(catalog, *_MINE)
    add(catalog, *_EVIL)
    _claim(catalog, "symlink", "evil", _EVIL)

    renew_names(catalog, parse_policy("\n".join(policy_lines(run_lint(catalog).findings))), NOW)

    assert run_lint(catalog).findings == []
    with catalog.connect() as connection:
        keys = connection.execute(tables.dataset.select()).mappings().all()
    assert {row["name"]: row["canonical_key"] for row in keys} == {
        "mart/revenue": key(*_MINE),
        "b": key(*_EVIL),
    }


def test_a_tag_for_a_higher_tier_is_listed_with_a_line_for_the_policy(catalog):
    add(catalog, *_MINE)
    _policy(catalog, "optional", "default")
    row = {"dataset_key": key(*_MINE), "tag": "Tier", "value": "CRITICAL", "last_seen_at": 1}
    _insert(catalog, tables.tag, **row)

    found = run_lint(catalog).findings

    assert [one.kind for one in found] == ["tier_tag"]
    assert policy_lines(found)[1:] == [
        "# add the correct lines to the policy:",
        "datasets:",
        '  - {match: "s3://lake/mart/revenue", tier: critical}',
    ]


def test_an_owner_by_a_facet_of_a_declared_dataset_is_listed(catalog):
    add(catalog, *_MINE)
    _policy(catalog, "critical", "declared", is_declared=True, owner="shop")
    for owner in ("0evil", "shop"):
        row = {"subject": "dataset", "subject_key": key(*_MINE), "owner": owner}
        _insert(catalog, tables.ownership, **row, last_seen_at=1)

    [found] = run_lint(catalog).findings

    assert (found.kind, found.dataset) == ("owner_facet", "mart/revenue")
    assert found.evidence == "an ownership facet names '0evil'; the owner in force: shop"


@pytest.mark.postgres_always
def test_an_owner_claimed_by_other_jobs_only_is_listed(catalog):
    """Leave the dataset without this owner, although the policy has none."""
    add(catalog, *_MINE)
    _policy(catalog, "optional", "default", owner=None)
    at = {"landed_at": 1, "dataset_key": key(*_MINE)}
    _insert(catalog, tables.dataset_producer, job_namespace="shop", **at)
    for owner, by in (("mallory", "evil"), ("team-b", "shop"), ("team-c", "")):
        row = {"subject": "dataset", "subject_key": key(*_MINE), "owner": owner}
        _insert(catalog, tables.ownership, **row, last_seen_at=1)
        fields = {"kind": "owner", "value": owner, "job_namespace": by, "last_landed_at": 1}
        _insert(catalog, tables.attribute_claim, dataset_key=key(*_MINE), **fields)

    [found] = run_lint(catalog).findings

    assert found.evidence == "an ownership facet names 'mallory'; the owner in force: none"

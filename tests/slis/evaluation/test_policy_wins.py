"""Policy rules that hold for a dataset under any name, and before all facets."""

import pytest

from lineage.policy import Policy, parse_policy
from slis.evaluation.dataset_owners import Owners
from slis.evaluation.dataset_policies import CatalogFacts, resolve_policies

NOBODY = Owners({}, {}, {})
_REVENUE, _EVIL = ("s3://lake", "mart/revenue"), ("s3://evil", "b")
_HIVE = ("hive://ms:9083", "mart.revenue")
_POLICY = parse_policy("""
owners: [{name: shop}, {name: platform}]
datasets:
  - {match: "*", owner: platform}
  - {match: "s3://lake/mart/*", tier: important, owner: shop, limit: 26h}
  - {match: s3://lake/mart/revenue, tier: critical}
  - {match: "hive://ms:9083/mart.*", tier: important, owner: shop}
""")


def _row(names, *, tags=None, owners=None, policy=_POLICY, others=None):
    described = CatalogFacts(
        names=dict(enumerate(names)),
        edges=[],
        tier_tags=tags or {},
        owners=Owners(owners or {}, {}, {}),
        other_names=others or {},
    )
    return resolve_policies(policy, described).rows[0]


def _decision(row):
    return row["tier"], row["owner"], row["declared_limit_seconds"], row["is_declared"]


@pytest.mark.parametrize(
    ("called", "other"), [(_REVENUE, _EVIL), (_EVIL, _REVENUE), (_HIVE, _REVENUE)]
)
def test_the_rule_for_one_dataset_applies_under_every_name(called, other):
    row = _row([called], others={0: [other]})

    assert _decision(row) == ("critical", "shop", 26 * 3600, True)


@pytest.mark.parametrize("called", [("s3://wh", "t"), ("s3://a", "0"), ("file", "/wh/t")])
def test_a_pattern_for_the_metastores_name_applies_to_the_path(called):
    row = _row([called], others={0: [_HIVE]})

    assert (row["tier"], row["owner"], row["tier_origin"]) == ("important", "shop", "declared")


@pytest.mark.parametrize(("one", "other"), [("optional", "critical"), ("critical", "optional")])
def test_the_stricter_tier_of_two_rules_applies(one, other):
    policy = parse_policy(f"""
datasets:
  - {{match: s3://a/t, tier: {one}}}
  - {{match: s3://b/t, tier: {other}}}
""")
    row = _row([("s3://a", "t")], others={0: [("s3://b", "t")]}, policy=policy)

    assert row["tier"] == "critical"


@pytest.mark.parametrize("tag", ["critical", "important"])
@pytest.mark.parametrize("name", [("s3://x", "t"), ("s3://x", "bomb/1"), ("kafka://h:9092", "t")])
def test_a_tag_raises_no_tier(name, tag):
    row = _row([name], tags={0: tag})

    assert (row["tier"], row["tier_origin"]) == ("optional", "default")


@pytest.mark.parametrize(
    ("name", "tag", "expected"),
    [
        (("s3://x", "t"), "important", ("important", "tag")),
        (("s3://x", "t"), "optional", ("optional", "tag")),
        (("s3://x", "t"), "critical", ("critical", "inherited")),
        (("s3://lake", "mart/x"), "optional", ("important", "declared")),
        (_REVENUE, "optional", ("critical", "declared")),
    ],
)
def test_a_tag_lowers_an_inherited_tier_of_its_own_dataset_alone(name, tag, expected):
    """Inherit tiers downstream as without the tag."""
    names = [name, ("s3://top", "t"), ("s3://raw", "t")]
    top = parse_policy("datasets: [{match: s3://top/t, tier: critical}]").datasets
    policy = Policy(owners=_POLICY.owners, datasets=_POLICY.datasets + top)
    described = CatalogFacts(dict(enumerate(names)), [(0, 1, 1, 3), (2, 0, 2, 3)], {0: tag}, NOBODY)

    own, _, raw = resolve_policies(policy, described).rows

    assert (own["tier"], own["tier_origin"]) == expected
    if own["tier_origin"] != "declared":
        assert (raw["tier"], raw["tier_origin"]) == ("critical", "inherited")


@pytest.mark.parametrize("owner", ["0evil", "aaa", "shop"])
def test_a_facet_owns_no_declared_dataset(owner):
    policy = parse_policy("datasets: [{match: s3://lake/mart/revenue, tier: critical}]")

    declared = _row([_REVENUE], owners={0: owner}, policy=policy)
    other = _row([_EVIL], owners={0: owner}, policy=policy)

    assert (declared["owner"], declared["owner_origin"]) == (None, None)
    assert (other["owner"], other["owner_origin"]) == (owner, "facet")


def test_the_rule_for_a_job_owns_no_declared_dataset():
    """Ignore an event of any sender by which a job of another team wrote the dataset."""
    policy = parse_policy("datasets: [{match: s3://lake/mart/revenue, tier: critical}]")
    owners = Owners({}, {0: "finance"}, {})

    def row(name):
        return resolve_policies(policy, CatalogFacts({0: name}, [], {}, owners)).rows[0]

    assert (row(_REVENUE)["owner"], row(_REVENUE)["owner_origin"]) == (None, None)
    assert (row(_EVIL)["owner"], row(_EVIL)["owner_origin"]) == ("finance", "policy")


_MAINTENANCE = """
owners: [{name: shop}, {name: mallory}]
datasets:
  - {match: s3://lake/mart/revenue}
  - {match: "s3://maint/*", owner: mallory, tier: critical, limit: 300d, generated: true,
      streaming: true, regulated: true}
  - {match: "hive://*", tier: important, owner: mallory}
sources: ["kafka://*"]
"""
_GIVEN = [("s3://maint", "x"), ("kafka://k", "t"), _HIVE]


@pytest.mark.parametrize("given", _GIVEN)
@pytest.mark.parametrize("is_canonical", [True, False])
def test_a_name_by_events_changes_no_declared_dataset(given, is_canonical):
    """Ignore the name, whichever of its names the dataset is called by."""
    policy = parse_policy(_MAINTENANCE)
    called, other = (given, _REVENUE) if is_canonical else (_REVENUE, given)

    row = _row([called], others={0: [other]}, policy=policy)

    own = _row([called], policy=parse_policy("datasets: [{match: s3://lake/mart/revenue}]"))
    alone = _row([_REVENUE], policy=policy)
    assert row == {**alone, "dataset_key": own["dataset_key"]}


@pytest.mark.parametrize("given", _GIVEN)
@pytest.mark.parametrize(
    "line",
    [
        "aliases: [{name: %s, dataset: s3://lake/mart/revenue}]",
        "aliases: [{name: s3://lake/mart/revenue, dataset: %s}]",
        "aliases: [{name: %s, dataset: s3://y/y}, {name: s3://y/y, dataset: s3://lake/mart/revenue}]",
    ],
)
def test_a_name_that_the_policy_joins_decides_too(given, line):
    name = f"{given[0]}/{given[1]}"
    policy = parse_policy(_MAINTENANCE + line % name)

    row = _row([_REVENUE], others={0: [("s3://maint", "by_event"), given]}, policy=policy)

    alone = _row([given], policy=policy)
    decided = ("owner", "is_source", "is_generated", "is_streaming", "declared_limit_seconds")
    assert [row[field] for field in decided] == [alone[field] for field in decided]


@pytest.mark.parametrize("called", [("s3://wh", "t"), ("s3://a", "0"), ("file", "/wh/t")])
def test_a_declaration_of_the_metastores_name_applies_to_the_path(called):
    """Let it win over a pattern for the path."""
    policy = parse_policy("""
datasets:
  - {match: hive://ms:9083/mart.revenue, tier: critical}
  - {match: "*", tier: optional, generated: true}
  - {match: "s3://*", tier: optional, streaming: true}
""")
    row = _row([called], others={0: [_HIVE]}, policy=policy)

    assert (row["tier"], row["is_declared"], row["is_streaming"]) == ("critical", True, False)

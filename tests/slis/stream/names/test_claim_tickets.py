"""Claims without effect: which become a ticket, and the text of the ticket."""

from datetime import timedelta

import pytest

from lineage.policy import DEFAULT, parse_policy
from slis.evaluation import dataset_policies
from slis.evaluation.evaluation import evaluate
from slis.evaluation.input import EvaluationInput, range_of_evaluation
from slis.evaluation.policy_names import renew_names
from slis.indicators.quality.evaluate import defects_found
from tests.slis.stream.names.claim_events import (
    DROP,
    event,
    mine,
    owner_facet,
    rename_from,
    symlink,
    tier_tag,
    without_run,
)
from tests.slis.stream.spools import rows

_HAS = "reports that the dataset has the"
_NO_RUN = "an event without a run reports that the dataset"


@pytest.mark.postgres_nightly("others of this file execute its SQL")
def test_a_claim_is_one_ticket_of_a_declared_dataset_and_none_of_optional_ones(
    spark, lander, catalog, at
):
    """Open one ticket, however often and by how many jobs the fact is claimed."""
    policy = parse_policy("datasets: [{match: s3://lake/mart/revenue, tier: critical}]")
    renew_names(catalog, policy, at(7))
    revenue, optional = mine("revenue"), [("s3://lake", f"x{n}") for n in range(3)]
    lander.land(*(event(at(8), "shop", *name) for name in (revenue, *optional)))
    facets = [symlink(*revenue), rename_from(*revenue)]
    lander.land(
        *(event(at(9, n), "evil", "s3://evil", "b", facets[n % 2]) for n in range(4)),
        *(
            event(at(9), "evil", "s3://evil", f"y{name}", symlink(*(at_, name)))
            for at_, name in optional
        ),
    )

    evaluate(spark, catalog, policy, at(12, 1))

    rejected = "SELECT count(*) FROM dataset_claim WHERE is_refused AND name LIKE 'x%'"
    assert rows(catalog, rejected) == [(3,)]
    states = """
        SELECT d.name, s.reason, s.evidence FROM dataset_state s
        JOIN dataset d ON d.dataset_key = s.dataset_key WHERE s.sli = 'facts'
    """
    [(dataset, reason, evidence)] = rows(catalog, states)
    assert (dataset, reason) == ("mart/revenue", "foreign_claim")
    claim = "job namespace evil reports that the dataset"
    assert f"{claim} is another name of s3://evil b, last " in evidence
    assert f"{claim} was renamed to s3://evil b, last " in evidence
    assert evidence.endswith("; the claim has no effect")


def _policy(cases):
    """Declare the datasets of these cases by name, with the owner `shop` unless it is unowned."""
    lines = [
        f"{{match: 's3://lake/mart/{case}', tier: important{owner}}}"
        for case in cases
        for prefix, owner in (("owned_", ", owner: shop"), ("unowned_", ""))
        if case.startswith(prefix)
    ]
    owners = "[{name: shop, slack: '#shop'}, {name: mallory, slack: '#m'}]"
    return parse_policy(f"owners: {owners}\ndatasets: [{', '.join(lines)}]")


def _tickets(spark, catalog, policy, as_of):
    """Return the evidence of each dataset whose content an evaluation finds wrong."""
    renew_names(catalog, policy, as_of)
    dataset_policies.renew_policies(catalog, policy)
    with catalog.connect() as connection:
        at = range_of_evaluation(connection, as_of)
    instants = EvaluationInput(spark, catalog, at, policy).instants
    found = [
        row
        for table in defects_found(spark, catalog, policy, at, instants)
        for row in table.to_pylist()
    ]
    names = dict(rows(catalog, "SELECT dataset_key, name FROM dataset"))
    evidence = {names[row["dataset_key"]].removeprefix("mart/"): row["evidence"] for row in found}
    assert len(evidence) == len(found)
    assert {row["reason"] for row in found} <= {"foreign_claim"}
    return evidence


def _end(text):
    """Return evidence without the instant at which the test ran."""
    return text.split(", last ")[0]


def _reads(at, by, case, *facets):  # noqa: ANN002
    return [
        event(at + timedelta(minutes=minute), by, *mine(case), each, side="inputs")
        for minute, each in enumerate(facets)
    ]


def _claims(at):
    """Return the claims of each case, which names its dataset; all land in one batch."""

    def writes(case, by, facets, job="job"):
        return event(at, by, *mine(case), facets, job=job)

    agreeing = tier_tag("important"), tier_tag("silver"), owner_facet("shop")
    both = {**tier_tag("critical"), **owner_facet("mallory")}
    free = {"owned_free_hive": ("hive://m", "db.r"), "owned_free_s3": ("s3://maint", "z")}
    free["owned_free_trino"] = ("trino://t", "r")
    return {
        "owned_tier_by_other": [writes("owned_tier_by_other", "evil", tier_tag("critical"), "etl")],
        "owned_tier_by_own": [writes("owned_tier_by_own", "shop", tier_tag("optional"), "etl")],
        "owned_owner": _reads(at, "evil", "owned_owner", owner_facet("mallory")),
        "unowned_owner": _reads(at, "evil", "unowned_owner", owner_facet("mallory")),
        "owned_name_by_reader": _reads(
            at, "evil", "owned_name_by_reader", symlink("s3://maint", "x")
        ),
        "owned_name": [without_run(at, *mine("owned_name"), symlink("kafka://k", "t"))],
        "owned_drop": [without_run(at, *mine("owned_drop"), DROP)],
        "owned_drop_by_job": [without_run(at, *mine("owned_drop_by_job"), DROP, by="evil")],
        # Claims that agree, and claims that a writer may make.
        "owned_agrees": _reads(at, "evil", "owned_agrees", *agreeing),
        # Readers repeat the technical owner that their metastore has.
        "owned_by_hive": [
            *_reads(at, "shop", "owned_by_hive", owner_facet("hive")),
            *_reads(at, "evil", "owned_by_hive", owner_facet("hive")),
        ],
        "unowned_own": _reads(at, "shop", "unowned_own", owner_facet("mallory")),
        # The lint lists these.
        "optional": _reads(at, "evil", "optional", both),
        # Readers repeat a free name that a writer gave.
        **{
            case: [writes(case, "shop", symlink(*name)), *_reads(at, "bi", case, symlink(*name))]
            for case, name in free.items()
        },
    }


@pytest.mark.postgres_nightly
def test_each_claim_that_contradicts_the_policy_is_a_ticket(spark, lander, catalog, at):
    """Reject any sender and either direction; what agrees is no ticket, nor what a writer says."""
    claims = _claims(at(9))
    policy = _policy(claims)
    renew_names(catalog, policy, at(7))
    lander.land(
        *(event(at(8), "shop", *mine(case)) for case in claims),
        *(one for case in claims.values() for one in case),
    )

    found = _tickets(spark, catalog, policy, at(12, 1))

    claim = "job job of job namespace evil"
    assert {case: _end(text) for case, text in found.items()} == {
        "owned_tier_by_other": (
            f"job etl of job namespace evil {_HAS} tier critical and not important"
        ),
        "owned_tier_by_own": (
            f"job etl of job namespace shop {_HAS} tier optional and not important"
        ),
        "owned_owner": f"{claim} {_HAS} owner mallory and not shop",
        "unowned_owner": f"{claim} {_HAS} owner mallory and not nobody",
        "owned_name_by_reader": (
            "job namespace evil reports that the dataset is another name of s3://maint x"
        ),
        "owned_name": f"{_NO_RUN} is another name of kafka://k t",
        "owned_drop": f"{_NO_RUN} was dropped",
        "owned_drop_by_job": f"{_NO_RUN} was dropped",
    }
    assert all(text.endswith("; the claim has no effect") for text in found.values())


@pytest.mark.postgres_nightly
def test_tier_and_owner_are_one_ticket_until_the_policy_settles_them_or_seven_days_pass(
    spark, lander, catalog, at
):
    """End seven days after the last claim."""
    case = "owned_both"
    claim = {**tier_tag("critical"), **owner_facet("mallory")}
    policy = _policy([case])
    renew_names(catalog, policy, at(7))
    lander.land(event(at(8), "shop", *mine(case)), *_reads(at(9), "evil", case, claim))
    settled = parse_policy(
        """
        owners: [{name: mallory, slack: "#m"}]
        datasets: [{match: s3://lake/mart/owned_both, tier: critical, owner: mallory}]
        """
    )

    [claim] = _tickets(spark, catalog, policy, at(12, 1)).values()

    assert "has the owner mallory and not shop" in claim
    assert "has the tier critical and not important" in claim
    assert _tickets(spark, catalog, policy, at(12, 1) + timedelta(days=8)) == {}
    assert _tickets(spark, catalog, settled, at(12, 1)) == {}
    assert [*_tickets(spark, catalog, policy, at(12, 1))] == [case]


def test_only_a_writer_names_the_owner_of_an_undeclared_dataset(spark, lander, catalog, at):
    """Ignore other jobs, although `aaa` would come first; accept an event without a run."""
    claim = {
        "own": _reads(at(9), "shop", "own", owner_facet("aaa")),
        "other": _reads(at(9), "evil", "other", owner_facet("aaa")),
        "no_run": [without_run(at(9), *mine("no_run"), owner_facet("aaa"))],
    }
    lander.land(
        *(event(at(8), "shop", *mine(case)) for case in claim),
        *(event(at(8, 30), "shop", *mine(case), owner_facet("team-b")) for case in claim),
        *(one for events in claim.values() for one in events),
    )

    assert _tickets(spark, catalog, DEFAULT, at(12, 1)) == {}
    owners = """
        SELECT d.name, p.owner, p.owner_origin FROM dataset_policy p
        JOIN dataset d ON d.dataset_key = p.dataset_key ORDER BY 1
    """
    assert rows(catalog, owners) == [
        ("mart/no_run", "aaa", "facet"),
        ("mart/other", "team-b", "facet"),
        ("mart/own", "aaa", "facet"),
    ]

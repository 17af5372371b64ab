"""Successive claims: which names are one dataset, and which are dropped."""

import pytest

from lineage.policy import DEFAULT, parse_policy
from slis.evaluation.evaluation import evaluate
from slis.evaluation.policy_names import renew_names
from slis.evaluation.retirement import retire_unused
from tests.slis.stream.names.claim_events import (
    DROP,
    REJECTED,
    RETIRED,
    event,
    mine,
    rename_from,
    symlink,
    without_run,
)
from tests.slis.stream.spools import CANONICAL, rows


def _policy_for(cases):
    names = (f"{{match: 's3://lake/mart/{case}', tier: critical}}" for case in cases)
    return parse_policy(f"datasets: [{', '.join(names)}]")


_MINE = mine("revenue")
_DECLARED = _policy_for(["revenue"])


def test_two_claims_through_a_free_name_join_no_two_datasets(lander, catalog, at):
    """Keep two datasets apart that a third name of both would join."""
    free = symlink("hive://ms:9083", "mart.revenue")
    lander.land(event(at(8), "shop", *_MINE, free))
    lander.land(event(at(7), "evil", "s3://evil", "b", free))

    assert rows(catalog, CANONICAL) == [("b", "b"), ("mart/revenue", "mart/revenue")]
    held = "SELECT d.name FROM dataset_alias a JOIN dataset d ON d.dataset_key = a.dataset_key"
    assert rows(catalog, held) == [("mart/revenue",)]


@pytest.mark.postgres_nightly
def test_both_writers_together_may_join_their_names(lander, catalog, at):
    """Join the table's name, which Trino writes, and the path, which Spark writes.

    Each reports the other as a symlink.
    """
    lander.land(
        event(at(8), "spark", "s3://wh", "t", symlink("trino://host", "db.t")),
        event(at(9), "trino", "trino://host", "db.t", symlink("s3://wh", "t")),
    )
    assert rows(catalog, CANONICAL) == [("db.t", "db.t"), ("t", "t")]

    lander.land(
        event(at(10), "trino", "s3://wh", "t", symlink("trino://host", "db.t"), side="inputs")
    )
    assert rows(catalog, CANONICAL) in (
        [("db.t", "t"), ("t", "t")],
        [("db.t", "db.t"), ("t", "db.t")],
    )


@pytest.mark.postgres_nightly
def test_an_unwritten_metastore_name_is_another_name_of_the_path(lander, catalog, at):
    """Join Spark's table name in the metastore, by which others read the table."""
    lander.land(event(at(7), "trino", "hive://ms:9083", "db.t", side="inputs"))
    lander.land(event(at(8), "spark", "s3://wh", "t", symlink("hive://ms:9083", "db.t")))

    assert rows(catalog, CANONICAL) == [("db.t", "t"), ("t", "t")]


_DROPPED_BEFORE = {  # case: by, job
    "undeclared": ("evil", "job"),
    "declared": ("evil", "job"),
    "declared_other_job": ("shop", "other"),
}


def test_a_drop_by_the_writer_gives_no_right_to_others(lander, catalog, at):
    """Let a job drop and write its table each night, with another job in between."""
    names = [mine(case) for case in _DROPPED_BEFORE]
    renew_names(
        catalog, _policy_for(case for case in _DROPPED_BEFORE if case != "undeclared"), at(7)
    )
    lander.land(*(event(at(8), "shop", *name) for name in names))
    lander.land(
        *(event(at(9), "shop", *name, DROP) for name in names),
        *(event(at(10), "shop", *name) for name in names),
    )

    lander.land(
        *(
            event(at(11), by, *mine(case), DROP, job=job)
            for case, (by, job) in _DROPPED_BEFORE.items()
        )
    )

    assert rows(catalog, RETIRED) == []


def test_a_dataset_that_was_dropped_by_another_name_and_is_declared_is_expected(
    lander, catalog, at
):
    """Expect a dataset that was dropped as the table and is declared as the path."""
    other = ("hive://ms:9083", "mart.revenue")
    lander.land(event(at(8), "shop", *_MINE, symlink(*other)))
    lander.land(event(at(9), "shop", *other, DROP))
    assert rows(catalog, RETIRED) != []

    renew_names(catalog, _DECLARED, at(10))

    retired = "SELECT name FROM dataset WHERE retired_at IS NOT NULL AND is_declared"
    assert rows(catalog, retired) == []


@pytest.mark.postgres_nightly
def test_a_dataset_declared_after_its_drop_is_expected_again(lander, catalog, at):
    """Expect the dataset from its declaration on, although its writer dropped it before."""
    lander.land(event(at(8), "shop", *_MINE))
    lander.land(event(at(9), "shop", *_MINE, DROP))
    assert rows(catalog, RETIRED) == [("mart/revenue",)]

    renew_names(catalog, _DECLARED, at(10))
    retire_unused(catalog, _DECLARED, at(11))

    assert rows(catalog, RETIRED) == []


@pytest.mark.postgres_nightly
def test_a_rename_by_the_writer_moves_an_undeclared_dataset_only(lander, catalog, at):
    lander.land(event(at(8), "shop", *_MINE))
    lander.land(event(at(9), "shop", "s3://lake", "mart/new", rename_from(*_MINE)))
    assert rows(catalog, CANONICAL) == [("mart/new", "mart/new"), ("mart/revenue", "mart/new")]

    renew_names(catalog, _DECLARED, at(10))

    assert rows(catalog, CANONICAL) == [
        ("mart/new", "mart/new"),
        ("mart/revenue", "mart/revenue"),
    ]


@pytest.mark.postgres_nightly
def test_the_policy_still_joins_what_no_event_may(lander, catalog, at):
    lander.land(event(at(8), "shop", *_MINE))
    lander.land(event(at(9), "evil", "s3://copy", "b"))

    joined = parse_policy("aliases: [{name: s3://copy/b, dataset: s3://lake/mart/revenue}]")
    renew_names(catalog, joined, at(10))

    assert rows(catalog, CANONICAL) == [("b", "mart/revenue"), ("mart/revenue", "mart/revenue")]


@pytest.mark.postgres_nightly
@pytest.mark.parametrize("policy", [DEFAULT, _DECLARED], ids=["undeclared", "declared"])
def test_a_drop_without_a_run_of_an_unwritten_dataset(lander, catalog, at, policy):
    """Claim before and after somebody has written it."""
    renew_names(catalog, policy, at(7))
    lander.land(event(at(8), "shop", *_MINE, side="inputs"))
    for hour in (9, 10):
        lander.land(without_run(at(hour), *_MINE, DROP))
        assert rows(catalog, RETIRED) == []
        assert rows(catalog, REJECTED) == [("drop", "", "mart/revenue")]
        lander.land(event(at(8, 30), "shop", *_MINE))


def _paths():
    """Return cases in which `s3://evil` and a declared, unwritten dataset get a name in common.

    Each path is a list of events: the name, its side, and the other name that is claimed for
    it.
    """
    cases = ("direct", "reverse", "shared", "shared_mine_first", "chain", "chain_reverse")
    stolen, own, free, other = (
        {case: (namespace, f"{before}{case}") for case in cases}
        for namespace, before in (
            *(("s3://evil", "a/"), ("s3://lake", "mart/")),
            *(("hive://m", "db."), ("trino://t", "db.")),
        )
    )
    steps = {
        "direct": [(stolen, "outputs", own)],
        "reverse": [(stolen, "outputs", None), (own, "inputs", stolen)],
        "shared": [(stolen, "outputs", free), (own, "inputs", free)],
        "shared_mine_first": [(own, "inputs", free), (stolen, "outputs", free)],
        "chain": [(stolen, "outputs", free), (other, "inputs", free), (own, "inputs", other)],
        "chain_reverse": [
            *((stolen, "outputs", free), (free, "inputs", other), (other, "inputs", own)),
        ],
    }
    paths = {
        case: [(name[case], side, link and link[case]) for name, side, link in path]
        for case, path in steps.items()
    }
    return paths, [stolen.values(), free.values()]


def test_an_unwritten_declared_dataset_joins_nothing(spark, lander, catalog, at):
    """Keep owner, tier and states; a drop of the other dataset has no effect here."""
    paths, dropped = _paths()
    names = sorted(mine(case)[1] for case in paths)
    policy = _policy_for(paths)
    renew_names(catalog, policy, at(7))
    for minute in range(3):
        steps = [path[minute] for path in paths.values() if len(path) > minute]
        lander.land(
            *(
                event(at(9, minute), "evil", *name, link and symlink(*link), side=side)
                for name, side, link in steps
            )
        )
    for others in dropped:
        lander.land(
            *(event(at(11), "evil", *name) for name in others),
            *(event(at(11, 5), "evil", *name, DROP) for name in others),
        )
    evaluate(spark, catalog, policy, at(12, 1))

    joined = """
        SELECT c.name, d.name, d.retired_at FROM dataset d
        JOIN dataset c ON c.dataset_key = d.canonical_key ORDER BY 1, 2
    """
    assert [row for row in rows(catalog, joined) if {*row[:2]} & {*names}] == [
        (name, name, None) for name in names
    ]
    declared = "SELECT d.name FROM dataset_policy p JOIN dataset d ON d.dataset_key = p.dataset_key"
    assert rows(catalog, f"{declared} WHERE p.is_declared ORDER BY 1") == [
        (name,) for name in names
    ]

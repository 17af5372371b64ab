"""Folds of the policy: the names they match, and invalid folds."""

import pytest

from lineage.policy import DEFAULT, NO_FOLDS, PolicyError, folds_of, parse_policy

RUNS = "folds:\n- {match: 's3://lake/tmp/run_{n}/out', dataset: s3://lake/tmp/run/out}\n"


def _dataset(text: str, namespace: str, name: str):
    return folds_of(parse_policy(text)).dataset(namespace, name)


@pytest.mark.parametrize(
    ("match", "namespace", "name"),
    [
        ("s3://lake/tmp/run_{n}", "s3://lake", "tmp/run_17"),
        ("s3a://lake/tmp/run_{n}/", "s3://lake", "tmp/run_17"),
        ("s3://lake/tmp/run_*", "s3://lake", "tmp/run_x-1"),
        ("s3://lake/tmp/run_??", "s3://lake", "tmp/run_x1"),
        ("s3://lake/core.orders_{date}", "s3://lake", "core.orders_20261121"),
        ("s3://lake/run-{uuid}/x", "s3://lake", "run-01a1fd70-be43-78d1-b459-0afbbe310dfa/x"),
        ("s3://run-{n}/out", "s3://run-7", "out"),
        ("file:/lake/run_{n}", "file", "/lake/run_7"),
        (
            "{namespace: 'file:/warehouse', name: 'default.t_{month}'}",
            *("file:/warehouse", "default.t_202611"),
        ),
    ],
)
def test_a_name_that_matches_is_the_dataset(match, namespace, name):
    """Match words, wildcards, and the folded spelling."""
    quoted = match if match.startswith("{") else f"'{match}'"
    text = f"folds: [{{match: {quoted}, dataset: s3a://lake/all/}}]"

    assert _dataset(text, namespace, name) == ("s3://lake", "all")


@pytest.mark.parametrize(
    ("namespace", "name"),
    [
        ("s3://lake", "tmp/run_x/out"),  # no number
        ("s3://lake", "tmp/run_7/sub/out"),  # a folder more
        ("s3://lake", "tmp/run_7/out/more"),
        ("s3://lake", "old/tmp/run_7/out"),
        ("s3://lake2", "tmp/run_7/out"),
        ("s3://lake", "tmp/run/out"),  # the dataset itself
        ("s3://lake", f"tmp/run_{'7' * 1_000}/out"),  # longer than any that people make
    ],
)
def test_a_name_that_does_not_match_stays(namespace, name):
    """Keep the name: a false fold joins two datasets."""
    assert _dataset(RUNS, namespace, name) is None


def test_a_star_takes_one_part_of_a_path():
    """Match one part: otherwise all tables of each run's folder would be one dataset."""
    text = "folds: [{match: 's3://lake/run_*', dataset: s3://lake/run}]"

    assert _dataset(text, "s3://lake", "run_7") == ("s3://lake", "run")
    assert _dataset(text, "s3://lake", "run_7/orders") is None


def test_the_most_specific_fold_decides():
    """Sort by literal characters, then by words before wildcards, then the later."""
    text = """
folds:
- {match: 's3://lake/run_{n}', dataset: s3://lake/numbered}
- {match: 's3://lake/run_*', dataset: s3://lake/any}
- {match: 's3://lake/run_9*', dataset: s3://lake/nine}
- {match: 's3://lake/run_?9', dataset: s3://lake/last}
"""
    found = {
        name: _dataset(text, "s3://lake", name) for name in ("run_1", "run_x", "run_91", "run_99")
    }

    assert {name: dataset[1] for name, dataset in found.items()} == {
        "run_1": "numbered",
        "run_x": "any",
        "run_91": "nine",
        "run_99": "last",
    }


@pytest.mark.parametrize(
    "rule",
    [
        "datasets: [{match: s3://lake/tmp/run_7/out, tier: critical}]",
        "sources: [s3://lake/tmp/run_7/out]",
        "aliases: [{name: s3://lake/tmp/run_7/out, dataset: s3://lake/other}]",
        "aliases: [{name: s3://lake/other, dataset: s3://lake/tmp/run_7/out}]",
        "aliases: [{name: s3://lake/tmp/run_7/out, dataset: s3://lake/tmp/run/out, apart: true}]",
        "datasets: [{match: s3://lake/x, expect_inputs: [s3://lake/tmp/run_7/out]}]",
    ],
)
def test_folds_skip_names_that_the_policy_lists(rule):
    """Find a dataset by the rule that names it."""
    assert _dataset(RUNS + rule, "s3://lake", "tmp/run_7/out") is None
    assert _dataset(RUNS + rule, "s3://lake", "tmp/run_8/out") == ("s3://lake", "tmp/run/out")


def test_a_policy_without_folds_has_none():
    """Share one for all such policies, so that its cache outlives a reload."""
    assert not NO_FOLDS
    assert folds_of(DEFAULT) is folds_of(parse_policy("retention_days: 5")) is NO_FOLDS
    assert folds_of(parse_policy(RUNS)) is not folds_of(parse_policy(RUNS))


def test_the_dataset_of_a_fold_is_not_folded():
    """Fold a folded name to itself: `orders*` matches `orders_all` too."""
    text = "folds: [{match: 's3://lake/orders*', dataset: s3://lake/orders_all}]"

    assert _dataset(text, "s3://lake", "orders_2") == ("s3://lake", "orders_all")
    assert _dataset(text, "s3://lake", "orders_all") is None


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        (
            ["{match: 's3://b/run_{run}', dataset: s3://b/run}"],
            (
                "2: $.folds[0].match: unknown word '{run}'; "
                "one of {uuid}, {date}, {month}, {hash}, {id}, {n}, *, ?"
            ),
        ),
        (
            ["{match: s3://b/run_7, dataset: s3://b/run}"],
            (
                "2: $.folds[0].match: nothing in it changes: "
                "one name of a dataset stands under aliases"
            ),
        ),
        (
            ["{match: 's3://b/*', dataset: s3://b/run}"],
            "2: $.folds[0].match: matches every name: write what stays of it, as in run_{n}",
        ),
        (
            ["{match: 's3://b/{n}/{date}_*', dataset: s3://b/run}"],
            "2: $.folds[0].match: matches every name: write what stays of it, as in run_{n}",
        ),
        (
            ["{match: 's3://b/x/a*a*a*', dataset: s3://b/run}"],
            (
                "2: $.folds[0].match: "
                "more than two stars in one part of a path: write more of what stays"
            ),
        ),
        (
            ["{match: 's3://*/run_{n}', dataset: s3://b/run}"],
            (
                "2: $.folds[0].match: is of every namespace: "
                "write what stays of it, as in s3://bucket/run_{n}"
            ),
        ),
        (
            ["{match: 'run_{n}', dataset: s3://b/run}"],
            (
                "2: $.folds[0].match: is of every namespace: "
                "write what stays of it, as in s3://bucket/run_{n}"
            ),
        ),
        (
            ["{match: {name: 'run_{n}'}, dataset: s3://b/run}"],
            (
                "2: $.folds[0].match: is of every namespace: "
                "write what stays of it, as in s3://bucket/run_{n}"
            ),
        ),
        (
            ["{match: 's3://b/run_{n}', dataset: 's3://b/run_{n}'}"],
            "2: $.folds[0].dataset: expected one dataset, without wildcards and words such as {n}",
        ),
        (
            ["{match: 's3://b/run_{n}', dataset: {name: run}}"],
            "2: $.folds[0].dataset: expected one dataset, without wildcards and words such as {n}",
        ),
        (
            ["{match: 's3://b/run_{n}', dataset: run}"],
            "2: $.folds[0].dataset: needs a namespace and a name, as in s3://bucket/run",
        ),
        (
            ["{match: 's3://b/run_{n}'}"],
            "2: $.folds[0]: object missing required field dataset",
        ),
        (
            ["{match: 's3://b/run_{n}', datset: s3://b/run}"],
            "2: $.folds[0].datset: unknown key 'datset'; did you mean 'dataset'?",
        ),
        (
            [
                "{match: 's3://b/run_{n}', dataset: s3://b/run}",
                "{match: 's3a://b/run_{n}/', dataset: s3://b/other}",
            ],
            "3: $.folds[1].match: is there already, at folds[0]",
        ),
        (
            [
                "{match: 's3://b/run_{n}', dataset: s3://b/run}",
                "{match: 's3://b/r*', dataset: s3://b/other}",
            ],
            "2: $.folds[0].dataset: is folded to 's3://b/other' by folds[1]: name that dataset",
        ),
    ],
)
def test_a_wrong_fold_is_rejected_with_line_and_path(folds, message):
    """Name the line, and what to write there."""
    with pytest.raises(PolicyError) as raised:
        parse_policy("folds:\n" + "\n".join(f"- {fold}" for fold in folds))

    assert str(raised.value) == f"lineward.yaml:{message}"


def test_a_fold_into_another_name_of_a_dataset_is_rejected():
    """Reject it: its datasets would have to move twice."""
    with pytest.raises(PolicyError) as raised:
        parse_policy(RUNS + "aliases: [{name: s3://lake/tmp/run/out, dataset: s3://lake/out}]")

    assert str(raised.value) == (
        "lineward.yaml:2: $.folds[0].dataset: is 's3://lake/out' by aliases: name that dataset"
    )

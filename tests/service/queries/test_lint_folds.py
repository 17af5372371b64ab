"""Suggested rules of a lint for names that are new each time, as the policy accepts them."""

import pytest
from sqlalchemy import Engine

from lineage.catalog.reader import open_reader
from lineage.policy import DEFAULT, folds_of, parse_policy
from service.cli.commands.lint import policy_lines
from service.errors import UnknownDatasetError
from service.queries.dataset_lookup import resolve_dataset
from slis.evaluation.policy_names import renew_names
from slis.indicators import name_explosion as explosion
from tests.service.lint_catalog import NOW, add, alias, explode, feed, run_lint


@pytest.mark.parametrize(
    ("namespace", "name", "folded"),
    [
        ("s3://bench", "exports/run_{}", "exports/run"),
        ("s3://bench", "exports/run-{}/orders.csv", "exports/run/orders.csv"),
        ("postgres://h:5432", "shop.public.events_{}", "shop.public.events"),
        ("file", "/lake/run_{}", "/lake/run"),
        ("file:/warehouse", "default.events_{}", "default.events"),
        ("s3://bench", "a b/{{x}}: 'y', \"z\" # {}", None),
        ("s3://bench", "exports/\x1b_{}", "exports/\x1b"),
        ("s3://bench", "exports/\x7f_{}", "exports/\x7f"),
        ("s3://bench", 'exports/Überlauf: "x", # {}', 'exports/Überlauf: "x", # '),
    ],
)
def test_a_folding_rule_in_the_policy_leaves_nothing_to_find(embedded, namespace, name, folded):
    """Put the suggested lines into a policy: old and new names are one dataset.

    A name that no policy can have has no line, and its finding stays.
    """
    for number in range(30):
        add(embedded, namespace, name.format(number), written=True)
    text = "\n".join(policy_lines(run_lint(embedded).findings))
    policy = parse_policy(text)
    renew_names(embedded, policy, NOW)

    assert ("folds:" in text) == (folded is not None)
    assert len(run_lint(embedded).findings) == (folded is None)
    if folded is not None:
        assert folds_of(policy).dataset(namespace, name.format(31)) == (namespace, folded)
        assert _resolve(embedded, name.format(7), namespace) == (namespace, folded)


def test_an_explosion_ends_with_its_folding_rule_in_the_policy(spark, embedded):
    """Find an explosion with a line, and none once the policy has the line.

    Mutant: the same evaluation without the line finds it again.
    """
    for number in range(30):
        add(embedded, "s3://bench", f"exports/run_{number}", written=True)
    explosion.renew_explosions(spark, embedded, NOW)
    found = run_lint(embedded).findings
    renew_names(embedded, DEFAULT, NOW)
    explosion.renew_explosions(spark, embedded, NOW)
    again = run_lint(embedded).findings
    renew_names(embedded, parse_policy("\n".join(policy_lines(found))), NOW)
    explosion.renew_explosions(spark, embedded, NOW)

    assert [one.kind for one in found] == ["name_explosion"]
    assert again == found
    assert run_lint(embedded).findings == []


def test_a_name_that_was_only_ever_folded_leads_to_its_dataset(embedded):
    """Find the dataset by both parts or by the name alone, which no dataset ever had."""
    run = add(embedded, "s3://bench", "exports/run")
    alias(embedded, run, "s3://bench", "exports/run_7", rule="fold")

    assert _resolve(embedded, "exports/run_7", "s3://bench") == ("s3://bench", "exports/run")
    assert _resolve(embedded, "exports/run_7", None) == ("s3://bench", "exports/run")
    assert _resolve(embedded, "s3://bench/exports/run_7", None) == ("s3://bench", "exports/run")
    with pytest.raises(UnknownDatasetError):
        _resolve(embedded, "exports/run_8", "s3://bench")


@pytest.mark.parametrize("is_fed", [False, True])
def test_layers_that_feed_one_another_are_never_folded(embedded, is_fed):
    """Keep 30 datasets of one pattern apart: six layers of five tables."""
    name = "layer{}/table_{}"
    keys = [
        [add(embedded, "s3://lake", name.format(layer, n), written=True) for n in range(5)]
        for layer in range(6)
    ]
    if is_fed:
        feed(embedded, keys[0][2], keys[1][3])

    assert bool(run_lint(embedded).findings) == (not is_fed)


def test_an_explosion_that_feeds_itself_is_found_without_a_line(embedded):
    """Report it as a fault: to fold it would make a dataset its own input."""
    keys = [add(embedded, "s3://lake", f"step_{n}", written=True) for n in range(30)]
    explode(embedded, "s3://lake", "step_1", new=30)
    feed(embedded, keys[0], keys[1])

    (found,) = run_lint(embedded).findings
    assert (found.kind, found.folding_rule, found.policy) == ("name_explosion", None, [])


def test_a_copy_in_another_letter_case_is_no_second_name(embedded):
    """Keep `Orders` and `orders` apart if a job reads one and writes the other."""
    one = add(embedded, "s3://lake", "Orders", written=True)
    other = add(embedded, "s3://lake", "orders", written=True)
    before = run_lint(embedded).findings
    feed(embedded, one, other)

    assert [each.kind for each in before] == ["case"]
    assert run_lint(embedded).findings == []


def _resolve(catalog: Engine, name: str, namespace: str | None) -> tuple[str, str]:
    with open_reader(catalog.url.render_as_string(hide_password=False)) as reader:
        return resolve_dataset(reader, name, namespace)[1:]

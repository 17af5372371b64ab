"""What a lint says of names that are new each time is what the policy takes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from lineage.catalog.engine import catalog_url, migrate, open_catalog
from lineage.catalog.reader import open_reader
from lineage.policy import DEFAULT, folding, parse
from service.answers.named import dataset_named
from service.commands.lint import advice
from service.errors import UnknownDatasetError
from slis.explosion import renew as explosion
from slis.policy_names import renew_names
from tests.service.linted import NOW, add, alias, linted


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Engine]:
    """A catalog on SQLite: what is asked of both engines alike need not be asked twice."""
    engine = open_catalog(catalog_url(tmp_path))
    migrate(engine)
    yield engine
    engine.dispose()


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
def test_a_folding_rule_in_the_policy_leaves_nothing_to_find(lake, namespace, name, folded):
    """The very lines that are shown, taken by the policy: old names are one dataset, and new ones.

    A name that no policy can bear has no line, and its finding stays.
    """
    for number in range(30):
        add(lake, namespace, name.format(number), written=True)
    text = "\n".join(advice(linted(lake).findings))
    policy = parse(text)
    renew_names(lake, policy, NOW)

    assert ("folds:" in text) == (folded is not None)
    assert len(linted(lake).findings) == (folded is None)
    if folded is not None:
        assert folding(policy).dataset(namespace, name.format(31)) == (namespace, folded)
        assert _named(lake, name.format(7), namespace) == (namespace, folded)


def test_an_explosion_ends_with_its_folding_rule_in_the_policy(spark, lake):
    """What the evaluation found is told with a line, and is found no more once the policy has it.

    Mutant: the same evaluation without the line finds it again.
    """
    for number in range(30):
        add(lake, "s3://bench", f"exports/run_{number}", written=True)
    explosion.renew(spark, lake, NOW)
    found = linted(lake).findings
    renew_names(lake, DEFAULT, NOW)
    explosion.renew(spark, lake, NOW)
    again = linted(lake).findings
    renew_names(lake, parse("\n".join(advice(found))), NOW)
    explosion.renew(spark, lake, NOW)

    assert [one.kind for one in found] == ["name_explosion"]
    assert again == found
    assert linted(lake).findings == []


def test_a_name_that_was_only_ever_folded_leads_to_its_dataset(lake):
    """By both parts or by the name alone: no dataset was ever called so."""
    run = add(lake, "s3://bench", "exports/run")
    alias(lake, run, "s3://bench", "exports/run_7", rule="fold")

    assert _named(lake, "exports/run_7", "s3://bench") == ("s3://bench", "exports/run")
    assert _named(lake, "exports/run_7", None) == ("s3://bench", "exports/run")
    assert _named(lake, "s3://bench/exports/run_7", None) == ("s3://bench", "exports/run")
    with pytest.raises(UnknownDatasetError):
        _named(lake, "exports/run_8", "s3://bench")


def _named(catalog: Engine, name: str, namespace: str | None) -> tuple[str, str]:
    with open_reader(catalog.url.render_as_string(hide_password=False)) as reader:
        return dataset_named(reader, name, namespace)[1:]

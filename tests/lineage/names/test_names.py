import re
from datetime import date

import pytest
from hypothesis import example, given

from lineage.names.names import _compiled, combine, fold, partition_date, partition_of
from lineage.names.rules import GROUPS, NAMING_RULES
from lineage.redaction import CREDENTIALS
from tests.lineage.spellings import FOLDED, KEPT, spellings

_COMPILED = _compiled  # the tests replace it


@pytest.mark.parametrize(("sent", "expected"), FOLDED)
def test_spellings_of_a_dataset_fold_to_its_one_name(sent, expected):
    """Fold each spelling of real producers to the name by OpenLineage's conventions."""
    folded = fold(*sent)

    assert (folded.namespace, folded.name) == expected


@pytest.mark.parametrize("name", KEPT)
def test_a_name_that_only_looks_like_a_spelling_is_kept(name):
    """Keep the name: a false fold joins two datasets and hides missing data."""
    folded = fold(*name)

    assert (folded.namespace, folded.name, folded.rules) == (*name, ())


@given(spellings)
def test_folding_twice_is_folding_once(spelling):
    """Return a fixed point: otherwise keys would depend on the number of folds."""
    once = fold(*spelling)

    assert fold(once.namespace, once.name) == type(once)(once.namespace, once.name)


@given(spellings)
def test_the_guard_lets_every_foldable_name_through(spelling):
    """Dismiss no name that a rule of the last group changes: `when` only saves time."""
    if any(re.search(group.when, combine(*spelling), re.ASCII) for group in GROUPS):
        return
    for rule in GROUPS[-1].rules:
        assert not re.match(rule.pattern, combine(*spelling), re.ASCII), rule.id


def test_every_rule_is_used_by_some_spelling():
    """Find an example for each rule."""
    used = {rule for sent, _ in FOLDED for rule in fold(*sent).rules}

    assert {rule.id for rule in NAMING_RULES} - used == set()


@pytest.mark.parametrize("rule", NAMING_RULES, ids=lambda rule: rule.id)
def test_a_rule_is_needed(rule, monkeypatch):
    """Fold some spelling to another name, or by other rules, without the rule."""
    monkeypatch.setattr("lineage.names.names._compiled", lambda group: _drop_rule(group, rule))

    assert any(
        (fold.__wrapped__(*sent).namespace, fold.__wrapped__(*sent).name) != expected
        for sent, expected in FOLDED
    )


def _drop_rule(group, rule):
    return [step for step in _COMPILED(group) if step[0] != rule.id]


_SECRET = re.compile("p@|SEC|password|user=")


def test_no_secret_is_kept():
    """Remove user, password and options of a connection from each folded name."""
    folded = [fold(*sent) for sent, _ in FOLDED if _SECRET.search("".join(sent))]

    assert len(folded) >= 8
    assert not [name for name in folded if _SECRET.search(name.namespace + name.name)]


def test_a_rule_that_finds_a_secret_reports_it():
    """Record no alias of that spelling."""
    secretive = {CREDENTIALS, *(rule.id for rule in NAMING_RULES if not rule.keeps_spelling)}

    for sent, _ in FOLDED:
        if _SECRET.search("".join(sent)):
            assert secretive & set(fold(*sent).rules), sent


@pytest.mark.parametrize(
    ("name", "partition"),
    [
        ("/lake/orders/dt=2026-11-21", "dt=2026-11-21"),
        ("/lake/orders/dt=2026-11-21/", "dt=2026-11-21"),
        ("/lake/orders/year=2026/month=11/day=21", "year=2026/month=11/day=21"),
        ("/lake/orders/2026/11/21/part-00000-x.parquet", "2026/11/21"),
        ("/lake/orders/20261121", "20261121"),
        ("/lake/orders/dt=2026-11-21/x.snappy.parquet", "dt=2026-11-21"),
        ("/lake/orders@v3/dt=2026-11-21", "dt=2026-11-21"),
        ("/lake/orders", None),
        ("/lake/orders/part-00000-x.parquet", None),
        ("/20261121", None),
        ("s3://dt=2026-11-21", None),
        ("file:/dt=2026-11-21", None),
        ("s3://lake/dt=2026-11-21", "dt=2026-11-21"),
    ],
)
def test_the_partition_of_a_spelling(name, partition):
    """Keep the day that was folded away, so that a backfill is recognized."""
    assert partition_of("file", name) == partition


@given(spellings)
@example(("", "s3://s3:///dt=2026-11-21"))
@example(("", "s3://;password=p"))
def test_a_spelling_with_a_partition_is_folded(spelling):
    """Leave no partition of a path in the name, unless it is the whole name."""
    group = next(
        (group for group in GROUPS if re.search(group.when, combine(*spelling), re.ASCII)), None
    )
    partition, folded = partition_of(*spelling), fold(*spelling)
    if partition not in (None, folded.name) and group is not GROUPS[0]:
        assert {"partition", "bigquery_partition"} & {*folded.rules}


@pytest.mark.parametrize("namespace", ["bigquery", "bigquery:", "bigquery://"])
@pytest.mark.parametrize("partition", ["202611", "20261121", "2026112104"])
def test_a_decorator_of_bigquery_is_a_partition(namespace, partition):
    """Read a month, a day or an hour, so that a later write of an older one is a backfill."""
    assert partition_of(namespace, f"p.d.t${partition}") == partition


@pytest.mark.parametrize("decorator", ["__NULL__", "42", "20100100", "20001234", "2010500"])
def test_a_number_of_bigquery_s_ranges_is_no_day(decorator):
    """Read no day from it: the write would be a backfill, and the table stale."""
    assert partition_of("bigquery", f"p.d.t${decorator}") is None


@pytest.mark.parametrize(
    ("partition", "day"),
    [
        ("dt=2026-11-21", (2026, 11, 21)),
        ("year=2026/month=1/day=3", (2026, 1, 3)),
        ("2026/11/21/04", (2026, 11, 21)),
        ("20261121", (2026, 11, 21)),
        ("2026112104", (2026, 11, 21)),
        ("month=2026-11", (2026, 11, 1)),
        ("dt=2026-02-30", None),
        ("country=de", None),
    ],
)
def test_the_day_of_a_partition(partition, day):
    """Compare days to recognize a backfill; other partitions have none."""
    assert partition_date(partition) == (day and date(*day))

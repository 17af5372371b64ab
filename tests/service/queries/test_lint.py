import json
import re

import pytest
from sqlalchemy import Engine, insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.policy import parse_policy
from service.cli.commands.lint import policy_lines
from slis.evaluation.policy_names import renew_names
from tests.service.commandline import answer, lineward
from tests.service.lint_catalog import NOW, add, add_read, alias, explode, run_lint

pytestmark = pytest.mark.postgres_nightly


def _findings(catalog: Engine) -> list[tuple[str, list[str], str]]:
    return [
        (one.kind, [f"{n.dataset_namespace} {n.dataset}" for n in one.names], one.dataset)
        for one in run_lint(catalog).findings
    ]


def test_an_estate_with_one_name_for_each_dataset_has_no_finding(embedded):
    """Treat names in different buckets, and numbered tables, as several datasets."""
    for namespace, name in (
        ("s3://prod", "core/orders"),
        ("s3://dev", "core/orders"),
        ("postgres://h:5432", "shop.core.orders"),
        ("s3://prod", "region_1"),
        ("s3://prod", "region_2"),
        ("s3://prod", "region_3"),
    ):
        add(embedded, namespace, name)

    found = run_lint(embedded)

    assert (found.findings, found.datasets, found.partial) == ([], 6, False)


def test_letter_case_is_a_finding(embedded):
    """Suggest the name that is written."""
    add(embedded, "s3://lake", "core/Orders")
    add(embedded, "s3://lake", "core/orders", written=True)

    assert _findings(embedded) == [
        ("case", ["s3://lake core/Orders", "s3://lake core/orders"], "core/orders")
    ]


@pytest.mark.parametrize(
    "names",
    [
        [("hdfs://nn", "/lake/x"), ("hdfs://nn:8020", "/lake/x")],
        [("dbfs", "/mnt/x"), ("file", "/dbfs/mnt/x")],
        [
            ("abfss://c@acct.dfs.core.windows.net", "lake/x"),
            ("wasbs://c@acct.blob.core.windows.net", "lake/x"),
        ],
        [("hdfs://nn", "/lake/x"), ("webhdfs://nn:9870", "/lake/x")],
    ],
)
def test_schemes_of_one_place_are_a_finding(embedded, names):
    """Find names that differ by port, mount, container host or protocol."""
    for name in names:
        add(embedded, *name)

    assert [one.kind for one in run_lint(embedded).findings] == ["scheme"]


def test_a_symlink_that_is_a_dataset_is_a_finding_if_one_job_uses_both(catalog):
    """Find a table that one application used by its path and by its name."""
    place = add(catalog, "s3://lake", "warehouse/mart/revenue", written=True)
    alias(catalog, place, "hive://metastore:9083", "mart.revenue")
    table = add(catalog, "spark", "mart.revenue")
    other = add(catalog, "spark2", "mart.revenue")
    for dataset in (place, table):
        add_read(catalog, dataset, "report")
    add_read(catalog, other, "another")

    assert _findings(catalog) == [
        (
            "symlink",
            ["s3://lake warehouse/mart/revenue", "spark mart.revenue"],
            "warehouse/mart/revenue",
        )
    ]
    assert "jobs/report" in run_lint(catalog).findings[0].evidence


def test_unfolded_partitions_are_a_finding_with_a_rule(embedded):
    """Find dates within a segment, and not the 2 that all names have."""
    for month in (9, 10, 11):
        add(embedded, "s3://lake", f"core/orders2_2026{month:02}")

    [found] = run_lint(embedded).findings

    assert (found.kind, found.dataset, found.count) == ("partitions", "core/orders2", 3)
    assert found.folding_rule == (
        '- {match: "s3://lake/core/orders2_{month}", dataset: "s3://lake/core/orders2"}'
    )
    assert found.policy == []


def test_an_explosion_comes_first_with_its_speed(catalog):
    """List ten of 500 names in an hour, and mark the list as cut."""
    add(catalog, "s3://lake", "core/Orders")
    add(catalog, "s3://lake", "core/orders")
    for number in range(500):
        add(catalog, "s3://lake", f"tmp/run_{number}/out")
    explode(catalog, "s3://lake", "tmp/run_0/out", 500)

    found = run_lint(catalog)

    assert [one.kind for one in found.findings] == ["name_explosion", "case"]
    first = found.findings[0]
    assert (first.dataset, first.count, first.new_per_hour) == ("tmp/run/out", 500, 500)
    assert (len(first.names), first.policy) == (10, [])
    assert first.folding_rule == (
        '- {match: "s3://lake/tmp/run_{n}/out", dataset: "s3://lake/tmp/run/out"}'
    )
    assert found.partial_reason == "of 1 findings only the first 10 names are listed"


def test_an_explosion_over_many_namespaces_has_an_example(embedded):
    """Show an example of a pattern with one bucket for each run."""
    add(embedded, "s3://run-1", "out")
    row = {"namespace": "s3://run-{n}", "name": "out", "new_datasets": 40, "is_explosion": True}
    with write_transaction(embedded) as connection:
        connection.execute(
            insert(tables.name_pattern),
            {**row, "example_namespace": "s3://run-1", "example_name": "out"},
        )

    [found] = run_lint(embedded).findings

    assert (found.kind, found.count, found.names[0].dataset_namespace) == (
        "name_explosion",
        40,
        "s3://run-1",
    )
    assert (found.policy, found.folding_rule) == ([], None)


def test_the_suggested_policy_joins_the_findings(catalog):
    """Put into a policy they leave nothing to find: each is a line that the policy reads."""
    add(catalog, "s3://lake", 'core/"Or: ders"', written=True)
    add(catalog, "s3://lake", 'core/"or: ders"')
    add(catalog, "hdfs://nn", "/lake/x")
    add(catalog, "hdfs://nn:8020", "/lake/x")
    for month in (9, 10, 11):
        add(catalog, "s3://lake", f"core/*orders_2026{month:02}")
        add(catalog, "s3://lake", f"core/orders_2026{month:02}")
    found = run_lint(catalog).findings

    renew_names(catalog, parse_policy("\n".join(policy_lines(found))), NOW)

    assert [len(one.policy) for one in found] == [1, 1, 0, 0]
    assert [one.dataset for one in run_lint(catalog).findings] == ["core/*orders"]


def test_names_that_the_policy_keeps_apart_are_no_finding(embedded):
    """Ignore names that a person has decided on."""
    one = add(embedded, "s3://lake", "core/Orders")
    add(embedded, "s3://lake", "core/orders")
    alias(embedded, one, "s3://lake", "core/Orders", rule="policy")

    assert run_lint(embedded).findings == []


def test_a_cut_lint_is_partial(embedded):
    """Mark a list that is cut by findings or by datasets."""
    for letter in "abc":
        add(embedded, "s3://lake", f"core/{letter}")
        add(embedded, "s3://lake", f"core/{letter.upper()}")

    by_findings = run_lint(embedded, limit=2)
    by_datasets = run_lint(embedded, most_datasets=4)

    assert (len(by_findings.findings), by_findings.total) == (2, 3)
    assert by_findings.partial_reason == "2 of 3 findings shown"
    assert by_datasets.partial_reason == "only the 4 datasets seen latest were looked at"


def test_a_name_that_no_policy_can_have_has_no_line(embedded):
    """Report the finding without a line, as a star in a name would be a pattern."""
    add(embedded, "s3://lake", "core/*Orders")
    add(embedded, "s3://lake", "core/*orders")

    [found] = run_lint(embedded).findings

    assert (found.kind, found.policy) == ("case", [])


def test_the_command_shows_the_same_as_its_json(catalog):
    """Print names and the lines for the policy."""
    add(catalog, "s3://lake", "core/Orders\x1b[2J", written=True)
    add(catalog, "s3://lake", "core/orders\x1b[2J")
    text = answer("lint", catalog=catalog)
    shown = lineward("lint", catalog=catalog).stdout

    finding = text["findings"][0]
    assert (text["total"], text["partial"], finding["kind"]) == (1, False, "case")
    assert "aliases:" in shown
    assert "1 finding " in shown
    assert json.loads(re.findall(r'dataset: (".*?")', finding["policy"][0])[0]).startswith("s3://")
    assert "\x1b" not in shown


def test_an_empty_catalog_is_no_clean_result(tmp_path):
    """Exit with 4 instead of reporting no findings."""
    done = lineward("lint", "--data-dir", str(tmp_path))

    assert done.returncode == 4

"""`lineward lineage DATASET.COLUMN`."""

from tests.service import shop, shop_columns
from tests.service.commandline import answer, lineward


def _fill(engine):
    shop.fill(engine)
    shop_columns.fill(engine)
    shop.add_dataset(engine, "hive://shop", "finance.orders.daily", "good")
    return engine


def test_a_name_that_ends_with_a_column_shows_the_column(embedded):
    """Find a column by name, by another name of the dataset with dots in it, and by the option."""
    catalog = _fill(embedded)

    found = answer("lineage", f"{shop.CORE}.amount", catalog=catalog)

    assert (found["dataset"], found["column"], found["type"]) == (
        shop.CORE,
        "amount",
        "decimal(9,2)",
    )
    assert answer("lineage", "core.orders.amount", catalog=catalog) == found
    assert answer("lineage", shop.CORE, "--column", "amount", catalog=catalog) == found


def test_a_dataset_with_dots_in_its_name_is_no_column(embedded):
    """Take the longest name that is a dataset."""
    found = answer("lineage", "finance.orders.daily", catalog=_fill(embedded))

    assert (found["dataset"], "column" in found) == ("finance.orders.daily", False)


def test_the_terminal_shows_how_a_column_is_made(embedded):
    """Print trees with transformations."""
    shown = lineward("lineage", f"{shop.MART}.total", catalog=_fill(embedded)).stdout

    assert "mart/daily.total" in shown
    assert "core/orders.amount  direct aggregation (sum(amount)), masked" in shown
    assert "raw/orders.amount  (its branch is elsewhere)" in shown
    assert "downstream columns: none known" in shown


def test_an_unknown_column_names_those_that_are_known(embedded):
    """Exit code 3, as of an unknown dataset; the past lineage is not stored is not stored."""
    catalog = _fill(embedded)

    unknown = lineward("lineage", f"{shop.CORE}.amont", catalog=catalog)
    past = lineward("lineage", f"{shop.CORE}.id", "--at", "2026-11-20T12:00:00Z", catalog=catalog)

    text = "the dataset 'core/orders' has no column 'amont'. Known columns include: amount."
    assert (unknown.returncode, unknown.stderr) == (3, f"lineward: {text}\n")
    assert (past.returncode, "past lineage is not stored" in past.stderr) == (2, True)

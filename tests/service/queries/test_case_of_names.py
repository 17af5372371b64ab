"""Upper and lower case: both kinds of catalog find the same datasets."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from lineage.catalog.reader import open_reader
from service.cli.commands import completing
from service.errors import UnknownDatasetError
from service.queries.dataset_lookup import resolve_dataset
from service.queries.datasets import Filters, list_datasets
from service.queries.timestamps import Evaluated
from tests.service import shop

pytestmark = pytest.mark.postgres_nightly

_UPPER = "\N{LATIN CAPITAL LETTER E WITH ACUTE}"
_LOWER = "\N{LATIN SMALL LETTER E WITH ACUTE}"
_NAMES = ("Sales/Big", "sales/small", "x/Thing", "y/thing", f"x/{_UPPER}")
_EVALUATED = Evaluated(as_of=0, seconds=1.0, stale=False)


@pytest.fixture
def reader(catalog):
    """Open a reader of a catalog in which names differ in case."""
    shop.fill(catalog)
    for name in _NAMES:
        shop.add_dataset(catalog, shop.NAMESPACE, name)
    with open_reader(catalog.url.render_as_string(hide_password=False)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("sales", ["Sales/Big", "sales/small"]),
        ("SALES/B", ["Sales/Big"]),
        (f"X/{_UPPER}", [f"x/{_UPPER}"]),
        (f"x/{_LOWER}", []),
        ("SALES_", []),
    ],
)
def test_search_ignores_case(reader, text, found):
    """Fold letters of ASCII as both databases do, and treat wildcards as text."""
    page = list_datasets(reader, Filters(contains=text), _EVALUATED)

    assert sorted(row.dataset for row in page.datasets) == found
    assert page.total == len(found)


def test_a_last_part_is_exact_in_case(reader):
    """Distinguish two names that differ in case only."""
    found = [resolve_dataset(reader, wanted)[2] for wanted in ("thing", "Thing", "Big", "small")]

    assert found == ["y/thing", "x/Thing", "Sales/Big", "sales/small"]


def test_another_case_of_a_name_is_no_name_but_a_hint(reader):
    """Raise, and suggest the name in the other case."""
    with pytest.raises(UnknownDatasetError) as rejected:
        resolve_dataset(reader, "BIG")

    assert rejected.value.candidates == ["s3://shop/Sales/Big"]


def test_names_in_another_case_are_not_completed(catalog, monkeypatch, tmp_path: Path):
    """Complete the one name that begins with the typed letters, beside fifty in another case."""
    shop.fill(catalog)
    for number in range(50):
        shop.add_dataset(catalog, shop.NAMESPACE, f"x/Thing{number}")
    shop.add_dataset(catalog, shop.NAMESPACE, "y/thing.z")
    url = catalog.url.render_as_string(hide_password=False)
    monkeypatch.setenv("LINEWARD_CATALOG_URL", url)

    offered = completing.complete_dataset(Mock(params={"data_dir": tmp_path}), "thing")

    assert offered == ["thing.z"]

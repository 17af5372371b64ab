"""Sizes of product files: of 60 to 250 lines, but for those of `file_sizes.toml`."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_PACKAGES = (
    *("alerts", "collector", "dashboards", "helm", "lab", "lineage", "runbooks", "service"),
    "slis",
)
_FEWEST, _MOST = 60, 250
_FROZEN = "lineage/catalog/migrations"  # a step of the schema is never changed


def _product_files() -> Iterator[Path]:
    for package in _PACKAGES:
        for file in (_ROOT / package).rglob("*.py"):
            path = file.relative_to(_ROOT)
            if file.name != "__init__.py" and not path.is_relative_to(_FROZEN):
                yield path


def odd_sizes() -> set[Path]:
    """Return the files that are shorter or longer than most."""
    lengths = {path: len((_ROOT / path).read_text().splitlines()) for path in _product_files()}
    return {path for path, length in lengths.items() if not _FEWEST <= length <= _MOST}


def _named() -> dict[str, set[Path]]:
    """Return the files of each pattern."""
    groups = tomllib.loads(Path(__file__).with_name("file_sizes.toml").read_text())["stays"]
    return {
        pattern: {file.relative_to(_ROOT) for file in _ROOT.glob(pattern)}
        for group in groups
        for pattern in group["files"]
    }


def test_a_short_or_long_file_has_a_reason():
    """Ask to merge or to divide any other."""
    assert odd_sizes() - set().union(*_named().values()) == set()


def test_no_reason_outlives_its_file():
    """Find patterns of which each file has a usual length by now, or is gone."""
    odd = odd_sizes()

    assert [pattern for pattern, files in _named().items() if not files & odd] == []

import json

import pytest

from lineage.names.names import fold


def _datasets(value):
    """Yield every (namespace, name) of a dataset or symlink, however deep."""
    if isinstance(value, dict):
        if isinstance(value.get("namespace"), str) and isinstance(value.get("name"), str):
            yield value["namespace"], value["name"]
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from _datasets(inner)


def _events(file):
    for text in [file.read_text()] if file.suffix == ".json" else file.read_text().splitlines():
        try:
            yield json.loads(text)
        except ValueError:
            continue  # some are broken on purpose


@pytest.mark.shared
def test_names_of_real_producers_are_not_folded(shared):
    """Fold no real name: real ones follow the conventions."""
    files = [file for file in (shared / "events").rglob("*.json*") if "expected" not in str(file)]
    names = {name for file in files for event in _events(file) for name in _datasets(event)}

    folded = {name: fold(*name).rules for name in names if fold(*name).rules}

    assert len(names) > 100
    assert folded == {}

"""Sources in `lineage` facets: the datasets that feed a dataset, read from the raw JSON.

Of jobs, which are named there too, nothing is taken: an edge is between datasets. This runs in the
driver, once for each distinct facet of a batch.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from lineage.names.names import Name

_CACHED_TEXTS = 1_024
_MOST_NAMES = 10_000  # of one facet


@lru_cache(_CACHED_TEXTS)
def sources_of(facet: str) -> tuple[Name, ...] | None:
    """Return the datasets that a dataset's own facet names; None where it names no sources.

    An empty answer says that it has none among datasets.
    """
    return _sources(_read(facet))


@lru_cache(_CACHED_TEXTS)
def sources_by_target(facet: str) -> dict[Name, tuple[Name, ...]]:
    """Return the datasets that feed each dataset that a job's facet has an entry for."""
    found: dict[Name, dict[Name, None]] = {}
    entries = _read(facet).get("entries")
    for entry in entries if isinstance(entries, list) else ():
        target = _dataset(entry)
        sources = None if target is None else _sources(entry)
        if target is not None and sources is not None:
            found.setdefault(target, {}).update(dict.fromkeys(sources))
    return {target: tuple(sources) for target, sources in found.items()}


def _read(text: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _sources(entry: dict[str, Any]) -> tuple[Name, ...] | None:
    """Return the sources of the entity and of its fields, each once."""
    inputs, fields = entry.get("inputs"), entry.get("fields")
    if not isinstance(inputs, list) and not isinstance(fields, dict):
        return None
    named = dict.fromkeys(name for one in _inputs(entry) if (name := _dataset(one)) is not None)
    return tuple(named)[:_MOST_NAMES]


def _inputs(entry: dict[str, Any]) -> Iterator[object]:
    inputs, fields = entry.get("inputs"), entry.get("fields")
    yield from inputs if isinstance(inputs, list) else ()
    for field in fields.values() if isinstance(fields, dict) else ():
        of_field = field.get("inputs") if isinstance(field, dict) else None
        yield from of_field if isinstance(of_field, list) else ()


def _dataset(one: object) -> Name | None:
    """Return the name of an entity of type DATASET."""
    if not isinstance(one, dict) or str(one.get("type")).upper() != "DATASET":
        return None
    namespace, name = one.get("namespace"), one.get("name")
    is_named = isinstance(namespace, str) and isinstance(name, str) and namespace and name
    return (str(namespace), str(name)) if is_named else None

"""Figures from the changes themselves: one alert a bad dataset, and time in unknown."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from lab.gameday.driver.saved_run import SavedSlab
from lab.gameday.fake_receivers import ReceivedMessage
from lab.gameday.truth_shapes import NamePattern
from lineage.states import BAD, UNKNOWN

Spell = tuple[int, int]


def baseline(slabs: Iterable[SavedSlab]) -> list[ReceivedMessage]:
    """Return one page for each dataset that turns bad by any SLI, to its own owner."""
    names: dict[int, tuple[NamePattern, str]] = {}
    bad: dict[int, set[str]] = {}
    found = []
    for slab in slabs:
        names |= _names(slab.tables)
        for row in read_changes(slab.changes):
            key, slis = row["dataset_key"], bad.setdefault(row["dataset_key"], set())
            was_bad = bool(slis)
            (slis.add if row["state"] == BAD else slis.discard)(row["sli"])
            if slis and not was_bad:
                name, owner = names[key]
                found.append(_alert(row["at"], name, owner))
    return found


def _alert(at: int, name: NamePattern, owner: str) -> ReceivedMessage:
    number = f"{name.namespace}/{name.name}@{at}"
    return ReceivedMessage(at, "page", "baseline", owner, number, name, owner)


def unknown_spells(slabs: Iterable[SavedSlab]) -> Iterator[Spell]:
    """Yield when some dataset was in `unknown` by some SLI, µs; one for both SLIs."""
    open_at: dict[int, int] = {}
    unknown: dict[int, set[str]] = {}
    ends_at = 0
    for slab in slabs:
        ends_at = slab.figures.ends_at
        for row in read_changes(slab.changes):
            key = row["dataset_key"]
            slis = unknown.setdefault(key, set())
            (slis.add if row["state"] == UNKNOWN else slis.discard)(row["sli"])
            if slis:
                open_at.setdefault(key, row["at"])
            elif key in open_at:
                yield open_at.pop(key), row["at"]
    yield from ((start, ends_at) for start in open_at.values())


def read_changes(changes: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield each change, with its instant in µs as `at`."""
    micros = changes.column("as_of").cast(pa.int64()).to_pylist()
    names = ("dataset_key", "sli", "state", "reason", "evidence", "limit_seconds", "limit_origin")
    columns = [changes.column(name).to_pylist() for name in names]
    for at, *values in zip(micros, *columns, strict=True):
        yield {"at": at} | dict(zip(names, values, strict=True))


def _names(tables: Mapping[str, pa.Table]) -> dict[int, tuple[NamePattern, str]]:
    owners = dict(_columns(tables["dataset_policy"], "dataset_key", "owner"))
    named = _columns(tables["dataset"], "dataset_key", "namespace", "name")
    return {key: (NamePattern(space, name), owners.get(key) or "") for key, space, name in named}


def _columns(table: pa.Table, *names: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(table.column(name).to_pylist() for name in names), strict=True)

"""Queries to a service, and the estates that they read."""

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec

from alerts.notify.links import dataset_at
from lab.bench import estate_rows
from lineage.names.keys import key

BUDGET_MS: Final = 50.0
BUDGET_PAGE_MS: Final = 200.0
LAYERS: Final = 20
_ROOTS = 50
_Pairs = list[tuple[int, int]]  # numbers of upstream and downstream


class BenchQuery(msgspec.Struct, frozen=True):
    """Queries, in turn; `sql`: one recursive query for the same of each of `roots`."""

    name: str
    paths: list[str]
    budget_ms: float | None  # None: shown beside the others
    sql: str | None = None
    roots: list[int] = []


class BenchEstate(msgspec.Struct, frozen=True):
    """Catalog to query. `is_marked`: the first dataset's whole downstream is in every result."""

    datasets: int
    pairs: _Pairs
    asked: Callable[[int], list[BenchQuery]]  # of so many datasets
    is_marked: bool = False


def estates(scale: float) -> Iterator[BenchEstate]:
    """Build estates of 5,000 datasets for lineage, of a million edges, and of 100,000 datasets."""
    chance = random.Random(4)  # noqa: S311 - the same estates each time
    few, many, pages = int(5_000 * scale), int(333_333 * scale), int(100_000 * scale)
    yield BenchEstate(
        few, list(dict.fromkeys(_spread(few, few // 2, chance))), _lineage, is_marked=True
    )
    yield BenchEstate(many, list(make_layers(many, 3 * many, chance)), _impact)
    yield BenchEstate(pages, list(make_layers(pages, 3 * pages, chance)), _pages)


def _spread(datasets: int, more: int, chance: random.Random) -> Iterator[tuple[int, int]]:
    """Build an estate where all is 20 hops from the first dataset or less; `more` edges beside."""
    width = -(-(datasets - 1) // LAYERS)
    for down in range(1, datasets):
        layer = (down - 1) // width
        yield (0 if layer == 0 else chance.randrange(width) + (layer - 1) * width + 1), down
    for down in chance.sample(range(1 + width, datasets), more):
        yield chance.randrange(width) + ((down - 1) // width - 1) * width + 1, down


def make_layers(datasets: int, edges: int, chance: random.Random) -> Iterator[tuple[int, int]]:
    """Return edges that lead down one layer or two, as an estate's do."""
    width, seen = datasets // LAYERS, set[tuple[int, int]]()
    while len(seen) < edges:
        layer = chance.randrange(LAYERS - 1)
        below = min(layer + chance.randrange(1, 3), LAYERS - 1)
        pair = layer * width + chance.randrange(width), below * width + chance.randrange(width)
        if pair not in seen:
            seen.add(pair)
            yield pair


def _of(number: int) -> str:
    return f"dataset={estate_rows.name_of(number)}&dataset_namespace={estate_rows.NAMESPACE}"


def _lineage(_: int) -> list[BenchQuery]:
    node = f"dataset:{estate_rows.NAMESPACE}:{estate_rows.name_of(0)}"
    whole = f"/api/v1/lineage?{_of(0)}&depth={LAYERS}"
    marquez = f"/api/v1/lineage?nodeId={node}&depth={LAYERS}"
    return [
        BenchQuery("lineage, depth 20", [whole], BUDGET_MS, "lineage", [0]),
        BenchQuery("the same in Marquez's shape", [marquez], None),
    ]


def _impact(datasets: int) -> list[BenchQuery]:
    some = roots(datasets)
    paths = [f"/api/v1/impact?{_of(number)}" for number in some]
    return [BenchQuery("impact", paths, BUDGET_MS, "impact", some)]


def _pages(datasets: int) -> list[BenchQuery]:
    named = [dataset_at(estate_rows.NAMESPACE, estate_rows.name_of(n)) for n in roots(datasets)]
    lists = ["/datasets", "/datasets?state=bad", "/datasets?find=table_12"]
    api = ["/api/v1/datasets?limit=100", "/api/v1/datasets?limit=100&state=good"]
    return [
        BenchQuery("page: overview", ["/"], BUDGET_PAGE_MS),
        BenchQuery("page: datasets", lists, BUDGET_PAGE_MS),
        BenchQuery("page: a dataset", named, BUDGET_PAGE_MS),
        BenchQuery("page: incidents", ["/incidents"], BUDGET_PAGE_MS),
        BenchQuery("API: a page of datasets", api, BUDGET_PAGE_MS),
    ]


def roots(datasets: int) -> list[int]:
    """Return some of them: the same each time."""
    return random.Random(5).sample(range(datasets), min(_ROOTS, datasets))  # noqa: S311


def keys_of(numbers: Iterable[int]) -> list[int]:
    """Return the queries of these datasets."""
    return [key(estate_rows.NAMESPACE, estate_rows.name_of(number)) for number in numbers]

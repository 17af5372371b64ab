"""How long the graph takes: loading a catalog of a million edges, closures, tier inheritance.

Run by hand, `python -m tests.bench.graph`: prints its figures and asserts none of them.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lineage.catalog.engine import catalog_url, migrate, open_catalog, writing
from lineage.catalog.tables import batch, edge
from lineage.graph import Graph, open_graph
from lineage.policy.tiers import inherit

EDGES = 1_000_000
LAYERS = 20
CLOSURES = 200


def main() -> None:
    """Print every figure, one a line."""
    chance = np.random.default_rng(4)
    upstream, downstream = _layered(chance, datasets=EDGES // 3, edges=EDGES)
    with tempfile.TemporaryDirectory() as folder:
        engine = open_catalog(catalog_url(Path(folder)))
        migrate(engine)
        _fill(engine, upstream, downstream)
        live = open_graph(engine)
        _report("load, s", _seconds(live.current))
        _report("current without a change, ms", 1000 * _seconds(live.current))
    graph = Graph(upstream, downstream)
    for name, start in (("downstream", upstream), ("upstream", downstream)):
        keys = chance.choice(start, CLOSURES)
        closures = [(_timed(getattr(graph, name), int(key), max_nodes=EDGES)) for key in keys]
        times, found = zip(*closures, strict=True)
        _report(f"{name} closure p50, ms", 1000 * float(np.median(times)))
        _report(f"{name} closure p95, ms", 1000 * float(np.quantile(times, 0.95)))
        _report(f"{name} closure, datasets on average", float(np.mean(found)))
    chain = np.arange(5_000, dtype=np.int64)
    _report("chain of 5,000, ms", 1000 * _timed(Graph(chain[:-1], chain[1:]).downstream, 0)[0])
    up, down = _layered(chance, datasets=100_000, edges=300_000)
    declared = dict.fromkeys(np.unique(down)[::20].tolist(), "critical")
    pairs = list(zip(up.tolist(), down.tolist(), strict=True))
    _report(
        "tiers, 100,000 datasets, s", _seconds(lambda: inherit(range(100_000), declared, pairs))
    )


def _layered(chance: np.random.Generator, *, datasets: int, edges: int) -> tuple[np.ndarray, ...]:
    """Edges that lead down at most two layers, as an estate's do."""
    width = datasets // LAYERS
    layer = chance.integers(0, LAYERS - 1, edges)
    below = np.minimum(layer + chance.integers(1, 3, edges), LAYERS - 1)
    upstream = layer * width + chance.integers(0, width, edges)
    downstream = below * width + chance.integers(0, width, edges)
    return upstream.astype(np.int64), downstream.astype(np.int64)


def _fill(engine, upstream, downstream) -> None:
    common = {
        "job_namespace": "n",
        "job_name": "j",
        "first_seen_at": 1,
        "last_seen_at": 1,
        "runs": 3,
    }
    rows = [
        {"upstream_key": u, "downstream_key": d, "job_key": position, **common}
        for position, (u, d) in enumerate(zip(upstream.tolist(), downstream.tolist(), strict=True))
    ]
    landed = {"query_id": "q", "batch_id": 1, "after_seq": 0, "last_seq": 1, "landed_at": 1}
    with writing(engine) as connection:
        connection.execute(edge.insert(), rows)
        connection.execute(batch.insert(), {**landed, "events": 1, "duplicates": 0})


def _timed(closure: Callable, key: int, **options: int) -> tuple[float, int]:
    started = time.perf_counter()
    found = closure(key, **options)
    return time.perf_counter() - started, len(found.keys)


def _seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _report(what: str, figure: float) -> None:
    sys.stdout.write(f"{what}: {figure:.2f}\n")


if __name__ == "__main__":
    main()

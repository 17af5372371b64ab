"""Graph at a past time: edges seen by then, each with its run."""

import msgspec

from lineage.catalog.meta_keys import HISTORY_FROM, INSTALLED
from lineage.catalog.reader import CatalogReader
from lineage.graph.walks import Walk
from lineage.process.clock import from_micros
from service.queries.dataset_lookup import KnownDataset
from service.queries.edge_runs import EdgeKeys, EdgeRun, EdgeRuns, edge_runs
from service.queries.run_shapes import IsoTime
from service.queries.timestamps import iso_of
from service.queries.visibility import EVERYTHING, Visibility
from service.queries.walk import DIRECTIONS, NEXT, CatalogWalk, all_named, build_tree, names_of

_NEXT = {way: f"{sql} AND first_seen_at <= :at" for way, sql in NEXT.items()}
_BEGAN = f"SELECT MIN(value) FROM meta WHERE name IN ('{INSTALLED}', '{HISTORY_FROM}')"  # noqa: S608


class PastNode(msgspec.Struct, frozen=True):
    """Dataset of a past tree; `repeated`: its own branch is shown elsewhere."""

    dataset_namespace: str
    dataset: str
    job_names: list[str]
    run: EdgeRun | None  # the newest that had made the edge to the node above by then
    repeated: bool
    children: "list[PastNode]"


class PastLineage(msgspec.Struct, frozen=True):
    """Upstream and downstream lineage of a dataset at a past time."""

    dataset_namespace: str
    dataset: str
    at: IsoTime
    upstream: list[PastNode]
    downstream: list[PastNode]
    depth: int
    partial: bool
    partial_reason: str | None


def past_lineage(  # noqa: PLR0913 - the last three by name
    reader: CatalogReader,
    dataset: KnownDataset,
    at: int,
    *,
    depth: int,
    direction: str = "both",
    visibility: Visibility = EVERYTHING,
) -> PastLineage:
    """Return the upstream tree, the downstream tree or both, as they were at `at` (µs).

    The answer is partial if more lies beyond the depth, if `at` is before the first event, or if
    runs of some edges were deleted. Hidden datasets are left out, with a reason.
    """
    key, namespace, name = dataset
    walks = {
        way: CatalogWalk(reader, _NEXT[way], visibility, {"at": at}).walked([key], depth)
        for way in DIRECTIONS[direction]
    }
    edges = {way: _edges(found, way) for way, found in walks.items()}
    runs = edge_runs(reader, set().union(*edges.values()), at, visibility)
    trees = {way: _tree(reader, found, way, runs.runs) for way, found in walks.items()}
    cuts = [f"{way}: {found.cut}" for way, found in walks.items() if found.cut]
    cuts += _forgotten(reader, at, runs)
    if any(found.hidden for found in walks.values()):
        cuts.append("parts are hidden from this token")
    return PastLineage(
        dataset_namespace=namespace,
        dataset=name,
        at=iso_of(at),
        upstream=trees.get("upstream", []),
        downstream=trees.get("downstream", []),
        depth=depth,
        partial=bool(cuts),
        partial_reason="; ".join(cuts) or None,
    )


def _forgotten(reader: CatalogReader, at: int, runs: EdgeRuns) -> list[str]:
    began = reader.rows(_BEGAN)[0][0]
    texts = []
    if began is None or at < int(began):
        since = (
            "no events have been observed yet" if began is None else f"watched since {_day(began)}"
        )
        texts.append(f"no data for that time: {since}")
    if runs.unknown:
        texts.append(
            f"{runs.unknown} edges have no stored successful run at that time: the run failed, or"
            " was deleted (LINEWARD_PIPELINE_WRITE_DAYS)"
        )
    return texts


def _day(micros: str) -> str:
    return from_micros(int(micros)).isoformat(timespec="seconds").replace("+00:00", "Z")


def _edges(found: Walk, way: str) -> set[EdgeKeys]:
    return {_edge(here, other, way) for here, other in found.ends()}


def _edge(here: int, other: int, way: str) -> EdgeKeys:
    return (other, here) if way == "upstream" else (here, other)


def _tree(
    reader: CatalogReader, found: Walk, way: str, runs: dict[EdgeKeys, EdgeRun]
) -> list[PastNode]:
    """Return the tree of a walk at a past time, from its start."""
    keys, known = found.keys, names_of(reader, found.keys)
    names = all_named(keys, map(known.get, keys))

    def node(here: int, at: int, jobs: list[str], below: list[PastNode] | None) -> PastNode:
        run = runs.get(_edge(keys[here], keys[at], way))
        children = [] if below is None else below
        return PastNode(*names[at], jobs, run, below is None, children)

    return build_tree(found, node)

"""What a dataset is made of, and what is made of it, as two trees.

A dataset stands once with its own branch, at its shortest distance; elsewhere in the tree it is
only named (`repeated`): a graph with diamonds would otherwise grow without end as a tree.
"""

from collections.abc import Iterable

from lineage.catalog.reader import Reader, rows_for
from service.access.sight import EVERYTHING, Sight
from service.answers.datasets import states_of
from service.answers.moments import Evaluated
from service.answers.named import Dataset
from service.answers.runs import last_run
from service.answers.shapes import Lineage, Node
from service.answers.walk import DIRECTIONS, NAMES, NEXT, Steps, Walk, walked


def lineage(  # noqa: PLR0913 - the last three by name
    reader: Reader,
    dataset: Dataset,
    evaluated: Evaluated,
    *,
    depth: int,
    direction: str = "both",
    sight: Sight = EVERYTHING,
) -> Lineage:
    """Both trees, or the one asked for, to `depth` steps away.

    Partial when there is more beyond the depth, or more than `MOST_NODES` datasets. What may not be
    seen is counted beside each dataset, and nothing beyond it is followed.
    """
    key, namespace, name = dataset
    walks = {
        way: walked(Steps(reader, NEXT[way], sight), key, depth) for way in DIRECTIONS[direction]
    }
    keys = {key}.union(*(found.found_by for found in walks.values()))
    draw = _Drawing(reader, keys, evaluated)
    cuts = [f"{way}: {found.cut}" for way, found in walks.items() if found.cut]
    trees = {way: draw.branches(found, key) for way, found in walks.items()}
    return Lineage(
        dataset_namespace=namespace,
        dataset=name,
        state=draw.states[key],
        upstream=trees.get("upstream", []),
        downstream=trees.get("downstream", []),
        last_run=last_run(reader, key, sight),
        depth=depth,
        partial=bool(cuts),
        partial_reason="; ".join(cuts) or None,
        hidden_upstream=_hidden(walks.get("upstream"), key),
        hidden_downstream=_hidden(walks.get("downstream"), key),
    )


def _hidden(found: Walk | None, key: int) -> int:
    return 0 if found is None else len(found.hidden.get(key, ()))


class _Drawing:
    """Names and states of the datasets that a tree is drawn of."""

    def __init__(self, reader: Reader, keys: Iterable[int], evaluated: Evaluated) -> None:
        wanted = list(keys)
        self.states = states_of(reader, wanted, evaluated)
        self._names = {row[0]: (row[1], row[2]) for row in rows_for(reader, NAMES, wanted)}

    def branches(self, found: Walk, key: int) -> list[Node]:
        """What hangs on this dataset, by name."""
        others = found.neighbours.get(key, {})
        nodes = [self._node(found, key, other, jobs) for other, jobs in others.items()]
        return sorted(nodes, key=lambda node: (node.dataset_namespace, node.dataset))

    def _node(self, found: Walk, parent: int, key: int, jobs: set[str]) -> Node:
        namespace, name = self._names.get(key, ("", f"(unknown dataset {key})"))
        repeated = found.found_by[key] != parent
        children = [] if repeated else self.branches(found, key)
        told = (namespace, name, self.states[key], sorted(jobs), repeated, children)
        return Node(*told, hidden=_hidden(found, key))

"""What a dataset is made of, and what is made of it, as two trees."""

from lineage.walks import Walk
from service.answers.datasets import states_of
from service.answers.named import Dataset
from service.answers.runs import last_run
from service.answers.shapes import Lineage, Node
from service.answers.trees import branches
from service.answers.walk import DIRECTIONS, all_named, named, walked
from service.asking import Question


def lineage(asked: Question, dataset: Dataset, *, depth: int, direction: str = "both") -> Lineage:
    """Both trees, or the one asked for, to `depth` steps away.

    Partial when there is more beyond the depth, or more than `MOST_NODES` datasets. What may not be
    seen is counted beside each dataset, and nothing beyond it is followed.
    """
    key, namespace, name = dataset
    walks = {way: walked(asked, way, [key], depth) for way in DIRECTIONS[direction]}
    draw = _Drawing(asked, {key}.union(*(found.found_by for found in walks.values())))
    cuts = [f"{way}: {found.cut}" for way, found in walks.items() if found.cut]
    trees = {way: draw.tree(found, key) for way, found in walks.items()}
    return Lineage(
        dataset_namespace=namespace,
        dataset=name,
        state=draw.states[key],
        upstream=trees.get("upstream", []),
        downstream=trees.get("downstream", []),
        last_run=last_run(asked.reader, key, asked.sight),
        depth=depth,
        partial=bool(cuts),
        partial_reason="; ".join(cuts) or None,
        hidden_upstream=_hidden(walks.get("upstream"), key),
        hidden_downstream=_hidden(walks.get("downstream"), key),
    )


def _hidden(found: Walk | None, key: int) -> int:
    return 0 if found is None else found.hidden_next_to(key)


class _Drawing:
    """Names and states of the datasets that a tree is drawn of."""

    def __init__(self, asked: Question, keys: set[int]) -> None:
        self.states = states_of(asked.reader, list(keys), asked.evaluated)
        self._names = all_named(keys, named(asked, keys))

    def tree(self, found: Walk, start: int) -> list[Node]:
        """What hangs on this dataset."""
        names, states = self._names, self.states
        hidden = {key: len(others) for key, others in found.hidden.items()}

        def node(_: int, key: int, jobs: list[str], below: list[Node] | None) -> Node:
            namespace, name = names[key]
            beyond = [] if below is None else below
            return Node(
                namespace, name, states[key], jobs, below is None, beyond, hidden.get(key, 0)
            )

        return branches(found, start, node)

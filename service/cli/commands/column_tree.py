"""Lineage of a column as people read it in a terminal."""

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from service.cli.terminal import plain
from service.queries.column_shapes import ColumnLineage, ColumnNode
from service.queries.columns import describe


def column_drawing(answer: ColumnLineage) -> RenderableType:
    """Draw both trees, one below the other."""
    head = Text.assemble(
        plain(f"{answer.dataset}.{answer.column}", "bold"),
        plain(f"  {answer.type}" if answer.type else ""),
        plain(f"  {answer.dataset_namespace}", "dim"),
    )
    return Group(
        head,
        _tree("upstream columns", answer.upstream),
        _tree("downstream columns", answer.downstream),
    )


def _tree(title: str, nodes: list[ColumnNode]) -> Tree:
    tree = Tree(plain(title if nodes else f"{title}: none known", "bold"))
    _grow(tree, nodes)
    return tree


def _grow(tree: Tree, nodes: Iterable[ColumnNode]) -> None:
    for node in nodes:
        how = plain("".join(f"  {describe(one)}" for one in node.transformations), "dim")
        again = plain("  (its branch is elsewhere)" if node.repeated else "", "dim")
        label = Text.assemble(plain(f"{node.dataset}.{node.column}"), how, again)
        _grow(tree.add(label), node.children)

"""Columns of a row that a module reads by their positions instead of their names."""

import ast
from collections.abc import Iterator

# Methods and functions that return rows, and those that return one row.
_RETURN_ROWS = frozenset(
    ("rows", "rows_for", "execute", "exec_driver_sql", "all", "fetchall", "partitions")
)
_RETURN_ROW = frozenset(("one", "one_or_none", "fetchone", "first"))
_PASS_ROWS_ON = frozenset(("reversed", "sorted", "list", "tuple", "iter"))
_HIGHEST_POSITION = 1
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module | ast.Lambda


def find_positions(source: str) -> Iterator[str]:
    """Yield each positional use of a row's third or a later column, with its line.

    These are `row[2]`, `row[-1]`, `row[1:]`, `Shape(*row)`, and `first, *rest = row`. Rows are
    followed inside of a function: from the query to loops, and by the annotation `Row`.
    """
    tree = ast.parse(source)
    for scope in ast.walk(tree):
        if isinstance(scope, _Scope):
            yield from _Rows(scope).uses()


class _Rows:
    """Names of rows, and of lists of rows, in one function."""

    def __init__(self, scope: _Scope) -> None:
        self._nodes = list(_own_nodes(scope))
        self._row: set[str] = set()
        self._rows: set[str] = set()
        if not isinstance(scope, ast.Module):
            self._learn_arguments(scope.args)
        for _ in range(3):  # a loop may stand before the name that it loops over is known
            for node in self._nodes:
                self._learn(node)

    def uses(self) -> Iterator[str]:
        """Yield the positional uses."""
        for node in self._nodes:
            if self._is_positional(node):
                yield f"{node.lineno}: {ast.unparse(node)}"

    def _learn_arguments(self, arguments: ast.arguments) -> None:
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            annotation = ast.unparse(each.annotation) if each.annotation else ""
            if annotation.partition("[")[0] == "Row":
                self._row.add(each.arg)
            elif annotation.endswith(("[Row]", "[Row[Any]]")):
                self._rows.add(each.arg)

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.For | ast.comprehension) and self._are_rows(node.iter):
            self._row |= _names(node.target)
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._learn_assigned(target, node.value)

    def _learn_assigned(self, target: ast.expr, value: ast.expr) -> None:
        if self._is_row(value):
            self._row |= _names(target)
        elif self._are_rows(value):
            is_only_row = isinstance(target, ast.Tuple | ast.List) and len(target.elts) == 1
            (self._row if is_only_row else self._rows).update(_names(target, of_one=is_only_row))

    def _are_rows(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self._rows
        if isinstance(node, ast.Subscript):
            return isinstance(node.slice, ast.Slice) and self._are_rows(node.value)
        if isinstance(node, ast.BoolOp):
            return any(map(self._are_rows, node.values))
        if isinstance(node, ast.Call):
            name = _called(node)
            passes_on = name in _PASS_ROWS_ON and bool(node.args) and self._are_rows(node.args[0])
            return name in _RETURN_ROWS or passes_on
        return isinstance(node, ast.ListComp | ast.GeneratorExp) and self._is_row(node.elt)

    def _is_row(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self._row
        if isinstance(node, ast.Subscript):
            return not isinstance(node.slice, ast.Slice) and self._are_rows(node.value)
        return isinstance(node, ast.Call) and _called(node) in _RETURN_ROW and not node.args

    def _is_positional(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Subscript):
            return self._is_row(node.value) and _is_far(node.slice)
        if isinstance(node, ast.Call):
            starred = [each.value for each in node.args if isinstance(each, ast.Starred)]
            return any(map(self._is_row, starred))
        if isinstance(node, ast.For | ast.comprehension):
            return _has_star(node.target) and self._are_rows(node.iter)
        if isinstance(node, ast.Assign):
            return any(map(_has_star, node.targets)) and self._is_row(node.value)
        return False


def _own_nodes(scope: _Scope) -> Iterator[ast.AST]:
    """Yield what stands in a function, and not in a function within it."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, _Scope):
            yield from _own_nodes(child)


def _names(target: ast.expr, *, of_one: bool = False) -> set[str]:
    """Return the name that is bound; of `(row,) = …` that within."""
    if of_one and isinstance(target, ast.Tuple | ast.List):
        return _names(target.elts[0])
    return {target.id} if isinstance(target, ast.Name) else set()


def _called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _is_far(index: ast.expr) -> bool:
    if isinstance(index, ast.Constant):
        return isinstance(index.value, int) and index.value > _HIGHEST_POSITION
    if isinstance(index, ast.Slice):
        return all(isinstance(each, ast.Constant | None) for each in (index.lower, index.upper))
    return isinstance(index, ast.UnaryOp)


def _has_star(target: ast.expr) -> bool:
    return any(isinstance(each, ast.Starred) for each in ast.walk(target))

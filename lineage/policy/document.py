"""YAML text with the line of every value."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.resolver import Resolver

_Step = str | int

_PATH_STEP = re.compile(r"\.(?P<key>[^.\[\]]+)|\[(?P<index>[0-9]+)\]")
_LONGEST_VALUE = 80


class PolicyError(ValueError):
    """Error: the file is invalid. The text names the file, the line, the path and the problem."""


class _Loader(Composer, CParser, SafeConstructor, Resolver):
    """Plain values only; decimal numbers as they are written, so that 0.999 stays 0.999.

    Libyaml reads the text in a fifth of the time; Python composes it, since an endless nesting
    crashes an interpreter that composes in C.
    """

    def __init__(self, text: str) -> None:
        CParser.__init__(self, text)
        Composer.__init__(self)
        SafeConstructor.__init__(self)
        Resolver.__init__(self)


def _decimal(_loader: yaml.SafeLoader, node: yaml.ScalarNode) -> Decimal | float:
    try:
        return Decimal(node.value)
    except ArithmeticError:
        return float("nan")  # .inf and .nan: no field takes them


_Loader.add_constructor("tag:yaml.org,2002:float", _decimal)


class Document:
    """Plain values of a text, and the line of each.

    Attributes:
        content: mappings, lists and scalars; None for a text without any.
    """

    def __init__(self, text: str, file: str) -> None:
        """Parse the text.

        Raises:
            PolicyError: it is no YAML, or a mapping has a key twice.
        """
        self._file = file
        try:
            loader = _Loader(text)
            self._root = loader.get_single_node()
            self._reject_repeated_keys()
            self.content: Any = None
            if self._root is not None:
                self.content = loader.construct_document(self._root)
        except PolicyError:
            raise
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise PolicyError(self._message(line, "$", str(error.problem))) from error
        except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
            first_line = str(error).partition("\n")[0]
            raise PolicyError(self._message(1, "$", first_line)) from error

    def error_at(self, path: str, what: str) -> PolicyError:
        """Return the error that names a problem at a path such as `$.owners[1].slack`."""
        return PolicyError(self._message(self._line(path), path, what))

    def value(self, path: str) -> str | None:
        """Return the scalar at a path, as written and cut to 80 characters.

        None for what is none.
        """
        node = self._nodes(path)[-1]
        if not isinstance(node, yaml.ScalarNode):
            return None
        return repr(node.value[:_LONGEST_VALUE])

    def _message(self, line: int, path: str, what: str) -> str:
        return f"{self._file}:{line}: {path}: {what}"

    def _line(self, path: str) -> int:
        node = self._nodes(path)[-1]
        return node.start_mark.line + 1 if node is not None else 1

    def _nodes(self, path: str) -> list[Any]:
        """Return the nodes along the path, as far as the text has them."""
        nodes = [self._root]
        for step in _steps(path):
            child = _child(nodes[-1], step)
            if child is None:
                break
            nodes.append(child)
        return nodes

    def _reject_repeated_keys(self) -> None:
        for node in _walk(self._root):
            seen: set[str] = set()
            for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
                if key.value in seen:
                    message = self._message(key.start_mark.line + 1, "$", f"{key.value!r} twice")
                    raise PolicyError(message)
                seen.add(key.value)


def _steps(path: str) -> Iterator[_Step]:
    for step in _PATH_STEP.finditer(path):
        yield step["key"] if step["key"] is not None else int(step["index"])


def _child(node: Any, step: _Step) -> Any:  # noqa: ANN401 - a node of PyYAML, which has no types
    if isinstance(node, yaml.MappingNode):
        # The key is where a person looks; its value may begin lines further down.
        return next((_placed(key, value) for key, value in node.value if key.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        return node.value[step] if step < len(node.value) else None
    return None


def _placed(key: Any, value: Any) -> Any:  # noqa: ANN401 - nodes of PyYAML
    value.start_mark = key.start_mark
    return value


def _walk(node: Any) -> Iterator[Any]:  # noqa: ANN401 - a node of PyYAML
    if node is None:
        return
    yield node
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _walk(key)
            yield from _walk(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _walk(item)

"""Descriptions of what a setting or a key of the policy expects, in place of msgspec's words."""

import re
from typing import Any

from msgspec import inspect

_BOUND = re.compile(r"(?:>=|<=|>|<) [\d.]+$")
_Number = inspect.IntType | inspect.FloatType


def describe_expected(kind: Any, problem: str) -> str | None:  # noqa: ANN401 - msgspec's types of types
    """Return the words, the range or the type that a value must have; None: msgspec says it.

    A pattern needs a description: `Meta(pattern=…, description="a number with m or g")`.

    Args:
        kind: of the value, by `msgspec.inspect`.
        problem: msgspec's message, without its path.
    """
    kinds = getattr(kind, "types", (kind,))
    words = [
        str(value)
        for one in kinds
        if isinstance(one, inspect.LiteralType | inspect.EnumType)
        for value in _values(one)
    ]
    if words:
        return f"one of {', '.join(words)}"
    if described := _describe(kinds, problem):
        return described
    numbers = [one for one in kinds if isinstance(one, _Number)]
    if len(numbers) != 1:
        return None
    return _range(numbers[0]) if _BOUND.search(problem.replace("`", "")) else "a number"


def _describe(kinds: tuple[Any, ...], problem: str) -> str | None:
    """Return the description of a pattern, or the words for a type without a range."""
    for one in kinds:
        if isinstance(one, inspect.Metadata):
            return (one.extra_json_schema or {}).get("description")
        if isinstance(one, inspect.BoolType):
            return "true or false"
        if isinstance(one, inspect.StrType) and problem.endswith("of length >= 1"):
            return "a text that is not empty"
    return None


def _values(kind: inspect.LiteralType | inspect.EnumType) -> list[Any]:
    if isinstance(kind, inspect.LiteralType):
        return list(kind.values)
    return [member.value for member in kind.cls]


def _range(kind: _Number) -> str:
    low = _bound(kind.ge, "or more") or _bound(kind.gt, "", "more than ")
    high = _bound(kind.le, "or less") or _bound(kind.lt, "", "less than ")
    if kind.ge is not None and kind.le is not None:
        return f"{kind.ge:.12g} to {kind.le:.12g}"
    return " and ".join(filter(None, (low, high)))


def _bound(value: float | None, after: str, before: str = "") -> str:
    return "" if value is None else f"{before}{value:.12g} {after}".strip()

"""Matchers of Alertmanager, as both its older parser and the one of 0.27 and newer read them."""

import re
from collections.abc import Iterable


def equal(label: str, value: str) -> str:
    """`label="value"`, whatever the value is."""
    return f"{label}={_quoted(value)}"


def unequal(label: str, value: str) -> str:
    """`label!="value"`; of the empty text: the label is there."""
    return f"{label}!={_quoted(value)}"


def one_of(label: str, values: Iterable[str]) -> str:
    """The label is one of these."""
    return f"{label}=~{_quoted('|'.join(map(re.escape, values)))}"


def none_of(label: str, values: Iterable[str]) -> str:
    """The label is none of these, or not there."""
    return f"{label}!~{_quoted('|'.join(map(re.escape, values)))}"


def _quoted(text: str) -> str:
    # The older parser knows these three escapes alone, and keeps all else as it stands.
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'

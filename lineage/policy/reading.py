"""Parsing of `lineward.yaml`; errors name the line, the path and the value."""

import difflib
import re
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect

from lineage.policy.checks import problems
from lineage.policy.document import Document, PolicyError
from lineage.policy.model import Policy
from lineage.process.expected_values import describe_expected

__all__ = ["PolicyError", "load_policy", "parse_policy"]

_AT = re.compile(r"(?P<what>.*?)(?: - at `(?P<path>[^`]*)`)?", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<field>.*)`", re.DOTALL)
_EMPTY = "write `{}` for a policy that says nothing, or name no file"
_STEP = re.compile(r"\.[^.\[\]]+|\[[^\]]*\]")


def load_policy(path: Path) -> Policy:
    """Load the policy from a file.

    Raises:
        PolicyError: it cannot be read, or says something that it may not.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path.name}: cannot be read: {error}"
        raise PolicyError(message) from error
    return parse_policy(text, path.name)


def parse_policy(text: str, file: str = "lineward.yaml") -> Policy:
    """Parse the policy in a text; `file` is its name in messages.

    Raises:
        PolicyError: it says something that it may not.
    """
    document = Document(text if text.strip() else "", file)
    if document.content is None:
        # A file is empty for a moment while it is rewritten, and a key of a ConfigMap may be.
        raise document.error_at("$", f"the file is empty: {_EMPTY}")
    try:
        policy = msgspec.convert(_with_access(document.content), Policy)
    except msgspec.ValidationError as error:
        raise _error_of(str(error), document) from error
    for path, what in problems(policy):
        raise document.error_at(path, what)
    return policy


def _with_access(content: Any) -> Any:  # noqa: ANN401 - plain values
    """Replace `access: off`, which YAML reads as false, by a section."""
    access = content.get("access") if isinstance(content, dict) else None
    if access is False or access == "off":
        return {**content, "access": {"off": True}}
    return content


def _error_of(message: str, document: Document) -> PolicyError:
    found = _AT.fullmatch(message)
    what, path = (found["what"], found["path"] or "$") if found else (message, "$")
    if unknown := _UNKNOWN.fullmatch(what):
        field = unknown["field"]
        return document.error_at(
            f"{path}.{field}", f"unknown key {field!r}{_key_hint(field, path)}"
        )
    # Where a hash is asked for, somebody may have put the token itself.
    value = None if path.endswith(".sha256") else document.value(path)
    expected = describe_expected(_kind_at(path), what)
    if expected is not None and value is not None:
        return document.error_at(path, f"expected {expected}, got {value}")
    shown = f": {value}" if value is not None else ""
    return document.error_at(path, _readable(what) + shown)


def _key_hint(field: str, path: str) -> str:
    known = _fields_at(path)
    if near := difflib.get_close_matches(field, known, n=1):
        return f"; did you mean {near[0]!r}?"
    return f"; one of {', '.join(known)}" if known else ""


def _readable(what: str) -> str:
    return what[:1].lower() + what[1:].replace("`", "").replace(" | null", "")


def _fields_at(path: str) -> list[str]:
    """Return the keys that the policy knows at this path."""
    structs = [kind for kind in _options(_kind_at(path)) if isinstance(kind, inspect.StructType)]
    return [field.encode_name for struct in structs for field in struct.fields]


def _kind_at(path: str) -> Any:  # noqa: ANN401 - msgspec's types of types
    kind: Any = _policy_type()
    for step in _STEP.findall(path):
        if isinstance(kind, inspect.StructType):
            fields = {field.encode_name: field.type for field in kind.fields}
            kind = fields.get(step.lstrip("."))
        else:
            kind = getattr(kind, "item_type", None)
    return kind


@cache
def _policy_type() -> Any:  # noqa: ANN401 - msgspec's types of types
    return inspect.type_info(Policy)


def _options(kind: Any) -> tuple[Any, ...]:  # noqa: ANN401 - msgspec's types of types
    return getattr(kind, "types", (kind,))

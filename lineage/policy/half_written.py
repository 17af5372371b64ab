"""Check for a new version of the policy file that may be half-written.

A half-written file is valid YAML where it ends between two lines, so the text alone shows nothing.
The line `...`, which ends a YAML document, cannot be in a file that ends before it.
"""

import re
from collections.abc import Iterator

import msgspec

from lineage.policy.access import AccessToken
from lineage.policy.document import Document, PolicyError
from lineage.policy.model import Policy

_END = re.compile(r"^\.\.\.(?:[ \t]+#[^\n]*)?[ \t]*\Z", re.MULTILINE)  # a comment may follow
_IF_COMPLETE = "if the file is complete, end it with"
_ADD_BREAK = f"{_IF_COMPLETE} a line break"
_ADD_END = f"{_IF_COMPLETE} the line `...`"


class FileVersion(msgspec.Struct, frozen=True):
    """Version of the policy file."""

    text: str
    policy: Policy


def reject_half_written(old: FileVersion, new: FileVersion, file: str) -> None:
    """Reject a version that is half-written, or may be and gives a token more rights.

    Raises:
        PolicyError: the version lacks the end that it needs.
    """
    if new.policy == old.policy or has_last_line(new.text):
        return
    if problem := _missing_end(old.text, new.text):
        raise PolicyError(f"{file}: {problem}")
    for path, problem in _more(old.policy, new.policy):
        raise Document(new.text, file).error_at(path, f"{problem}: {_ADD_END}")


def has_last_line(text: str) -> bool:
    """Return whether a text ends with the line `...`, so that it cannot be half-written."""
    return _END.search(text.rstrip()) is not None


def _missing_end(old: str, new: str) -> str | None:
    """Return why a text looks like a file whose last lines are missing; None for any other."""
    # Templates of Kubernetes and some editors end no file with a line break.
    if old.endswith("\n") and not new.endswith("\n"):
        return f"ends in the middle of a line, as a half-written file does: {_ADD_BREAK}"
    if _is_beginning(new, old):
        return f"is the beginning of the file in force, as a half-written file is: {_ADD_END}"
    if has_last_line(old):
        return f"lacks the line `...`, with which the file in force ends: {_ADD_END}"
    return None


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def _is_beginning(text: str, whole: str) -> bool:
    """Return whether a text is the beginning of another, cut between two lines or in one."""
    lines, all_lines = _lines(text), _lines(whole)
    if not text.endswith("\n") and whole.startswith(text):
        return len(text) < len(whole.rstrip())
    return len(lines) < len(all_lines) and all_lines[: len(lines)] == lines


def _more(old: Policy, new: Policy) -> Iterator[tuple[str, str]]:
    """Yield what lets in more people than before: path and problem."""
    if old.people and not new.people:
        yield "$", "the section people is gone, and every user of Slack may answer"
    yield from _wider_tokens(old, new)


def _wider_tokens(old: Policy, new: Policy) -> Iterator[tuple[str, str]]:
    if old.guard is None or new.guard is None:
        return
    known = {_secret(token): token for token in old.guard.tokens}
    for number, token in enumerate(new.guard.tokens):
        if problem := _more_rights(known.get(_secret(token)), token):
            yield f"$.access.tokens[{number}]", f"the token {token.name!r} {problem}"


def _secret(token: AccessToken) -> tuple[str | None, str | None]:
    return token.sha256, token.token_file


def _more_rights(old: AccessToken | None, new: AccessToken) -> str | None:
    """Return how a token may do more than before; None where it may not."""
    if old is None:
        return "is new"  # its last lines, which restrict it, may be missing
    if "*" not in old.namespaces and not set(new.namespaces) <= set(old.namespaces):
        return "sees more namespaces than before"
    if "admin" not in old.roles and not set(new.roles) <= set(old.roles):
        return "has more roles than before"
    if old.expires is not None and (new.expires is None or new.expires > old.expires):
        return "expires later than before, or never"
    return None

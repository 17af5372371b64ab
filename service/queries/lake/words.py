"""Words by which events that name a dataset are found: bodies are searched, and not read."""

import re
from collections.abc import Iterable
from typing import Final

from lineage.names.keys import CUT
from lineage.names.names import split_joined
from lineage.policy import Policy, folding
from lineage.policy.folds import pattern_parts

# No encoder of JSON writes these as escapes, and no rule that folds names changes them.
_WORD: Final = re.compile(r"[A-Za-z0-9_]+", re.ASCII)
_CHANGING: Final = re.compile(r"\{[^{}]*\}|[*?]")  # in the patterns of folds
_REDACTED: Final = re.compile(r"\[redacted\]")
_SHORTEST, _LONGEST = 3, 100
Name = tuple[str, str]


def words_of(names: Iterable[Name], policy: Policy) -> tuple[str, ...]:
    """Return words of which each event that names one of these has one; none: read all events.

    Args:
        names: of one dataset: its own, and all that lead to it.
        policy: its folds and aliases lead other names to them.
    """
    known = set(names)
    texts = {name for _, name in known}
    texts |= {name for (_, name), dataset in policy.overrules() if dataset in known}
    patterns = [pattern_parts(fold.match)[1] for fold in _folds_to(known, policy)]
    words = {_word(_parts(text)) for text in texts}
    words |= {_word([pattern]) for pattern in patterns}
    # A word that is too short is in most events.
    return () if "" in words else tuple(sorted(words))


def _folds_to(known: set[Name], policy: Policy) -> Iterable:  # type: ignore[type-arg]
    ready = folding(policy).folds
    return (policy.folds[fold.position] for fold in ready if fold.dataset in known)


def _parts(name: str) -> list[str]:
    """Return the parts of a name, the last one first: folders and schemas have many tables."""
    return re.split(r"[/.]", _REDACTED.sub("/", name.partition(CUT)[0]))[::-1]


def _word(parts: Iterable[str]) -> str:
    """Return the longest word of the first part that has one; empty where all are short."""
    found = (_WORD.findall(_CHANGING.sub("/", part)) for part in parts)
    longest = (max(words, key=len, default="") for words in found)
    return next((word[:_LONGEST] for word in longest if len(word) >= _SHORTEST), "")


def name_given(dataset: str, namespace: str | None) -> Name | None:
    """Return namespace and name of a dataset as they were given; None without a namespace."""
    name = (namespace, dataset) if namespace is not None else split_joined(dataset)
    return name if name[0] else None

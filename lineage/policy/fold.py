"""Fold of the policy: the names that have a pattern are one dataset.

The part that changes is a word of `lineage.names.patterns`, as `{date}` or `{n}`, or a wildcard.
"""

import re
from collections.abc import Iterator

import msgspec

from lineage.names.names import Name, split_joined
from lineage.names.patterns import PARTS
from lineage.policy.patterns import Pattern, PatternParts, dataset_of, with_usual_scheme

# Within one part of a path: a star that took slashes too would make all tables of a folder one.
_WILD = {"*": r"[^/\x00]+", "?": r"[^/\x00]"}
_WORDS = {part.word: part.expression for part in PARTS}
_CHANGES = re.compile(r"(\{[^{}]*\}|[*?])")
_SCHEME = re.compile(r"[a-z0-9+.-]+://")
_KEPT = re.compile(r"[^\W_]")
# Each more star in a part of a path multiplies the ways to try by the length of the part.
_MOST_STARS, _LONGEST_NAME = 2, 1_000


class Fold(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fold: every dataset whose name has the pattern `match` is `dataset`."""

    match: Pattern
    dataset: Pattern


class ReadyFold(msgspec.Struct, frozen=True):
    """Fold compiled to test very many names.

    Attributes:
        position: in the policy, from 0.
        namespace_start: literal start of the namespaces; `name_start` of the names.
        specificity: more characters that stand for themselves, then more words, then later.
    """

    position: int
    namespace: re.Pattern[str]
    namespace_start: str
    name: re.Pattern[str]
    name_start: str
    dataset: Name
    specificity: tuple[int, int, int]

    def matches(self, namespace: str, name: str) -> bool:
        """Return whether a dataset of this folded name belongs to the fold."""
        return (
            name.startswith(self.name_start)
            and len(name) <= _LONGEST_NAME
            and namespace.startswith(self.namespace_start)
            and self.name.fullmatch(name) is not None
            and self.namespace.fullmatch(namespace) is not None
        )


def compile_fold(fold: Fold, position: int) -> ReadyFold | None:
    """Compile the fold; None for a fold with a problem."""
    dataset = dataset_of(fold.dataset)
    if dataset is None or next(_problems_of(fold), None):
        return None
    namespace, name = pattern_parts(fold.match)
    pieces = _CHANGES.split(namespace) + _CHANGES.split(name)
    return ReadyFold(
        position=position,
        namespace=_compiled(namespace),
        namespace_start=_CHANGES.split(namespace)[0],
        name=_compiled(name),
        name_start=_CHANGES.split(name)[0],
        dataset=dataset,
        specificity=(
            sum(len(piece) for piece in pieces if not _CHANGES.fullmatch(piece)),
            sum(piece in _WORDS for piece in pieces),
            position,
        ),
    )


def pattern_parts(match: Pattern) -> Name:
    """Return the patterns of namespace and name, in the spelling that names are folded to."""
    if isinstance(match, PatternParts):
        namespace, name = match.namespace, match.name
    else:
        namespace, name = split_joined(match)
    return with_usual_scheme(namespace), name.rstrip("/")


def _compiled(pattern: str) -> re.Pattern[str]:
    known = {**_WILD, **_WORDS}
    pieces = (known.get(piece) or re.escape(piece) for piece in _CHANGES.split(pattern))
    return re.compile("".join(pieces), re.ASCII)


def problems_of(fold: Fold, path: str) -> Iterator[tuple[str, str]]:
    """Yield the problems of the fold by itself, each with its path."""
    yield from ((f"{path}.{field}", what) for field, what in _problems_of(fold))


def _problems_of(fold: Fold) -> Iterator[tuple[str, str]]:
    namespace, name = pattern_parts(fold.match)
    changing = [*_CHANGES.findall(namespace), *_CHANGES.findall(name)]
    unknown = [one for one in changing if one not in _WORDS and one not in _WILD]
    if unknown:
        yield "match", f"unknown word {unknown[0][:80]!r}; one of {', '.join(_WORDS)}, *, ?"
    elif any(part.count("*") > _MOST_STARS for part in [namespace, *name.split("/")]):
        yield "match", "more than two stars in one part of a path: write more of what stays"
    elif not changing:
        yield "match", "nothing in it changes: one name of a dataset stands under aliases"
    elif not _keeps_something(_SCHEME.sub("", namespace)):
        yield "match", "is of every namespace: write what stays of it, as in s3://bucket/run_{n}"
    elif not _keeps_something(name):
        yield "match", "matches every name: write what stays of it, as in run_{n}"
    if any(map(_CHANGES.search, _texts(fold.dataset))):
        yield "dataset", "expected one dataset, without wildcards and words such as {n}"
    elif not all(dataset_of(fold.dataset) or ("",)):
        yield "dataset", "needs a namespace and a name, as in s3://bucket/run"


def _texts(pattern: Pattern) -> tuple[str, ...]:
    if isinstance(pattern, PatternParts):
        return pattern.namespace, pattern.name
    return (pattern,)


def _keeps_something(pattern: str) -> bool:
    return _KEPT.search(_CHANGES.sub("", pattern)) is not None

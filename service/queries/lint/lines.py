"""Lines of the policy, each as a person copies it."""

import json

from lineage.names.names import join_parts, split_joined
from lineage.policy.folds import Fold
from lineage.policy.patterns import Pattern, PatternParts, dataset_of

_Name = tuple[str, str]


def alias_line(name: _Name, dataset: _Name) -> str:
    """Return a line of `aliases:`."""
    return f"- {{name: {_quoted(join_parts(*name))}, dataset: {_quoted(join_parts(*dataset))}}}"


def apart_line(name: _Name, dataset: _Name) -> str:
    """Return a line of `aliases:` that keeps two datasets apart."""
    both = f"name: {_quoted(join_parts(*name))}, dataset: {_quoted(join_parts(*dataset))}"
    return f"- {{{both}, apart: true}}"


def tier_line(dataset: _Name, tier: str) -> str:
    """Return a line of `datasets:`."""
    return f"- {{match: {_written(pattern_of_both(*dataset))}, tier: {tier}}}"


def fold_line(fold: Fold) -> str:
    """Return a line of `folds:`."""
    return f"- {{match: {_written(fold.match)}, dataset: {_written(fold.dataset)}}}"


def pattern_of_both(namespace: str, name: str) -> Pattern:
    """Return one joined pattern if it is unambiguous, else its two parts."""
    text = join_parts(namespace, name)
    return text if split_joined(text) == (namespace, name) else PatternParts(namespace, name)


def _written(pattern: Pattern) -> str:
    if isinstance(pattern, PatternParts):
        return f"{{namespace: {_quoted(pattern.namespace)}, name: {_quoted(pattern.name)}}}"
    return _quoted(pattern)


def _quoted(text: str) -> str:
    """JSON is YAML, but for the characters that YAML takes escaped alone."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in quoted)


def is_expressible(name: _Name) -> bool:
    """Return whether the policy can name this dataset: joined and split, its name is the same."""
    return dataset_of(join_parts(*name)) == name

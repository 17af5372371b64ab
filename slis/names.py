"""Folds dataset names inside Spark, by the rules of `lineage.names`.

The same answers as `lineage.names.fold`.

A plan grows with every mention of a column, and a rule that asked "did it match?" beside replacing
would mention its input
twice: over a chain of rules, that doubles at each. So each rule is one `regexp_replace` that also
writes its own id behind the
name when it matches, and the ids are split off at the end.
"""

import re

from pyspark.sql import Column
from pyspark.sql import functions as F

from lineage.names import GROUPS, PARTITION, SEPARATOR, SEPARATOR_SUBSTITUTE, Rule, RuleGroup

_ID_MARK = ";"


def folded(namespace: Column, name: Column) -> tuple[Column, Column, Column]:
    """The one name of each dataset.

    Returns:
        The namespace, the name, and the ids of the rules that led to them (an array of strings, in
        order, most often empty).
        Null where either argument is. Fold distinct names where a frame repeats them: 2 to 20 µs
        each.
    """
    spelling = _combined(namespace, name)
    # A case expression evaluates only the chain of the group that a name belongs to.
    rewritten = spelling
    for group in reversed(GROUPS):
        rewritten = F.when(spelling.rlike(group.when), _chain(spelling, group)).otherwise(rewritten)
    parts = F.split(rewritten, SEPARATOR, 3)
    ids = F.array_remove(F.split(parts[2], _ID_MARK), "")
    return parts[0], parts[1], ids


def partition_of(namespace: Column, name: Column) -> Column:
    """The partitions that a spelling names, as `dt=2026-11-21`; null where it names none."""
    found = F.regexp_extract(_combined(namespace, name), PARTITION, 1)
    return F.when(found != "", found)


def _combined(namespace: Column, name: Column) -> Column:
    parts = (F.translate(part, SEPARATOR, SEPARATOR_SUBSTITUTE) for part in (namespace, name))
    return F.concat(*(F.concat(part, F.lit(SEPARATOR)) for part in parts))


def _chain(spelling: Column, group: RuleGroup) -> Column:
    for rule in group.rules:
        spelling = F.regexp_replace(spelling, *_marking(rule))
    return spelling


def _marking(rule: Rule) -> tuple[str, str]:
    """Pattern and replacement that cover the whole string and put the rule's id at its end."""
    rest = re.compile(rule.pattern).groups + 1
    return rf"{rule.pattern}([\s\S]*)", f"{rule.replacement}${rest}{_ID_MARK}{rule.id}"

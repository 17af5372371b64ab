r"""Rules that fold the spellings of one dataset into one name: data, read by Python and Spark.

A rule works on one string, `namespace NUL name NUL`, so that it can move text between the two. Its
pattern is anchored at the start and matches once; what it does not match is kept. The expressions
mean the same in Java and in Python's ASCII mode as long as they keep to this: `[0-9]` for digits,
negated classes for "anything but", `\x00` for the separator, no `.`, no `$`.

Where the names come from: OpenLineage's naming conventions (openlineage.io/docs/spec/naming) and
the partition trimmers of its Java client, with the exceptions that `docs/naming.md` gives reasons
for.
"""

from lineage.names.rules.databases import DATABASES
from lineage.names.rules.partitions import BIGQUERY_PARTITION, PARTITION, PARTITION_DATE
from lineage.names.rules.paths import PATHS
from lineage.names.rules.rule import SEPARATOR, SEPARATOR_SUBSTITUTE, NameRule, RuleGroup

__all__ = [
    "BIGQUERY_PARTITION",
    "GROUPS",
    "PARTITION",
    "PARTITION_DATE",
    "RULES",
    "SEPARATOR",
    "SEPARATOR_SUBSTITUTE",
    "NameRule",
    "RuleGroup",
]

GROUPS = (DATABASES, PATHS)
NAMING_RULES = tuple(dict.fromkeys(rule for group in GROUPS for rule in group.rules))

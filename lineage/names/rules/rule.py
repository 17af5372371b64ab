"""Rules for names: a pattern and its replacement, alone or in groups."""

import msgspec

SEPARATOR = "\x00"
# What stands in for a separator inside a name: PostgreSQL has no NUL in texts either.
SEPARATOR_SUBSTITUTE = "\ufffd"


class NameRule(msgspec.Struct, frozen=True):
    """Rule by which two spellings are one dataset.

    Attributes:
        id: recorded with every alias that the rule made.
        pattern: of `namespace NUL name NUL`, from its start.
        replacement: for what the pattern matched, in the form of `re.sub`.
        why: for the person who asks why two names became one.
        keeps_spelling: false where the spelling is a secret (credentials) or one of an endless row
            (partitions): then the
            alias is recorded without it.
    """

    id: str
    pattern: str
    replacement: str
    why: str
    keeps_spelling: bool = True


class RuleGroup(msgspec.Struct, frozen=True):
    """Rules for the names that `when` finds a match in, in their order.

    Of the groups, the first whose `when` matches.
    """

    id: str
    when: str
    rules: tuple[NameRule, ...]

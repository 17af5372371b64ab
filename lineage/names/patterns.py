"""Patterns of names: names without their counters, dates and random parts.

Names that differ in such parts alone are most likely one dataset that its jobs write under a name
of its own each time. The expressions mean the same in Python's ASCII mode and in Java, as those of
`lineage.names.rules` do.
"""

import re
from collections.abc import Iterable, Sequence

import msgspec

# New names of one pattern within an hour that are no growth any more. An hourly job that names its
# output each time makes one, a day's backfill of it 24.
EXPLOSION_PER_HOUR = 20
NAME_EXPLOSION = "name_explosion"

_BEGINS = "(?<![0-9A-Za-z])"
_ENDS = "(?![0-9A-Za-z])"
_YEAR, _MONTH, _DAY = "(?:19|20)[0-9]{2}", "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])"
_TIME = "(?:[T _-]?[0-2][0-9](?:[:_-]?[0-5][0-9](?:[:_-]?[0-5][0-9])?)?Z?)?"


class PatternPart(msgspec.Struct, frozen=True):
    """Kind of text that changes with each run; `word` stands for it in a pattern."""

    word: str
    expression: str


# In their order: what an earlier one took, a later one does not see.
PARTS = (
    PatternPart("{uuid}", "[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"),
    PatternPart(
        "{date}",
        f"(?<![0-9]){_YEAR}(?:[-_./]{_MONTH}[-_./]{_DAY}|{_MONTH}{_DAY}){_TIME}(?![0-9])",
    ),
    PatternPart("{month}", f"(?<![0-9]){_YEAR}[-_/]?{_MONTH}(?![0-9])"),
    PatternPart("{hash}", f"{_BEGINS}(?:[0-9a-f]{{32,128}}|[0-9A-F]{{32,128}}){_ENDS}"),
    # Letters between digits: what a generator drew, or the short form of a hash.
    PatternPart("{id}", f"{_BEGINS}(?=[A-Za-z]*[0-9]+[A-Za-z]+[0-9])[0-9A-Za-z]{{6,128}}{_ENDS}"),
    PatternPart("{n}", "[0-9]+(?![0-9]*://)"),  # the 3 of s3:// is no number
)
_COMPILED = tuple((part.word, re.compile(part.expression, re.ASCII)) for part in PARTS)
_EXPRESSIONS = {part.word: part.expression for part in PARTS}
_WORD = re.compile("|".join(re.escape(part.word) for part in PARTS))
# Behind the name's stable part, what tied the rest to it.
_TIES = "-_./="


def pattern_of(text: str) -> str:
    """Replace each such part of the text by its word: `lake/orders_{date}`."""
    for word, expression in _COMPILED:
        text = expression.sub(word, text)
    return text


def is_variable(pattern: str) -> bool:
    """Return whether any part of it changes."""
    return _WORD.search(pattern) is not None


def tighten(pattern: str, names: Iterable[str]) -> str:
    """Write out each part of the pattern that is the same in all these names.

    `{n}` of `orders2_{date}` is no number that changes where every name has the 2.
    """
    words, pieces = _WORD.findall(pattern), _WORD.split(pattern)
    captured = re.compile(_joined(pieces, [f"({_EXPRESSIONS[word]})" for word in words]), re.ASCII)
    seen: list[set[str]] = [set() for _ in words]
    for name in names:
        if found := captured.fullmatch(name):
            for texts, text in zip(seen, found.groups(), strict=True):
                texts.add(text)
    parts = [
        texts.pop() if len(texts) == 1 else word for texts, word in zip(seen, words, strict=True)
    ]
    return pieces[0] + "".join(word + piece for word, piece in zip(parts, pieces[1:], strict=True))


def stable_name(pattern: str) -> str:
    """Return a common name of them: without the parts that change; empty if none is left."""
    first, *others = _WORD.split(pattern)
    kept = [first.rstrip(_TIES), *(piece.strip(_TIES) for piece in others)]
    return "/".join(piece for piece in kept if piece)


def _joined(pieces: Sequence[str], expressions: Sequence[str]) -> str:
    rest = zip(expressions, pieces[1:], strict=True)
    return re.escape(pieces[0]) + "".join(one + re.escape(piece) for one, piece in rest)

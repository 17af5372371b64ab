"""Patterns over dataset and job names: `*` for any text, `?` for one character, all else itself."""

import json
import re
from os.path import commonprefix

import msgspec

from lineage.names.names import fold, join_parts, split_joined
from lineage.names.rules import SEPARATOR

_SCHEMES = (("^s3[an]://", "s3://"), ("^(abfs|wasb)://", r"\1s://"), ("^gcs://", "gs://"))
_WILD = re.compile(r"[*?]")
# A local path as people write it. After `file://` comes a host.
_LOCAL = re.compile(r"(?:(file|dbfs):)?(?:/(?!/)|///+)")


class PatternParts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Pattern for the namespace and one for the name, where one over both would be ambiguous."""

    namespace: str = "*"
    name: str = "*"


Pattern = str | PatternParts


class Matcher(msgspec.Struct, frozen=True):
    """Pattern compiled to test very many names.

    Attributes:
        regex: of the whole text.
        prefix: literal start of the text, tested first because that is cheaper.
        is_parted: whether the text is `namespace NUL name`, or the two joined as people write them.
        specificity: how many characters of the pattern stand for themselves.
    """

    regex: re.Pattern[str]
    prefix: str
    is_parted: bool
    specificity: int


def matcher(pattern: Pattern) -> Matcher:
    """Compile the pattern."""
    globs = [_parted(pattern)] if isinstance(pattern, PatternParts) else _usual(pattern)
    glob = globs[0]
    return Matcher(
        regex=re.compile("|".join(map(_regex, globs)), re.DOTALL),
        prefix=commonprefix([_WILD.split(each, maxsplit=1)[0] for each in globs]),  # noqa: RUF071 - of characters
        is_parted=isinstance(pattern, PatternParts),
        specificity=len(_WILD.sub("", glob).replace(SEPARATOR, "")),
    )


def dataset_of(pattern: Pattern) -> tuple[str, str] | None:
    """Return the one dataset, as a folded (namespace, name), of a pattern without wildcards."""
    if isinstance(pattern, PatternParts):
        parts = (pattern.namespace, pattern.name)
        is_wild = any(map(_WILD.search, parts))
    else:
        parts, is_wild = split_joined(pattern), bool(_WILD.search(pattern))
    if is_wild:
        return None
    folded = fold(*parts)
    return folded.namespace, folded.name


def pattern_of_both(namespace: str, name: str) -> Pattern:
    """Return one joined pattern if it is unambiguous, else its two parts."""
    text = join_parts(namespace, name)
    return text if split_joined(text) == (namespace, name) else PatternParts(namespace, name)


def pattern_yaml(pattern: Pattern) -> str:
    """Return the pattern as a value of YAML."""
    if isinstance(pattern, PatternParts):
        return f"{{namespace: {quote_yaml(pattern.namespace)}, name: {quote_yaml(pattern.name)}}}"
    return quote_yaml(pattern)


def quote_yaml(text: str) -> str:
    """Return any text, as names from events are, as one scalar of YAML in double quotes."""
    # JSON is YAML, except for the characters that YAML allows only escaped.
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in quoted)


def _usual(glob: str) -> list[str]:
    """Return the pattern in the spellings that names are folded to; else it would match none."""
    if not _WILD.search(glob):
        folded = fold(*split_joined(glob))
        return [join_parts(folded.namespace, folded.name)]
    if found := _LOCAL.match(glob):
        scheme, path = found[1] or "file", glob[found.end() :]
        # A path below `file`, or a table below a warehouse such as `file:/warehouse`.
        return [f"{scheme}/{path}", f"{scheme}:/{path}"]
    return [with_usual_scheme(glob)]


def _parted(parts: PatternParts) -> str:
    if _WILD.search(parts.namespace + parts.name):
        return with_usual_scheme(parts.namespace) + SEPARATOR + parts.name
    folded = fold(parts.namespace, parts.name)
    return folded.namespace + SEPARATOR + folded.name


def with_usual_scheme(glob: str) -> str:
    """Return the pattern with the scheme that names are folded to."""
    for scheme, usual in _SCHEMES:
        glob = re.sub(scheme, usual, glob)
    return glob


def _regex(glob: str) -> str:
    escaped = re.escape(glob).replace(r"\?", ".")
    # A star stays on its side of the separator, or a namespace pattern would match names too.
    return escaped.replace(r"\*", f"[^{SEPARATOR}]*")

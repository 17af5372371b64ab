"""Names of datasets, whose spellings are folded into one, of their folders, and of jobs.

The rules themselves are data, in `lineage.names.rules`.

The pipeline asks for each distinct spelling of a batch once, in its driver: as Spark expressions
the same rules cost a third of a second a batch in planning and matching (`docs/decisions.md`).
"""

import re
from datetime import date
from functools import lru_cache
from typing import Final

import msgspec

from lineage.names.rules import (
    BIGQUERY_PARTITION,
    GROUPS,
    PARTITION,
    PARTITION_DATE,
    SEPARATOR,
    SEPARATOR_SUBSTITUTE,
    RuleGroup,
)
from lineage.redaction import CREDENTIALS, clear_name, clear_secrets

Name = tuple[str, str]  # of a dataset or a job: its namespace, and its name in there

_CACHED_NAMES = 65_536
_URI = re.compile(r"(?P<namespace>(?P<scheme>[a-z0-9+.-]+)://[^/]+)/+(?P<name>[\s\S]*)")
_LOCAL = re.compile(r"(?P<namespace>file|dbfs)?:?/+(?P<name>[\s\S]*)")
_SCHEMES_WITH_ROOTED_NAMES = ("hdfs", "viewfs", "file")
FOLD = "fold"  # in place of a rule: a fold of the policy took the name

_CACHED_FILES: Final = 65_536
_FILE_IN_FOLDER: Final = re.compile(
    r"(?P<folder>[^\x00]*[^/\x00])/+[^/\x00]+"
    r"\.(?:csv|tsv|txt|json|jsonl|ndjson|xml|parquet|orc|avro)"
    r"(?:\.(?:gz|gzip|bz2|zst|zstd|snappy|lz4|deflate|xz|zip))?",
    re.ASCII | re.IGNORECASE,
)

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[0-9]+")


class Folded(msgspec.Struct, frozen=True):
    """Canonical name of a dataset, and the ids of the rules that led to it, in order."""

    namespace: str
    name: str
    rules: tuple[str, ...] = ()


def combine(namespace: str, name: str) -> str:
    """Return the string that the rules are written for; replace separators inside a name."""
    parts = (part.replace(SEPARATOR, SEPARATOR_SUBSTITUTE) for part in (namespace, name))
    return "".join(part + SEPARATOR for part in parts)


def join_parts(namespace: str, name: str) -> str:
    """Combine both as people write it: `s3://bucket/lake/orders`, `file/lake/orders`, `shop/t`."""
    return f"{namespace}{'' if name.startswith('/') else '/'}{name}"


def split_joined(text: str) -> tuple[str, str]:
    """Return the namespace and name that a text most likely means; not folded yet.

    A URI is cut behind its authority, a bare path is a local file, all else is cut at the first
    slash. What has no slash at all is a name without a namespace.
    """
    if found := _URI.match(text):
        slash = "/" if found["scheme"] in _SCHEMES_WITH_ROOTED_NAMES else ""
        return found["namespace"], slash + found["name"]
    if found := _LOCAL.match(text):
        return found["namespace"] or "file", "/" + found["name"]
    namespace, slash, name = text.partition("/")
    return (namespace, name) if slash else ("", text)


def is_of_session(namespace: str, name: str) -> bool:
    """Return whether a name is known in one session only: a table of Flink's in-memory catalog.

    Each session starts with an empty catalog, and may give the name to another topic or table.
    """
    return namespace.startswith("flink://") or name.startswith("default_catalog.")


@lru_cache(maxsize=_CACHED_NAMES)
def fold(namespace: str, name: str) -> Folded:
    """Return the canonical name of a dataset; folding it again changes nothing."""
    cleared = clear_secrets(namespace), clear_name(name)
    spelling = combine(*cleared)
    group = _group_of(spelling)
    applied: list[str] = [] if cleared == (namespace, name) else [CREDENTIALS]
    for rule_id, pattern, replacement in _compiled(group) if group else ():
        spelling, matches = pattern.subn(replacement, spelling, count=1)
        applied += [rule_id] * matches
    folded_namespace, folded_name, _ = spelling.split(SEPARATOR, 2)
    return Folded(folded_namespace, folded_name, tuple(applied))


def partition_of(namespace: str, name: str) -> str | None:
    """Return the partitions in a name as it was sent, as `dt=2026-11-21/hour=04` or `2026/11/21`.

    A BigQuery decorator is returned as `202611`, `20261121` or `2026112104`.
    """
    spelling = combine(clear_secrets(namespace), clear_name(name))
    for pattern in (PARTITION, BIGQUERY_PARTITION):
        if found := re.match(pattern, spelling, re.ASCII):
            return found[1]
    return None


def partition_date(partition: str) -> date | None:
    """Return the day of a partition, the first of the month where it is one.

    None where it names no valid date.
    """
    found = re.search(PARTITION_DATE, partition, re.ASCII)
    if not found:
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3] or 1))
    except ValueError:
        return None


def _group_of(spelling: str) -> RuleGroup | None:
    return next((group for group, when in _guards() if when.search(spelling)), None)


@lru_cache(maxsize=1)
def _guards() -> tuple[tuple[RuleGroup, re.Pattern[str]], ...]:
    return tuple((group, re.compile(group.when, re.ASCII)) for group in GROUPS)


@lru_cache(maxsize=len(GROUPS))
def _compiled(group: RuleGroup) -> tuple[tuple[str, re.Pattern[str], str], ...]:
    return tuple(
        (rule.id, re.compile(rule.pattern, re.ASCII), rule.replacement) for rule in group.rules
    )


@lru_cache(maxsize=_CACHED_FILES)
def folder_of(namespace: str, name: str) -> tuple[str, str] | None:
    """Return the dataset that the folder of this file would be; None for another name."""
    found = _FILE_IN_FOLDER.fullmatch(name)
    if found is None:
        return None
    folder = fold(namespace, found["folder"])
    return folder.namespace, folder.name


def is_named_after(file: str, folder: str) -> bool:
    """Return whether a file has the name of its folder, as `orders/orders.csv`."""
    last = folder.rstrip("/").rpartition("/")[2]
    return bool(last) and file.rpartition("/")[2].partition(".")[0] == last


def job_of(application: str) -> str:
    """Return the job of an application by its name: `Daily Orders` is `daily_orders`."""
    return "_".join(word.lower() for word in _WORDS.findall(application))

"""Test results of a dataset: the `dataQualityAssertions` facet, and its rows in the catalog."""

from functools import lru_cache

import msgspec
from sqlalchemy import Connection, text

from lineage.catalog import tables
from lineage.catalog.upsert import ColumnFold, at_the_later, greatest, upsert
from lineage.redaction import redact
from slis.stream.staging.arrow import clean_text, key_text

_MOST = 200  # assertions of one facet
_LONGEST = 200
_KEY_BYTES = 800  # three of these are one key
_CACHED = 4_096

# Texts are empty where it is unknown.
RESULT = ("assertion", "column_name", "name", "is_success", "severity", "expected", "actual")
_Result = tuple[str, str, str, int, str, str, str]

ASSERTION_FOLDS: dict[str, ColumnFold] = {
    "last_passed_at": greatest,
    "severity": at_the_later("last_failed_at", ties=greatest),
    "expected": at_the_later("last_failed_at", ties=greatest),
    "actual": at_the_later("last_failed_at", ties=greatest),
    "last_failed_at": greatest,
}


class _Assertion(msgspec.Struct, frozen=True):
    success: bool
    assertion: str = ""
    column: str | None = None
    name: str | None = None
    severity: str | None = None
    expected: str | None = None
    actual: str | None = None


@lru_cache(_CACHED)
def assertions_of(raw: str) -> tuple[_Result, ...]:
    """Return the results in the facet's list (raw JSON); nothing where it is not a list.

    One assertion that is not as the specification says is left out, the others are taken.
    """
    try:
        listed = msgspec.json.decode(raw, type=list[msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return ()
    return tuple(found for one in listed[:_MOST] if (found := _result(one)))


def _result(raw: msgspec.Raw) -> _Result | None:
    try:
        result = msgspec.json.decode(raw, type=_Assertion, strict=False)
    except (msgspec.DecodeError, RecursionError):
        return None
    names = (result.assertion, result.column, result.name)
    values = (result.severity, result.expected, result.actual)
    assertion, column, name = (key_text(one or "", _KEY_BYTES) for one in names)
    severity, expected, actual = (_cut(one) for one in values)
    return assertion, column, name, int(result.success), severity.lower(), expected, actual


def _cut(value: str | None) -> str:
    return redact(clean_text(value) or "")[:_LONGEST]


_KEYS = "assertion, column_name, name"
_STAGED = "d.canonical_key AS dataset_key, s.assertion, s.column_name, s.name"
_BY = "d.canonical_key, s.assertion, s.column_name, s.name"
_PASSED = f"""
    SELECT {_STAGED}, max(s.tested_at) AS last_passed_at
    FROM s_assertion s JOIN dataset d ON d.dataset_key = s.dataset_key
    WHERE s.is_success = 1 GROUP BY {_BY}
"""  # noqa: S608 - our own words
_FAILED = f"""
    SELECT dataset_key, {_KEYS}, severity, expected, actual, tested_at AS last_failed_at FROM (
        SELECT {_STAGED}, s.severity, s.expected, s.actual, s.tested_at,
            row_number() OVER (PARTITION BY {_BY} ORDER BY s.tested_at DESC, s.severity DESC,
                s.expected DESC, s.actual DESC) AS place
        FROM s_assertion s JOIN dataset d ON d.dataset_key = s.dataset_key WHERE s.is_success = 0
    ) AS failed WHERE place = 1
"""  # noqa: S608 - our own words


def merge_assertions(connection: Connection) -> None:
    """Store when each assertion passed last, and when and how it failed last."""
    if connection.execute(text("SELECT 1 FROM s_assertion LIMIT 1")).first() is None:
        return
    table = tables.dataset_assertion
    upsert(connection, table, _PASSED, {"last_passed_at": greatest})
    failed = {name: fold for name, fold in ASSERTION_FOLDS.items() if name != "last_passed_at"}
    upsert(connection, table, _FAILED, failed)

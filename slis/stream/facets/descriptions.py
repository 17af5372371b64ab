"""Descriptions and tags that producers report: read from facets, and merged into the catalog."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

import msgspec
from sqlalchemy import Connection

from lineage.catalog import tables
from lineage.catalog.upsert import ColumnFold, at_the_later, greatest, upsert
from lineage.names.keys import key
from lineage.redaction import redact, redact_message, redact_value
from slis.stream.facts.dataset_facets import DatasetDescription, DatasetTag
from slis.stream.facts.jobs import DescribedJob
from slis.stream.staging.arrow import clean_text, key_text

_Row = tuple[Any, ...]
DATASET, FIELDS, JOB, JOB_TAGS = "dataset", "fields", "job", "job_tags"

_LONGEST_OF_FIELD = 500  # characters
_MOST_FIELDS = 2_000  # with a description, of one dataset
_MOST_TAGS = 100  # of one list
_LONGEST_WORD = 200
_CACHED = 4_096
DESCRIPTION_FOLDS: dict[str, ColumnFold] = {
    "text": at_the_later("last_seen_at", ties=greatest),
    "last_seen_at": greatest,
}
TAG_FOLDS: dict[str, ColumnFold] = {"source": greatest, "last_seen_at": greatest}
FIELD_TAG_FOLDS: dict[str, ColumnFold] = dict.fromkeys(
    ("field", "tag", "value", "source", "last_seen_at"), greatest
)


class StoredTag(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tag of a run or a job, as the catalog stores it in JSON."""

    key: str
    value: str = ""
    source: str | None = None


class _Raw(msgspec.Struct):
    key: Any = None
    value: Any = None
    source: Any = None


class Descriptions:
    """Rows of `s_description`, `s_tag` and `s_field_tag`."""

    def __init__(self) -> None:
        """Hold no rows."""
        self.texts: list[_Row] = []
        self.tags: list[_Row] = []
        self.field_tags: list[_Row] = []

    def note_dataset(self, one: DatasetDescription, dataset_key: int, at: int) -> None:
        """Add what facets say of a dataset and of its columns."""
        if described := redact_message(clean_text(one.description) or "").strip():
            self.texts.append((DATASET, dataset_key, described, at))
        if fields := _of_fields(one.field_descriptions):
            self.texts.append((FIELDS, dataset_key, fields, at))
        keys = one.spelling_key, one.facets_key
        for tag in [*one.tags, *_of_model(one.model_tags)]:
            if tag and tag.key:
                self._note_tag(tag, dataset_key, at, keys)

    def note_jobs(self, jobs: Iterable[DescribedJob]) -> None:
        """Add descriptions and tags of jobs."""
        for job in jobs:
            subject, at = job.job_key, job.last_seen_at
            if described := redact_message(clean_text(job.description) or "").strip():
                self.texts.append((JOB, subject, described, at))
            if tags := stored_tags(job.tags):
                self.texts.append((JOB_TAGS, subject, tags, at))

    def rows(self) -> dict[str, tuple[str, list[_Row]]]:
        """Return the rows by staging table, each with its columns."""
        return {
            "s_description": ("subject subject_key text last_seen_at", self.texts),
            "s_tag": (
                "dataset_key tag value source last_seen_at spelling_key facets_key",
                self.tags,
            ),
            "s_field_tag": (
                "dataset_key tag_key field tag value source last_seen_at",
                self.field_tags,
            ),
        }

    def _note_tag(self, tag: DatasetTag, dataset_key: int, at: int, keys: tuple[int, int]) -> None:
        words = key_text(str(tag.key)), key_text(redact_value(str(tag.key), tag.value or ""))
        source = _word(tag.source)
        if tag.field:  # a tag of one column says nothing of its dataset
            field = key_text(tag.field)
            row = (dataset_key, key(field, *words), field, *words, source, at)
            self.field_tags.append(row)
        else:
            self.tags.append((dataset_key, *words, source, at, *keys))


@lru_cache(_CACHED)
def stored_tags(raw: str | None) -> str | None:
    """Return the JSON to store for a list of tags, which is raw JSON, without malformed tags."""
    found = sorted(_listed(raw), key=lambda tag: (tag.key, tag.value, tag.source or ""))
    return msgspec.json.encode(found[:_MOST_TAGS]).decode() if found else None


def _of_model(raw: str | None) -> Iterator[DatasetTag]:
    """Yield the tags of a dbt model, from lists of tags of its run and its job."""
    for listed in _decoded(raw or "[]"):
        for tag in _listed(listed):
            if (tag.source or "").startswith("DBT"):
                yield DatasetTag(tag.key, tag.value, tag.source)


def _listed(raw: str | msgspec.Raw | None) -> list[StoredTag]:
    return [tag for one in _decoded(raw or "[]") if (tag := _tag(one)) is not None]


def _decoded(raw: str | msgspec.Raw) -> Sequence[msgspec.Raw]:
    try:
        return msgspec.json.decode(raw, type=list[msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return []


def _tag(raw: msgspec.Raw) -> StoredTag | None:
    try:
        given = msgspec.json.decode(raw, type=_Raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    name = _word(_text(given.key))
    if name is None:
        return None
    value = redact_value(name, clean_text(_text(given.value)) or "")
    return StoredTag(name, _word(value) or "", _word(_text(given.source)))


def _text(value: Any) -> str | None:  # noqa: ANN401 - any JSON
    """Return a JSON value as text: a string as it is, null as None."""
    if value is None or isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()


def _word(text: str | None) -> str | None:
    """Redact before the cut: a secret at the cut would stay."""
    return redact(clean_text(text) or "").strip()[:_LONGEST_WORD] or None


def _of_fields(fields: Mapping[str, str]) -> str | None:
    """Return a JSON object of the columns' descriptions."""
    texts = {
        key_text(name): redact(clean_text(text) or "")[:_LONGEST_OF_FIELD]
        for name, text in islice(fields.items(), _MOST_FIELDS)
    }
    return msgspec.json.encode(texts).decode() if texts else None


# Newest event first; of two at one time the greater text, as the fold has it.
_TEXTS = """
    SELECT subject, subject_key, text, last_seen_at FROM (
        SELECT s.subject, coalesce(d.canonical_key, s.subject_key) AS subject_key, s.text,
            s.last_seen_at, row_number() OVER (
                PARTITION BY s.subject, coalesce(d.canonical_key, s.subject_key)
                ORDER BY s.last_seen_at DESC, s.text DESC) AS place
        FROM s_description s LEFT JOIN dataset d ON d.dataset_key = s.subject_key
            AND s.subject IN ('dataset', 'fields')
    ) AS described WHERE place = 1
"""
_TAGS = """
    SELECT d.canonical_key AS dataset_key, s.tag, s.value, max(s.source) AS source,
        max(s.last_seen_at) AS last_seen_at
    FROM s_tag s JOIN dataset d ON d.dataset_key = s.dataset_key
    GROUP BY d.canonical_key, s.tag, s.value
"""
_FIELD_TAGS = """
    SELECT d.canonical_key AS dataset_key, s.tag_key, max(s.field) AS field, max(s.tag) AS tag,
        max(s.value) AS value, max(s.source) AS source, max(s.last_seen_at) AS last_seen_at
    FROM s_field_tag s JOIN dataset d ON d.dataset_key = s.dataset_key
    GROUP BY d.canonical_key, s.tag_key
"""


def merge_texts_and_tags(connection: Connection) -> None:
    """Merge descriptions, of which the newest stays, and tags, of which all stay."""
    upsert(connection, tables.description, _TEXTS, DESCRIPTION_FOLDS)
    upsert(connection, tables.tag, _TAGS, TAG_FOLDS)
    upsert(connection, tables.field_tag, _FIELD_TAGS, FIELD_TAG_FOLDS)

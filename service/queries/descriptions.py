"""Descriptions and tags of datasets, columns and jobs, as their producers report them."""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import msgspec

from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row
from lineage.names.keys import key
from lineage.names.names import Name
from service.queries.run_shapes import RunTag
from service.queries.visibility import Visibility

MOST_TAGS: Final = 100  # of one dataset
MOST_FIELD_TAGS: Final = 10_000
_TEXTS = """
SELECT subject, subject_key, text FROM description
WHERE subject IN ({subjects}) AND subject_key IN (:keys)
"""
_OF_DATASETS = _TEXTS.format(subjects="'dataset', 'fields'")
_OF_JOBS = _TEXTS.format(subjects="'job', 'job_tags'")
_TAGS = """
SELECT tag, value, source FROM tag WHERE dataset_key = :key ORDER BY tag, value LIMIT :most
"""
_FIELD_TAGS = """
SELECT dataset_key, field, tag, value, source FROM field_tag WHERE dataset_key IN (:keys)
ORDER BY dataset_key, field, tag, value LIMIT :most
"""


class ProducerDescriptions(msgspec.Struct, frozen=True):
    """Descriptions of one dataset or job by its producers; `tags`: of a job."""

    description: str | None = None
    fields: dict[str, str] = {}
    tags: list[str] = []


NO_DESCRIPTIONS: Final = ProducerDescriptions()


def describe_datasets(
    reader: CatalogReader, keys: Iterable[int], visibility: Visibility
) -> dict[int, ProducerDescriptions]:
    """Return descriptions of datasets and of their columns, by key.

    A text may name any dataset: only a token that may see all of them gets it.
    """
    if not visibility.is_whole:
        return {}
    found: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for subject, dataset, text in rows_for(reader, _OF_DATASETS, keys):
        found[dataset][subject] = text
    return {
        dataset: ProducerDescriptions(texts.get("dataset"), settings_of(texts.get("fields")))
        for dataset, texts in found.items()
    }


def describe_jobs(
    reader: CatalogReader, jobs: Iterable[Name], visibility: Visibility
) -> dict[Name, ProducerDescriptions]:
    """Return tags of jobs by their names, and descriptions for a token that sees all datasets."""
    by_key = {key(*job): job for job in jobs}
    found: defaultdict[Name, dict[str, str]] = defaultdict(dict)
    for subject, job_key, text in rows_for(reader, _OF_JOBS, list(by_key)):
        found[by_key[job_key]][subject] = text
    return {
        job: ProducerDescriptions(
            texts.get("job") if visibility.is_whole else None,
            tags=sorted({tag.key for tag in tags_of_text(texts.get("job_tags"))}),
        )
        for job, texts in found.items()
    }


_SOURCE = re.compile(r"[A-Z_]{1,40}")  # as DBT or USER


def tags_of_dataset(reader: CatalogReader, dataset: int, visibility: Visibility) -> list[RunTag]:
    """Return the tags of a dataset: one more than `MOST_TAGS` where it has more."""
    rows = reader.rows(_TAGS, {"key": dataset, "most": MOST_TAGS + 1})
    return [_tag(visibility, row) for row in rows]


def tags_of_fields(
    reader: CatalogReader, keys: Iterable[int], visibility: Visibility
) -> dict[tuple[int, str], list[RunTag]]:
    """Return the tags of columns of these datasets, by dataset and column; at most 10,000."""
    found: defaultdict[tuple[int, str], list[RunTag]] = defaultdict(list)
    rows = rows_for(reader, _FIELD_TAGS, keys, {"most": MOST_FIELD_TAGS})
    for row in rows:
        found[row.dataset_key, row.field].append(_tag(visibility, row))
    return found


def tags_of_text(text: str | None) -> list[RunTag]:
    """Return the tags of a run or a job as the catalog stores them."""
    return msgspec.json.decode(text, type=list[RunTag]) if text else []


def _tag(visibility: Visibility, row: Row) -> RunTag:
    """Return a tag; its value and its source are texts that may name any dataset."""
    source = row.source
    is_shown = visibility.is_whole or source is None or _SOURCE.fullmatch(source) is not None
    return RunTag(row.tag, row.value if visibility.is_whole else None, source if is_shown else None)


def settings_of(text: str | None) -> dict[str, str]:
    """Return stored texts by key; empty if none were reported."""
    return msgspec.json.decode(text, type=dict[str, str]) if text else {}

"""Rows of the staging tables, from the facts of a batch, without the secrets of their texts.

This is the one place for rows: a column that is new is covered without a list that names it. The
same text always becomes the same text, so rows that name each other still do.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Text

from lineage.names.keys import KEY_BYTES, NAME_BYTES, shorten
from lineage.policy import NO_FOLDS, CompiledFolds
from lineage.redaction import redact, redact_json, redact_sql
from slis.stream.facets import run_details
from slis.stream.facets.facet_rows import FacetRows
from slis.stream.facets.sql_texts import stage_sql_texts
from slis.stream.facts import Facts
from slis.stream.facts.facts import EventRow
from slis.stream.facts.run_io import Checkpoint, RunIoRow
from slis.stream.staging.arrow import clean_text
from slis.stream.staging.staging import StagedRows
from slis.stream.staging.tables import staged_metadata

_Row = tuple[Any, ...]
Redact = Callable[[str], str]

_DIGITS = re.compile(r"[0-9a-fA-F-]*")  # of UUIDs, hashes and dates, which are most texts
# Names of datasets are cleared when they are folded: a changed name is another dataset.
_FOLDED = {
    "s_name": {"namespace", "name", "partition"},
    "s_alias": {"namespace", "name"},
    "s_link": {"namespace", "name"},
}
_FORMATS: Mapping[tuple[str, str], Redact] = {
    ("s_facets", "fields"): redact_json,
    ("s_column_edge", "transformations"): redact_json,
    ("s_run", "spark_conf"): redact_json,
    ("s_run", "parameters"): redact_json,
    ("s_run", "tags"): redact_json,
    ("s_description", "text"): redact_json,
    ("s_sql_text", "text"): redact_sql,
}


def staged_rows(
    facts: Facts, folds: CompiledFolds = NO_FOLDS, *, are_history: bool = False
) -> StagedRows:
    """Return the rows by staging table, each table with its columns.

    Args:
        facts: of the batch.
        folds: of the policy, in force for the batch.
        are_history: whether each event counts as one of a history load.
    """
    unfolded = FacetRows(facts.described, folds)
    unfolded.describe_jobs(facts.described_jobs)
    unfolded.edges.note_jobs(facts.job_lineages)
    unfolded.edges.note_declared(facts.declared_edges)
    events = facts.events
    if are_history:
        events = [row._replace(is_history=1) for row in events]
    rows: StagedRows = {
        "s_event": (EventRow._fields, events),
        "s_run": (run_details.COLUMNS, [run_details.run_row(*run) for run in facts.runs]),
        "s_run_io": (RunIoRow._fields, facts.run_io),
        "s_checkpoint": (Checkpoint._fields, facts.checkpoints),
    }
    return without_secrets({**rows, **unfolded.rows(), **stage_sql_texts(facts.sql_texts)})


def without_secrets(rows: StagedRows) -> StagedRows:
    """Return the rows of staging tables without secrets in their texts."""
    return {table: (columns, _cleared(table, columns, of)) for table, (columns, of) in rows.items()}


def _cleared(table: str, columns: Sequence[str], rows: Sequence[_Row]) -> Sequence[_Row]:
    for place, column in enumerate(columns):
        if column in _texts(table):
            rows = _replaced(rows, place, _FORMATS.get((table, column), _redact_key))
    return rows


@cache
def _texts(table: str) -> frozenset[str]:
    columns = staged_metadata.tables[table].columns
    names = {column.name for column in columns if isinstance(column.type, Text)}
    return frozenset(names - _FOLDED.get(table, set()))


def _replaced(rows: Sequence[_Row], place: int, redacted: Redact) -> Sequence[_Row]:
    texts = {row[place] for row in rows}
    changed = {
        text: found
        for text in texts
        if text and not _DIGITS.fullmatch(text) and (found := clean_text(redacted(text))) != text
    }
    if not changed:
        return rows
    return [(*row[:place], changed.get(row[place], row[place]), *row[place + 1 :]) for row in rows]


def _redact_key(text: str) -> str:
    """Return the redacted text, as an index can hold it where it could hold the text."""
    redacted, size = redact(text), len(text.encode())
    most = next((most for most in (KEY_BYTES, NAME_BYTES) if size <= most), None)
    return shorten(redacted, most) if most else redacted

"""Rows of the staging tables, from the facts of a batch."""

from lineage.policy import NO_FOLDS, Folding
from slis.stream import run_details
from slis.stream.cleared import without_secrets
from slis.stream.facet_rows import FacetRows
from slis.stream.facts import Facts
from slis.stream.facts.facts import EventRow
from slis.stream.facts.run_io import Checkpoint, RunIoRow
from slis.stream.merge import Rows
from slis.stream.sql_texts import stage_sql_texts


def staged_rows(facts: Facts, folds: Folding = NO_FOLDS, *, are_history: bool = False) -> Rows:
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
    rows: Rows = {
        "s_event": (EventRow._fields, events),
        "s_run": (run_details.COLUMNS, [run_details.run_row(*run) for run in facts.runs]),
        "s_run_io": (RunIoRow._fields, facts.run_io),
        "s_checkpoint": (Checkpoint._fields, facts.checkpoints),
    }
    return without_secrets({**rows, **unfolded.rows(), **stage_sql_texts(facts.sql_texts)})

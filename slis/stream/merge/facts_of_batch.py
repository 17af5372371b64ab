"""Facts of a batch in the order in which they are merged: later ones read earlier ones."""

from sqlalchemy import Connection

from slis.stream.derived.derive_facts import derive_facts
from slis.stream.derived.inferred import store_sources
from slis.stream.facets.sql_texts import merge_sql
from slis.stream.merge.batch_runs import stage_io
from slis.stream.merge.checkpoints import merge_checkpoints
from slis.stream.merge.facet_disagreements import collect_sources, record_disagreements
from slis.stream.merge.known_roots import stage_known_roots
from slis.stream.merge.known_runs import stage_known
from slis.stream.merge.merge_facts import (
    merge_datasets,
    merge_descriptions,
    merge_run_io,
    merge_runs,
)
from slis.stream.merge.new_roots import move_to_new_roots
from slis.stream.merge.repeats import Repeats
from slis.stream.names.canonical import resolve_components
from slis.stream.names.claims_catalog import (
    merge_attributes,
    merge_claims,
    merge_drops,
    stage_written,
    unsettled_claims,
)


def merge_facts_of_batch(
    connection: Connection, landed_at: int, repeats: Repeats, *, finds_remains: bool
) -> None:
    """Merge all facts that are staged.

    Args:
        connection: inside the transaction of the batch.
        landed_at: of what is new.
        repeats: of the batch.
        finds_remains: as `stage_known` has it.
    """
    stage_written(connection, landed_at)
    changed = unsettled_claims(connection)
    merge_datasets(connection)
    merge_claims(connection, landed_at)
    resolve_components(connection, changed)
    is_any_known = stage_known(connection, finds_remains=finds_remains)
    stage_known_roots(connection, finds_remains=finds_remains)
    if is_any_known:
        move_to_new_roots(connection)
    merge_runs(connection, landed_at, is_any_known=is_any_known, has_repeats=repeats.runs)
    merge_run_io(connection, landed_at, is_any_known=is_any_known, has_repeats=repeats.run_io)
    is_any_checkpoint = merge_checkpoints(connection)
    stage_io(connection, is_any_known=is_any_known, is_changed=is_any_checkpoint)
    collect_sources(connection)
    store_sources(connection, landed_at)
    merge_drops(connection, landed_at)
    merge_descriptions(connection)
    merge_attributes(connection, landed_at)
    derive_facts(connection, landed_at)
    record_disagreements(connection, landed_at)
    merge_sql(connection, landed_at)

"""Derivation of writes, reads, edges and activity from what the catalog knows of runs."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Row

from slis.stream.derived.activity import derive_activity
from slis.stream.derived.contributions import collect_contributions
from slis.stream.derived.edges import derive_edges
from slis.stream.derived.inferred import infer_inputs
from slis.stream.derived.reads import derive_reads
from slis.stream.derived.writes import derive_writes, recompute_write
from slis.stream.merge.batch_runs import stage_missing


def derive_facts(connection: Connection, landed_at: int, stale: Iterable[Row[Any]] = ()) -> None:
    """Derive the facts of the runs in `staging.run`.

    Args:
        connection: inside a transaction, with staging tables.
        landed_at: of what is new, in microseconds.
        stale: writes to recompute.
    """
    stage_missing(connection)
    infer_inputs(connection)
    collect_contributions(connection)
    derive_writes(connection, landed_at)
    for write in stale:
        recompute_write(connection, write, landed_at)
    derive_reads(connection, landed_at)
    derive_edges(connection)
    derive_activity(connection)

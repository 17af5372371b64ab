"""Derivation of writes, reads, edges and activity from what the catalog knows of runs."""

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import Connection, Row, text

from lineage.catalog.queries import STATES_BY_SEVERITY
from lineage.states import LEARNING
from slis.stream.derived.activity import derive_activity
from slis.stream.derived.contributions import collect_contributions
from slis.stream.derived.edges import derive_edges
from slis.stream.derived.inferred import infer_inputs
from slis.stream.derived.reads import derive_reads
from slis.stream.derived.writes import derive_writes, recompute_write
from slis.stream.merge.batch_runs import stage_missing
from slis.stream.merge.known_roots import add_known_roots

_NEWS: Final = text(f"""
    SELECT 1 WHERE EXISTS (SELECT 1 FROM t_run WHERE last_fail_at IS NOT NULL)
    OR EXISTS (SELECT 1 FROM s_assertion WHERE is_success = 0)
    OR EXISTS (SELECT 1 FROM t_touched t JOIN dataset d ON d.dataset_key = t.dataset_key
        WHERE t.direction = 'write' AND d.state_rank < {STATES_BY_SEVERITY.index(LEARNING)})
""")  # noqa: S608 - a constant


def derive_facts(connection: Connection, landed_at: int, stale: Iterable[Row[Any]] = ()) -> None:
    """Derive the facts of the runs in `staging.run`.

    Args:
        connection: inside a transaction, with staging tables.
        landed_at: of what is new, in microseconds.
        stale: writes to recompute.
    """
    stage_missing(connection)
    is_any_known = add_known_roots(connection)
    has_inferred = infer_inputs(connection)
    collect_contributions(connection, has_inferred=has_inferred)
    derive_writes(connection, landed_at)
    for write in stale:
        recompute_write(connection, write, landed_at)
    derive_reads(connection, landed_at, is_any_known=is_any_known)
    derive_edges(connection)
    derive_activity(connection)


def holds_news(connection: Connection) -> bool:
    """Return whether the batch may change a state, once its facts are derived.

    It has a failed run or assertion, or writes a dataset that is neither good nor learning.
    """
    return connection.execute(_NEWS).first() is not None

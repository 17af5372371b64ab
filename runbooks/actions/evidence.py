"""Reads and writes of a run by its event log and SQL, without its own events."""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from sqlalchemy import Connection, Row, bindparam, select, text

from lineage.catalog.tables import run
from lineage.names.names import Name
from lineage.states import EVENT_LOG, SQL_TEXT
from runbooks.actions.action import ActionContext, SqlTables
from runbooks.actions.errors import InvalidActionError
from runbooks.actions.lake_events import events_of_run, json_at

_MOST_RUNS: Final = 500  # of one root run
_MOST_FITTING: Final = 200
# Of a group of executions, what all of them read was read for what each of them writes.
_TOUCHED = """
    SELECT DISTINCT e.group_key, io.direction, c.namespace, c.name
    FROM execution e
    JOIN execution_io io ON io.execution_key = e.execution_key OR io.execution_key = e.stream_key
    JOIN dataset d ON d.dataset_key = io.dataset_key
    JOIN dataset c ON c.dataset_key = d.canonical_key
    WHERE e.error_message IS NULL AND e.group_key IN (
        SELECT g.group_key FROM execution g WHERE g.run_key IN :keys OR g.group_key IN :keys)
"""
_OUTPUTS = """
    SELECT DISTINCT c.namespace, c.name FROM run_io io
    JOIN dataset d ON d.dataset_key = io.dataset_key
    JOIN dataset c ON c.dataset_key = d.canonical_key
    WHERE io.direction = 'write' AND io.run_key IN :keys
"""
_SPELLED = """
    SELECT d.name AS spelled, c.namespace, c.name FROM dataset d
    JOIN dataset c ON c.dataset_key = d.canonical_key
    WHERE lower(d.name) = :last OR lower(d.name) LIKE :suffix ESCAPE '!' LIMIT :most
"""


class EvidenceEdge(msgspec.Struct, frozen=True, order=True):
    """Read of one dataset for another, by this oracle."""

    downstream: Name
    upstream: Name
    oracle: str


class Inferred(msgspec.Struct, frozen=True):
    """Evidence of a run.

    Attributes:
        job: namespace and name of its application, as the graph has it.
        ended_at: of its last event or execution, µs.
        unread: names in its SQL that fit no dataset, or several.
    """

    run_id: str
    job: Name
    ended_at: int
    edges: tuple[EvidenceEdge, ...]
    unread: tuple[str, ...]


def infer(run_id: str, context: ActionContext) -> Inferred:
    """Return the evidence of a run, or of all runs that a root run began.

    Raises:
        InvalidActionError: the catalog knows no such run.
        FailedActionError: the lake was compacted meanwhile.
    """
    texts = _texts(run_id, context)
    with context.engine.connect() as connection:
        runs = _runs(connection, run_id)
        keys = [row.run_key for row in runs]
        logged = _of_event_log(connection, keys)
        stated, unread = _of_sql(connection, keys, texts)
    # Of both, the stronger one is shown: a log is of this run, a text of any run of its kind.
    edges = {(edge.downstream, edge.upstream): edge for edge in [*stated, *logged]}
    first = runs[0]
    return Inferred(
        run_id=run_id,
        job=(
            first.leaf_job_namespace or first.root_job_namespace,
            first.leaf_job_name or first.root_job_name,
        ),
        ended_at=max(row.last_event_at for row in runs),
        edges=tuple(sorted(edges.values())),
        unread=unread,
    )


def _runs(connection: Connection, run_id: str) -> Sequence[Row[tuple[object, ...]]]:
    is_it = (run.c.run_id == run_id) | (run.c.root_run_id == run_id)
    found = connection.execute(
        select(run).where(is_it).order_by(run.c.first_event_at, run.c.run_key).limit(_MOST_RUNS)
    ).all()
    if not found:
        raise InvalidActionError(f"no run has the id {run_id[:80]!r}")
    return found


def _of_event_log(connection: Connection, keys: list[int]) -> list[EvidenceEdge]:
    query = text(_TOUCHED).bindparams(bindparam("keys", expanding=True))
    reads: dict[int, set[Name]] = {}
    writes: dict[int, set[Name]] = {}
    for group, direction, namespace, name in connection.execute(query, {"keys": keys}):
        side = reads if direction == "read" else writes
        side.setdefault(group, set()).add((namespace, name))
    return [
        EvidenceEdge(written, read, EVENT_LOG)
        for group, outputs in writes.items()
        for written in outputs
        for read in reads.get(group, set())
        if read != written
    ]


def _texts(run_id: str, context: ActionContext) -> list[SqlTables]:
    """Return the statements in the events' `sql` facets, each distinct text once."""
    found: dict[tuple[str, str], None] = {}
    for event in events_of_run(context, run_id):
        facet = json_at(msgspec.json.decode(event.body), "job", "facets", "sql")
        query, dialect = json_at(facet, "query"), json_at(facet, "dialect")
        if isinstance(query, str):
            found[query, dialect if isinstance(dialect, str) else ""] = None
    return [one for query in found for one in context.sql.statements(*query)]


def _of_sql(
    connection: Connection, keys: list[int], statements: Iterable[SqlTables]
) -> tuple[list[EvidenceEdge], tuple[str, ...]]:
    """Return edges where each name means one dataset, and the names that mean none or several."""
    listed = list(statements)
    names = {name for one in listed for name in (*one.reads, *one.writes)}
    meant = {name: _meant(connection, name) for name in names}
    query = text(_OUTPUTS).bindparams(bindparam("keys", expanding=True))
    outputs = [(row[0], row[1]) for row in connection.execute(query, {"keys": keys})]
    # Where no statement names what it writes, it is the run's output, if there is but one.
    only = outputs[0] if len(outputs) == 1 and not any(one.writes for one in listed) else None
    edges = [
        EvidenceEdge(written, read, SQL_TEXT)
        for one in listed
        for written in [only, *(meant[name] for name in one.writes)]
        for read in (meant[name] for name in one.reads)
        if written and read and written != read
    ]
    return edges, tuple(sorted(name for name, found in meant.items() if found is None))


def _meant(connection: Connection, name: str) -> Name | None:
    """Return the one dataset that a name fits; a name of one part may be a view, or anything."""
    parts = name.split(".")
    if len(parts) == 1:
        return None
    last = parts[-1].replace("!", "!!").replace("%", "!%").replace("_", "!_")
    given = {"last": parts[-1], "suffix": f"%.{last}", "most": _MOST_FITTING}
    rows = connection.execute(text(_SPELLED), given).all()
    fitting = (row for row in rows if _fits(parts, row.spelled.lower().split(".")))
    found = {(row.namespace, row.name) for row in fitting}
    return found.pop() if len(found) == 1 and len(rows) < _MOST_FITTING else None


def _fits(asked: list[str], known: list[str]) -> bool:
    """Return whether one name ends with the other, in two parts at least."""
    parts = min(len(asked), len(known))
    return parts > 1 and asked[-parts:] == known[-parts:]

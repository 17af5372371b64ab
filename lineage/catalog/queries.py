"""SQL that several modules ask by: predicates, expressions and joins, one spelling for each.

Both engines understand every one, and take the keys of `split_batches` at once. Nothing here
imports a database toolkit: commands that ask start soon. Aliases are those of all queries: `d`
dataset, `p` its policy, `s` a state, `a` its activity, `r` run, `io` what a run read or wrote, `w`
write, `i` incident.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, Literal, TypeVar

from lineage.process.clock import HOUR_MICROS
from lineage.sli_limits import STREAM_LIMIT_SECONDS
from lineage.states import BAD, GOOD, LEARNING, OPTIONAL, TIERS, UNKNOWN

# Order of lists: most severe first, then the highest tier. A rank of each stands beside its name,
# so that an index has all datasets in that order, and a page of 100,000 is a few rows of it.
STATES_BY_SEVERITY: Final = (BAD, UNKNOWN, LEARNING, GOOD)
# Until the first evaluation.
NOT_JUDGED: Final = STATES_BY_SEVERITY.index(UNKNOWN)
# A dataset that came since the policy was resolved counts as what nobody declared does.
NO_TIER: Final = TIERS.index(OPTIONAL)
TIER_IN_FORCE: Final = (
    f"COALESCE(p.tier, '{OPTIONAL}')"  # p: `dataset_policy`, joined to all datasets
)
# What is listed. The index is of these, and a question that does not say it so cannot use it.
LISTED: Final = "canonical_key = dataset_key AND retired_at IS NULL"

# A run failed after the newest write. The index `dataset_activity_failing` has these rows alone.
FAILS: Final = "last_failed_at > coalesce(last_written_at, 0)"
# SQLite takes 32,766 parameters, of several sets of keys and all others together.
MOST_AT_ONCE: Final = 500

_Item = TypeVar("_Item")


def rank_of(column: str, order: tuple[str, ...], otherwise: int) -> str:
    """Return the rank of a column's value, as SQL."""
    cases = " ".join(f"WHEN '{word}' THEN {rank}" for rank, word in enumerate(order))
    return f"CASE {column} {cases} ELSE {otherwise} END"


def is_listed(dataset: str = "d") -> str:
    """Return the SQL of whether a dataset is listed, for one of several tables of a query."""
    return f"{dataset}.canonical_key = {dataset}.dataset_key AND {dataset}.retired_at IS NULL"


# Join to a dataset `d` of the most severe of its states, as `s`.
JOIN_WORST_STATE: Final = (
    "LEFT JOIN dataset_state s ON s.dataset_key = d.dataset_key AND s.is_worst"
)


def newest_schema(dataset_key: str) -> str:
    """Return the SQL of the columns of a dataset's newest schema, as JSON."""
    return f"""
        SELECT v.fields FROM schema_version v WHERE v.dataset_key = {dataset_key}
        ORDER BY v.last_seen_at DESC, v.schema_key LIMIT 1
    """  # noqa: S608 - our own columns


# Order of writes `w`; of a root run that writes for hours, several may be of one time.
NEWEST_WRITE_FIRST: Final = "ORDER BY w.written_at DESC, w.root_run_id DESC"


def newest_write(column: str, of: str) -> str:
    """Return the SQL of a column of a dataset's newest write.

    Args:
        column: of `dataset_write`.
        of: condition on the write `w`, with its `dataset_key`.
    """
    return f"SELECT w.{column} FROM dataset_write w WHERE {of} {NEWEST_WRITE_FIRST} LIMIT 1"  # noqa: S608 - our own columns


# A retirement that a person asked for holds until an event names the dataset `d` again.
RETIREMENT_HOLDS: Final = "t.requested_at >= d.last_seen_at"
WITH_RETIREMENT: Final = (
    f"LEFT JOIN retirement t ON t.dataset_key = d.dataset_key AND {RETIREMENT_HOLDS}"
)
# Root runs whose SQL is still to be read. SQLite keeps the order of a CROSS JOIN.
ROOTS_OF_UNREAD_SQL: Final = """
    SELECT DISTINCT w.root_run_id FROM sql_run s CROSS JOIN run w
    WHERE w.run_key = s.run_key AND w.completed_at IS NOT NULL AND w.root_run_id IS NOT NULL
"""
# How far a reader of the spool has come; `:reader` is its name.
CURSOR: Final = "SELECT seq FROM reader_cursor WHERE reader = :reader"
# Hours of all SLIs: those of the pipeline, and those of what the service served.
ALL_HOURS: Final = """(
  SELECT sli, tier, good, total, unknown, hour FROM sli_hour
  UNION ALL SELECT sli, tier, good, total, unknown, hour FROM served_hour
) AS hours"""
# Incidents that people see as open, and with them those that are suppressed.
IS_OPEN: Final = "state IN ('open', 'acknowledged')"
IS_UNRESOLVED: Final = "state IN ('open', 'acknowledged', 'suppressed')"


def severity_rank(incident: str = "i") -> str:
    """Return the SQL of the rank of an incident's severity: pages before tickets."""
    return f"CASE {incident}.severity WHEN 'page' THEN 0 ELSE 1 END"


# Order of incidents `i` where only the most severe are shown.
MOST_SEVERE_FIRST: Final = f"ORDER BY {severity_rank()}, i.score DESC, i.incident_id"


def sql_hour_of(at: str) -> str:
    """Return the SQL of the start of the hour that a time lies in, in microseconds."""
    return f"({at} / {HOUR_MICROS} * {HOUR_MICROS})"


def write_bucket(completed_at: str) -> str:
    """Return the SQL of `dataset_write.bucket` for a run that completed at this time."""
    # Beside the bucket of a stream in the same hour: a failure takes back what a run wrote, and
    # leaves what a stream put out.
    return f"({sql_hour_of(completed_at)} + 1)"


def is_in_bucket(completed_at: str, bucket: str) -> str:
    """Return the SQL of whether a time, by an index on it, lies in the hour of a run's bucket."""
    hour = f"{bucket} - 1"
    return f"({completed_at} >= {hour} AND {completed_at} < {hour} + {HOUR_MICROS})"


# Rows of `dataset_write` that a stream put out while it was running.
IS_STREAM_HOUR: Final = f"(bucket <> 0 AND bucket = {sql_hour_of('bucket')})"
# Edges count root runs. Of a root run's rows of `dataset_write` all count as one run, but those of
# a stream, which is one root run for months.
COUNTED_RUN: Final = f"CASE WHEN {IS_STREAM_HOUR} THEN CAST(bucket AS TEXT) ELSE root_run_id END"


# Whether a dataset is a stream. A dataset without activity may give NULL.
IS_STREAM: Final = "(p.is_streaming OR a.last_write_is_streaming)"
# Its limit of M2, s; l: `dataset_limit`. NULL: it is not learned yet.
LIMIT_IN_FORCE: Final = (
    f"coalesce(p.declared_limit_seconds, CASE WHEN {IS_STREAM} THEN {STREAM_LIMIT_SECONDS} END,"
    " l.limit_seconds)"
)


def leaf_job(part: Literal["namespace", "name"], run: str = "r") -> str:
    """Return the SQL of the leaf job's namespace or name, for the run with this alias."""
    return f"coalesce({run}.leaf_job_{part}, {run}.root_job_{part})"


def has_direction(direction: Literal["read", "write"], io: str = "io") -> str:
    """Return the SQL of whether a row of `run_io` of a run is its input or its output.

    An expression has no index: rows are found by their run. PostgreSQL 18 would skip from dataset
    to dataset in the index, takes that for a thousand times as dear as it is, and reads all rows.
    """
    return f"{io}.direction || '' = '{direction}'"


# The run of the leaf job that a run `r` is, or is a part of: a Spark application has many runs.
LEAF_RUN_ID: Final = """
    CASE WHEN r.leaf_job_name IS NULL THEN r.root_run_id
        WHEN r.leaf_job_name = r.job_name THEN r.run_id ELSE coalesce(r.parent_run_id, r.run_id) END
"""
# Rows and bytes of what a run read or wrote: as events report them, else by the event log's stages.
ROWS_AND_BYTES: Final = """coalesce(io.rows, io.evidence_rows) AS rows,
  coalesce(io.bytes, io.evidence_bytes) AS bytes"""
# Whether a run `r` has written its output `io`: a stream never completes.
HAS_WRITTEN: Final = "(r.completed_at IS NOT NULL OR io.streamed_at IS NOT NULL)"
# Whether a run names an input. Reading what it writes itself, as a MERGE does, names no source.
NAMES_INPUTS: Final = f"""
    EXISTS (
        SELECT 1 FROM run_io i JOIN dataset x ON x.dataset_key = i.dataset_key
        WHERE i.run_key = {{run}} AND {has_direction("read", "i")} AND i.is_reported
            AND x.canonical_key NOT IN (
                SELECT y.canonical_key FROM run_io o JOIN dataset y ON y.dataset_key = o.dataset_key
                WHERE o.run_key = {{run}} AND {has_direction("write", "o")}))
"""  # noqa: S608 - our own columns

# Rows of `dataset_alias` that join two names; all others are spellings of one name.
IS_LINK: Final = "rule IN ('symlink', 'rename', 'policy')"
# Owners that ownership facets give to a dataset, and that only jobs of others report.
_OWN: Final = """
    SELECT DISTINCT m.canonical_key AS dataset_key, p.job_namespace
    FROM dataset_producer p JOIN dataset m ON m.dataset_key = p.dataset_key
"""
# Of datasets that some job writes: else there is nobody to ask. An event without a run may be that
# of a catalog of tables, which no dataset has as its writer.
FOREIGN_OWNERS: Final = f"""
    SELECT s.dataset_key, s.value AS owner
    FROM (SELECT n.canonical_key AS dataset_key, c.value, c.job_namespace
        FROM attribute_claim c JOIN dataset n ON n.dataset_key = c.dataset_key
        WHERE c.kind = 'owner') AS s
    LEFT JOIN ({_OWN}) AS w ON w.dataset_key = s.dataset_key AND w.job_namespace = s.job_namespace
    WHERE s.dataset_key IN (SELECT o.dataset_key FROM ({_OWN}) AS o)
    GROUP BY s.dataset_key, s.value
    HAVING max(CASE WHEN w.job_namespace IS NULL AND s.job_namespace <> '' THEN 0 ELSE 1 END) = 0
"""  # noqa: S608 - our own tables


def key_list(keys: Iterable[int]) -> str:
    """Return keys as SQL lists them; no row has the key of an empty list."""
    return ", ".join(map(str, sorted(keys))) or "NULL"


def split_batches(keys: Iterable[_Item], most: int = MOST_AT_ONCE) -> Iterator[list[_Item]]:
    """Yield all items in order, in batches of limited size; yield nothing for no items."""
    left = iter(keys)
    while piece := list(islice(left, most)):
        yield piece

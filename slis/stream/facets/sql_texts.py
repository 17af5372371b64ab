"""SQL texts of runs, each distinct text once."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection

from lineage.catalog import tables
from lineage.catalog.upsert import greatest, least, upsert
from slis.stream.facts.jobs import LONGEST_TEXT, SqlText

_TOO_LONG = f"longer than {LONGEST_TEXT:,} characters"
_Row = tuple[Any, ...]


def stage_sql_texts(texts: Collection[SqlText]) -> dict[str, tuple[Sequence[str], list[_Row]]]:
    """Return rows of `staging`'s tables."""
    ran = [(run_key, one.sql_key) for one in texts for run_key in one.run_keys]
    distinct = {one.sql_key: (one.sql_key, one.dialect, one.text) for one in texts}
    return {
        "s_sql_text": (("sql_key", "dialect", "text"), list(distinct.values())),
        "s_sql_run": (("run_key", "sql_key"), ran),
    }


def merge_sql(connection: Connection, landed_at: int) -> None:
    """Store `sql_text` and `sql_run`; a text that was parsed is not asked for again."""
    given = {"landed_at": landed_at}
    upsert(
        connection,
        tables.sql_text,
        f"""
        SELECT sql_key, max(dialect) AS dialect, max(text) AS text, CAST(NULL AS TEXT) AS names,
            CASE WHEN max(text) IS NULL THEN '{_TOO_LONG}' END AS problem,
            :landed_at AS first_seen_at, :landed_at AS last_seen_at
        FROM s_sql_text GROUP BY sql_key
        """,  # noqa: S608 - words of ours
        {"first_seen_at": least, "last_seen_at": greatest},
        keeps="dialect text names problem",
        given=given,
    )
    upsert(
        connection,
        tables.sql_run,
        "SELECT DISTINCT run_key, sql_key, :landed_at AS seen_at FROM s_sql_run",
        {"seen_at": greatest},
        given=given,
    )

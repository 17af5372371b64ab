"""Sources in a run's own facets that its inputs lack: stored, since inputs may come later."""

from sqlalchemy import Connection, text

from lineage.catalog import tables
from lineage.catalog.upsert import least, upsert
from slis.indicators.accuracy.schemas import LINEAGE_FACET
from slis.stream.names.canonical import LINKS

# The dataset that another name is of, where nobody reports by that name; `{key}` is the name's.
OF_ALIAS = f"""(
    SELECT min(x.canonical_key) FROM dataset_alias a JOIN dataset x ON x.dataset_key = a.dataset_key
    WHERE a.alias_key = {{key}} AND a.rule IN {LINKS})
"""  # noqa: S608 - words of ours
# A source that the run names as an input is known, unless the run names no other input.
_IS_NEWS = """
    ({run}, u.dataset_key) NOT IN (SELECT run_key, dataset_key FROM t_io
        WHERE direction = 'read' AND run_key NOT IN (SELECT run_key FROM t_unsourced))
"""
# Many runs have the same facets: their names are looked up once, by DISTINCT.
_NAMED = """
    SELECT DISTINCT f.spelling_key, f.facets_key, f.oracle, d.dataset_key AS downstream_key,
        u.dataset_key, u.namespace, u.name
    FROM s_facet_source f JOIN s_name d ON d.spelling_key = f.spelling_key
    JOIN s_name u ON u.spelling_key = f.upstream_spelling_key
"""
_SOURCES = text(f"""
    INSERT INTO t_named_source (run_key, downstream_key, upstream_key, origin, namespace, name)
    SELECT io.run_key, u.downstream_key, u.dataset_key, u.oracle, u.namespace, u.name
    FROM ({_NAMED}) AS u
    JOIN s_run_io io ON io.spelling_key = u.spelling_key AND io.facets_key = u.facets_key
        AND io.direction = 'write'
    WHERE {_IS_NEWS.format(run="io.run_key")}
    UNION
    SELECT f.run_key, d.dataset_key, u.dataset_key, '{LINEAGE_FACET}', u.namespace, u.name
    FROM s_job_source f
    JOIN s_name d ON d.spelling_key = f.downstream_spelling_key
    JOIN s_name u ON u.spelling_key = f.upstream_spelling_key
    WHERE {_IS_NEWS.format(run="f.run_key")}
""")  # noqa: S608 - a word of ours
_UPSTREAM = f"coalesce(du.canonical_key, {OF_ALIAS.format(key='f.upstream_key')}, f.upstream_key)"
# Nearly all agree, and leave no row. A run without inputs has inferred ones.
_DISAGREES = f"""
    SELECT r.root_run_id, t.downstream_key, t.upstream_key, t.oracle,
        max(t.namespace) AS upstream_namespace, max(t.name) AS upstream_name, :landed_at AS seen_at
    FROM (
        SELECT f.run_key, f.origin AS oracle,
            coalesce(dd.canonical_key, f.downstream_key) AS downstream_key,
            {_UPSTREAM} AS upstream_key, f.namespace, f.name
        FROM t_named_source f
        LEFT JOIN dataset dd ON dd.dataset_key = f.downstream_key
        LEFT JOIN dataset du ON du.dataset_key = f.upstream_key
        WHERE NOT EXISTS (SELECT 1 FROM inferred_input n WHERE n.run_key = f.run_key)
    ) AS t JOIN t_run r ON r.run_key = t.run_key AND NOT r.is_history
    WHERE t.upstream_key <> t.downstream_key AND NOT EXISTS (
        SELECT 1 FROM t_touched i WHERE i.run_key = t.run_key AND i.direction = 'read'
            AND i.dataset_key = t.upstream_key)
    GROUP BY r.root_run_id, t.downstream_key, t.upstream_key, t.oracle
"""  # noqa: S608 - a word of ours


def collect_sources(connection: Connection) -> None:
    """Put the sources in facets of the batch's runs into `staging.named_source`."""
    connection.execute(_SOURCES)


def record_disagreements(connection: Connection, landed_at: int) -> None:
    """Store in `edge_told` sources that a facet of a run names, and its known inputs lack.

    History loads are skipped: nobody fixes a run of the past.
    """
    upsert(
        connection,
        tables.edge_reported,
        _DISAGREES,
        {"seen_at": least},
        keeps="upstream_namespace upstream_name",
        given={"landed_at": landed_at},
    )

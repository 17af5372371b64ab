"""Tables that a SQL text reads and writes, statement by statement."""

import pytest

from slis.indicators.accuracy.sql_names import UnreadableSqlError, statements


def _names_of(text, dialect="spark"):
    return [(list(one.reads), list(one.writes)) for one in statements(text, dialect)]


_OWN_VIEWS = """
    CREATE TEMP VIEW v AS SELECT * FROM a.b; CACHE TABLE w AS SELECT * FROM v;
    INSERT INTO c.t SELECT * FROM w
"""


@pytest.mark.parametrize(
    ("text", "reads", "writes"),
    [
        ("INSERT INTO core.orders SELECT * FROM raw.orders", ["raw.orders"], ["core.orders"]),
        (
            "INSERT OVERWRITE TABLE c.t SELECT * FROM a.b x JOIN (SELECT 1 FROM c.d) y",
            ["a.b", "c.d"],
            ["c.t"],
        ),
        ("INSERT INTO c.t (x, y) SELECT * FROM a.b", ["a.b"], ["c.t"]),
        ("INSERT INTO c.t SELECT * FROM c.t WHERE x", ["c.t"], ["c.t"]),
        ("CREATE TABLE `Cat`.c.T USING delta AS SELECT 1 FROM A.B", ["a.b"], ["cat.c.t"]),
        (
            "MERGE INTO c.t USING a.b s ON t.x = s.x WHEN MATCHED THEN UPDATE SET y = s.y",
            ["a.b"],
            ["c.t"],
        ),
        ("UPDATE c.t SET x = (SELECT max(y) FROM a.b)", ["a.b"], ["c.t"]),
        ("DELETE FROM c.t WHERE x IN (SELECT y FROM a.b)", ["a.b"], ["c.t"]),
        ("WITH q AS (SELECT 1 FROM a.b) SELECT * FROM q, a.q", ["a.b", "a.q"], []),
        ("SELECT * FROM a.b o, o.items", ["a.b"], []),
        ("SELECT * FROM a.b UNION ALL SELECT * FROM c.d", ["a.b", "c.d"], []),
        ("SELECT * FROM parquet.`/a/b` JOIN a.b", ["a.b"], []),
        (_OWN_VIEWS, ["a.b"], ["c.t"]),
    ],
)
def test_tables_are_distinguished_from_ctes_subqueries_columns_paths_and_own_views(
    text, reads, writes
):
    """Return names in lower case, with as many parts as written."""
    assert _names_of(text) == [(reads, writes)]


@pytest.mark.parametrize(
    "text",
    [
        *("MSCK REPAIR TABLE a.b", "CREATE TABLE x.y LIKE a.b", "CREATE TABLE x.y (a INT)"),
        *("DROP TABLE a.b", "DESCRIBE a.b", "USE a", "SELECT 1", "", "-- nothing"),
        "FROM a.b INSERT INTO c.t SELECT * INSERT INTO c.u SELECT *",
    ],
)
def test_a_statement_of_another_kind_names_no_tables(text):
    """Return no tables, as for a statement that moves no data."""
    assert _names_of(text) == []


@pytest.mark.parametrize(
    ("text", "dialect", "message"),
    [
        ("SELECT FROM WHERE 'secret'", "spark", "line 1, column"),
        ("SELECT 1", "klingon", "klingon"),
        ("SELECT 'half", "spark", "could not be parsed"),
        ("SELECT " + "(" * 5_000, "spark", "pars"),
    ],
)
def test_invalid_sql_is_reported_without_its_values(text, dialect, message):
    """Hide literals, which may be confidential."""
    with pytest.raises(UnreadableSqlError, match=message) as raised:
        statements(text, dialect)

    assert "secret" not in str(raised.value)
    assert "half" not in str(raised.value)


def test_a_text_without_a_dialect_is_read_as_plain_sql():
    """Parse plain SQL without a dialect."""
    assert _names_of("INSERT INTO c.t SELECT * FROM a.b", "") == [(["a.b"], ["c.t"])]

"""SQL, as actions read it: by the parser that is held against lineage too."""

from runbooks.actions.action import SqlTables


class SqlParser:
    """Reads SQL of any dialect that its facet names."""

    def statements(self, text: str, dialect: str) -> list[SqlTables]:
        """Return the tables that each statement reads or writes; none if it cannot be parsed."""
        # The parser takes 30 MiB and is rarely needed.
        from slis.indicators.accuracy.sql_names import UnreadableSqlError, statements  # noqa: PLC0415

        try:
            found = statements(text, dialect)
        except UnreadableSqlError:
            return []
        return [SqlTables(one.reads, one.writes) for one in found]

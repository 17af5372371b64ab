"""Staging tables in PostgreSQL: empty in each transaction of any session."""

import pytest
from sqlalchemy import text

from slis.stream.staging import staging

pytestmark = pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
_TABLE = "SELECT CAST('pg_temp.s_run' AS regclass)::oid"
_SETTING = "SELECT current_setting('random_page_cost')"


def _stage(session, *keys: int):
    """Stage runs in a transaction of their own; return the table and how many runs it had."""
    with session.begin():
        staging.create(session)
        before = session.scalar(text("SELECT count(*) FROM s_run"))
        staging.fill(session, {"s_run": (("run_key",), [(key,) for key in keys])})
        return session.scalar(text(_TABLE)), before


def test_the_tables_are_made_once_a_session_and_emptied_by_each_commit(catalog):
    """Make them once: to make and to drop them takes longer than to merge a small batch."""
    with catalog.connect() as session:
        first, *_ = _stage(session, 1, 2)
        assert session.scalar(text("SELECT count(*) FROM s_run")) == 0
        session.rollback()

        assert _stage(session, 3) == (first, 0)


def test_rows_that_the_transaction_staged_before_are_gone(catalog):
    """Empty the tables also for the second use in a transaction, as reading evidence has."""
    with catalog.connect() as session:
        _stage(session)
        staging.create(session)
        staging.fill(session, {"s_run": (("run_key",), [(1,)])})
        staging.create(session)

        assert session.scalar(text("SELECT count(*) FROM s_run")) == 0


def test_rows_of_a_transaction_that_failed_are_gone(catalog):
    """Undo them with it: only a commit empties the tables."""
    with catalog.connect() as session:
        _stage(session)
        staging.create(session)
        staging.fill(session, {"s_run": (("run_key",), [(1,)])})
        session.rollback()

        assert _stage(session)[1] == 0


def test_tables_of_another_release_in_the_session_are_replaced(catalog):
    """Make the tables again where a pooler gives this release the session of the one before."""
    with catalog.connect() as session:
        session.execute(text("CREATE TEMPORARY TABLE s_run (old BIGINT)"))
        session.commit()

        assert _stage(session, 1)[1] == 0


def test_the_settings_of_a_merge_end_with_its_transaction(catalog):
    """Leave the session to others as it was."""
    with catalog.connect() as session:
        before = session.scalar(text(_SETTING))
        staging.create(session)
        assert session.scalar(text(_SETTING)) != before
        session.commit()

        assert session.scalar(text(_SETTING)) == before

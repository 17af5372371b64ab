"""Preparations of migrations, in transactions of their own.

A migration's transaction holds its locks until the last one has run. What would take long under
them is prepared: the migration's `PREPARE` names functions, each of which takes no lock for long
and may run twice. One that returns true is called again, in another transaction.
"""

from collections.abc import Callable, Iterator
from typing import Final

from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from lineage.catalog.revision import KNOWN_REVISIONS

Work = Callable[[Connection], bool | None]
_NAME: Final = "PREPARE"


def preparations(engine: Engine, config: Config, to: str) -> Iterator[tuple[str, Work]]:
    """Return what to do before the migrations to `to`, each with the revision to do it at.

    Only PostgreSQL needs it: SQLite has one writer, who would have to wait anyway.
    """
    if engine.dialect.name != "postgresql":
        return
    with engine.connect() as connection:
        found = MigrationContext.configure(connection).get_current_revision()
    scripts = ScriptDirectory.from_config(config)
    for revision in _between(found, to):
        script = scripts.get_revision(revision)
        for work in getattr(script.module, _NAME, ()):
            yield str(script.down_revision), work


def _between(found: str | None, to: str) -> list[str]:
    last = KNOWN_REVISIONS[-1] if to == "head" else to
    return [each for each in KNOWN_REVISIONS if (found or "") < each <= last]

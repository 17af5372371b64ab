"""Alembic's entry: runs on the connection that `lineage.catalog.engine.migrate` hands in."""

from alembic import context

from lineage.catalog.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transaction_per_migration=False,
)
context.run_migrations()

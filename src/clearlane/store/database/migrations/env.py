"""alembic's entry: run the migrations on the connection that ``migrate`` opened, all in one transaction."""

from alembic import context

from clearlane.store.database.migrate import MIGRATION_LOCK, configuration

connection = context.config.attributes["connection"]
context.configure(connection=connection, **configuration())
with context.begin_transaction():
    if connection.dialect.name == "postgresql":
        # Two nodes that start together migrate once: the second waits here and finds it done.
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
    context.run_migrations()

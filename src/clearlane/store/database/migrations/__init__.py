"""The migrations of the schema, one file each, run by alembic."""

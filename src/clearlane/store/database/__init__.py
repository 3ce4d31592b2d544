"""The database itself: connections to SQLite and PostgreSQL, group commit, statements, the schema and its migrations."""

"""The database: one schema on SQLite and PostgreSQL, one module for each kind of row.

Knows SQL, encryption and files. Knows no HTTP, and of X12 only the lists of codes; what a row means is decided in lower packages.
"""

"""Connections to payers. Knows bytes, names and addresses; no claim, no database, no settings."""

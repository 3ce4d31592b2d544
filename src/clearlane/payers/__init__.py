"""Payers and the routes to them. Knows no HTTP, no database and no X12."""

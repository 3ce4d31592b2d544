"""Pages about claims: lists and worklists, one claim, corrections, and search."""

"""The installation as a whole: nodes, counts, backups, idempotent answers, and the state of a sandbox."""

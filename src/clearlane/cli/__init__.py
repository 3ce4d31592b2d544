"""The ``clearlane`` command: one table of commands, each loaded only when it is called.

Each command works on one thing: the service through the client library, the database, or a file.
"""

from clearlane.cli.command.root import main

__all__ = ["main"]

"""The ``clearlane`` command: one table of commands, each loaded only when it is called.

Each command goes through one door: the client, the store, or a file.
"""

from clearlane.cli.root import main

__all__ = ["main"]

"""The ``clearlane`` command: one table of commands, each loaded only when it is called.

Each command works on one thing: the service through the client library, the database, or a file.
"""


def main() -> None:
    """Run a command. The table of commands is loaded now: programs of this package that are no commands need none."""
    from clearlane.cli.command.root import main as run

    run()

"""The ``clearlane`` command: one table of commands, each loaded only when it is called.

Each command works on one thing: the service through the client library, the database, or a file.
"""


def main() -> None:
    """Run a command."""
    # Here, so that whoever imports one module of the package does not load the table of all commands.
    from clearlane.cli.command.root import main as run

    run()

"""``python -m clearlane`` is the ``clearlane`` command."""

from clearlane.cli.command.root import main

main()

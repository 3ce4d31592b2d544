"""``python -m clearlane.cli`` is the ``clearlane`` command."""

from clearlane.cli.root import main

main()

"""``python -m clearlane`` is the ``clearlane`` command."""

from clearlane.cli.root import main

main()

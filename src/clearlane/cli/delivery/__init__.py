"""``clearlane batch``, ``inbox`` and ``export-undelivered``: files to and from payers."""

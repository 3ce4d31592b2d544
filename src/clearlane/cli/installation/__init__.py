"""``clearlane serve``, ``worker`` and the commands on an installation: keys, backups, audit, settings, sandbox."""
